#include "compiler/pass/canonicalize.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/JumpThreading.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/FixIrreducible.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>

#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/shifts.hpp"
#include "compiler/pass/thread_numbers.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

bool is_context_builtin(const Function& function) {
  return function.isDeclaration() && function.getName().starts_with("__sb_") &&
         !function.getName().starts_with(runtime_prefix) && function.arg_empty();
}

// A loop without an exit is an endless one: LLVM may not take it for a place that nobody comes to.
void keep_endless_loops(Function& function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->hasNoExitBlocks() && loop->getLoopID()) {
      loop->setLoopID(makePostTransformationMetadata(function.getContext(), loop->getLoopID(),
                                                     {"llvm.loop.mustprogress"}, {}));
    }
  }
}

}  // namespace

void prepare_functions(Module& module) {
  SmallPtrSet<Function*, 8> convergent;
  for (Function& function : module) {
    if (function.hasFnAttribute(Attribute::OptimizeNone)) {
      // -O0 puts noinline everywhere; only at other levels is it the user's own word.
      function.removeFnAttr(Attribute::OptimizeNone);
      if (!is_texture_instruction(function)) {
        function.removeFnAttr(Attribute::NoInline);
      }
    }
    // A spinning kernel never "must progress" in C++'s sense.
    function.removeFnAttr(Attribute::MustProgress);
    if (!function.isIntrinsic()) {
      function.removeFnAttr(Attribute::Convergent);
    }
    if (is_context_builtin(function)) {
      mark_context_builtin(function);
    }
    if (!function.isDeclaration()) {
      keep_endless_loops(function);
    }
    for (Instruction& inst : instructions(function)) {
      auto* call = dyn_cast<CallBase>(&inst);
      if (!call) {
        continue;
      }
      mark_texture_bytes(*call);
      auto which = called_slot(*call);
      if (which && is_convergent(*which)) {
        call->addFnAttr(Attribute::Convergent);
        convergent.insert(call->getCalledFunction());
      } else {
        call->removeFnAttr(Attribute::Convergent);
      }
    }
  }
  // LLVM believes the function that is called, not the call: it would divide the latter between the
  // branches before and behind it.
  for (Function* function : convergent) {
    function->addFnAttr(Attribute::Convergent);
  }
}

namespace {

// clang leaves a scope by a switch over where to go.
bool switches_over_ways(const Function& function) {
  return any_of(function, [](const BasicBlock& block) {
    auto* choice = dyn_cast<SwitchInst>(block.getTerminator());
    return choice && isa<PHINode>(choice->getCondition());
  });
}

// `int t = threadIdx.y * blockDim.x + threadIdx.x; if (t / 32 == 0)`: a number without sign, and a
// shift. With one, LLVM makes `t + 31 < 63` of it, which does not tell any more that the lanes of a
// warp are of one mind.
class divide_thread_numbers : public PassInfoMixin<divide_thread_numbers> {
 public:
  PreservedAnalyses run(Function& function, FunctionAnalysisManager&) {
    bool changed = false;
    for (Instruction& inst : make_early_inc_range(instructions(function))) {
      bool is_quotient = inst.getOpcode() == Instruction::SDiv;
      auto* divisor = is_quotient || inst.getOpcode() == Instruction::SRem
                          ? dyn_cast<ConstantInt>(inst.getOperand(1))
                          : nullptr;
      if (!divisor || !divisor->getValue().isStrictlyPositive() || !most_of(inst.getOperand(0))) {
        continue;
      }
      auto* plain = BinaryOperator::Create(is_quotient ? Instruction::UDiv : Instruction::URem,
                                           inst.getOperand(0), divisor, "", inst.getIterator());
      plain->setDebugLoc(inst.getDebugLoc());
      inst.replaceAllUsesWith(plain);
      inst.eraseFromParent();
      changed = true;
    }
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
};

// Jump threading only where it is wanted: it may lead threads around the place where they come
// together again, and a barrier behind that place is then one at which they part.
class thread_switches : public PassInfoMixin<thread_switches> {
 public:
  PreservedAnalyses run(Function& function, FunctionAnalysisManager& analyses) {
    bool meets = any_of(instructions(function), [](const Instruction& inst) {
      auto* call = dyn_cast<CallBase>(&inst);
      return call && call->isConvergent();
    });
    return meets && !switches_over_ways(function) ? PreservedAnalyses::all()
                                                  : JumpThreadingPass().run(function, analyses);
  }
};

// A loop that is entered at two places (goto, Duff's device) is none to LLVM, and nobody would see
// that threads wait in it. It gets one entry, which leads to where it is meant.
class give_loops_one_entry : public PassInfoMixin<give_loops_one_entry> {
 public:
  PreservedAnalyses run(Function& function, FunctionAnalysisManager& analyses) {
    ReversePostOrderTraversal<Function*> order(&function);
    if (!containsIrreducibleCFG<BasicBlock*>(order, analyses.getResult<LoopAnalysis>(function))) {
      return PreservedAnalyses::all();
    }
    FunctionPassManager passes;
    passes.addPass(LowerSwitchPass());
    passes.addPass(FixIrreduciblePass());
    passes.addPass(LoopSimplifyPass());
    passes.addPass(LCSSAPass());
    return passes.run(function, analyses);
  }
};

}  // namespace

void canonicalize(Module& module, FunctionAnalysisManager& analyses) {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass());
  passes.addPass(find_rotations());
  passes.addPass(divide_thread_numbers());
  passes.addPass(SimplifyCFGPass());
  passes.addPass(InstCombinePass());
  // Threaded, `break` is a plain exit again.
  passes.addPass(thread_switches());
  passes.addPass(SimplifyCFGPass());
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(LoopSimplifyPass());
  passes.addPass(LCSSAPass());
  passes.addPass(createFunctionToLoopPassAdaptor(LoopRotatePass()));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  passes.addPass(LoopSimplifyPass());
  passes.addPass(LCSSAPass());
  passes.addPass(give_loops_one_entry());
  for (Function& function : module) {
    if (!function.isDeclaration()) {
      analyses.invalidate(function, PreservedAnalyses::none());
      analyses.invalidate(function, passes.run(function, analyses));
    }
  }
}

}  // namespace sb::pass
