#include "compiler/pass/written_out.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "compiler/pass/constant_masks.hpp"
#include "compiler/pass/kept_memory.hpp"
#include "compiler/pass/thread_marks.hpp"
#include "compiler/pass/usual_blocks.hpp"
#include "compiler/pass/writing_ahead.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr StringLiteral unroll_full = "llvm.loop.unroll.full";
constexpr StringLiteral unroll_disable = "llvm.loop.unroll.disable";
constexpr unsigned most_rounds = 16;
constexpr std::uint64_t most_instructions = 30000;
constexpr unsigned lanes_of_vector = 4;

enum class threads { not_yet_vectors, vectors };

// An upper bound of the instructions that the loop becomes; nothing if it ends by other than a
// count.
std::optional<std::uint64_t> written_size(const Loop& loop, ScalarEvolution& evolution,
                                          threads state) {
  unsigned rounds = evolution.getSmallConstantTripCount(&loop);
  if (rounds == 0 || !loop.isLoopSimplifyForm()) {
    return std::nullopt;
  }
  // The lanes of a warp will be vectors, without a rest.
  if (state == threads::not_yet_vectors && is_lane_loop(loop) && rounds > lanes_of_vector) {
    rounds /= lanes_of_vector;
  }
  std::uint64_t size = 0;
  for (const BasicBlock* block : loop.blocks()) {
    size += block->sizeWithoutDebug();
  }
  for (const Loop* inner : loop.getSubLoops()) {
    auto more = written_size(*inner, evolution, state);
    if (!more) {
      return std::nullopt;
    }
    size += *more;
  }
  return size * rounds;
}

void tell(Loop& loop, StringRef what) {
  LLVMContext& context = loop.getHeader()->getContext();
  MDNode* id = makePostTransformationMetadata(context, loop.getLoopID(), {"llvm.loop.unroll."},
                                              {MDNode::get(context, MDString::get(context, what))});
  loop.setLoopID(id);
}

void unroll(Function& function, FunctionAnalysisManager& analyses) {
  FunctionPassManager passes;
  passes.addPass(LoopSimplifyPass());
  passes.addPass(LCSSAPass());
  passes.addPass(LoopUnrollPass(LoopUnrollOptions(2, true)));
  passes.addPass(SimplifyCFGPass());
  passes.addPass(InstCombinePass());
  passes.addPass(EarlyCSEPass());
  passes.addPass(SimplifyCFGPass());
  analyses.invalidate(function, PreservedAnalyses::none());
  passes.run(function, analyses);
  analyses.invalidate(function, PreservedAnalyses::none());
}

void simplify_loops(Function& function, FunctionAnalysisManager& analyses) {
  FunctionPassManager passes;
  passes.addPass(LoopSimplifyPass());
  passes.addPass(LCSSAPass());
  analyses.invalidate(function, PreservedAnalyses::none());
  passes.run(function, analyses);
  analyses.invalidate(function, PreservedAnalyses::none());
}

// Loads and stores of the memory, and nothing that could make its address known elsewhere.
bool collect_accesses(Value& pointer, SmallPtrSetImpl<Instruction*>& accesses) {
  return all_of(pointer.uses(), [&](Use& use) {
    auto* user = cast<Instruction>(use.getUser());
    if (isa<GetElementPtrInst>(user)) {
      return collect_accesses(*user, accesses);
    }
    if (user->isLifetimeStartOrEnd()) {
      return true;
    }
    auto* store = dyn_cast<StoreInst>(user);
    accesses.insert(user);
    return isa<LoadInst>(user) ||
           (store && use.getOperandNo() == StoreInst::getPointerOperandIndex());
  });
}

// What the lanes of a warp leave for each other is reached by nothing else. LLVM finds that out by
// itself, but not for memory that is used in more than a hundred places, as it will be.
void tell_own_memory_apart(Function& function) {
  SmallPtrSet<Instruction*, 32> own;
  for (Instruction& inst : function.getEntryBlock()) {
    SmallPtrSet<Instruction*, 32> accesses;
    if (isa<AllocaInst>(inst) && collect_accesses(inst, accesses)) {
      own.insert(accesses.begin(), accesses.end());
    }
  }
  LLVMContext& context = function.getContext();
  MDBuilder metadata(context);
  MDNode* domain = metadata.createAnonymousAliasScopeDomain("streambed");
  MDNode* scope = MDNode::get(context, metadata.createAnonymousAliasScope(domain, "own"));
  for (Instruction& inst : instructions(function)) {
    if (isa<LoadInst, StoreInst>(inst)) {
      unsigned kind = own.contains(&inst) ? LLVMContext::MD_alias_scope : LLVMContext::MD_noalias;
      inst.setMetadata(kind, MDNode::concatenate(inst.getMetadata(kind), scope));
    }
  }
}

// extend(x + 3) is extend(x) + 3 where x ends with so many zeros that the sum cannot carry: the
// threads of a block share one extension.
void extend_once(Function& function) {
  const DataLayout& layout = function.getParent()->getDataLayout();
  for (Instruction& inst : make_early_inc_range(instructions(function))) {
    Value* start = nullptr;
    const APInt* number = nullptr;
    if (!isa<SExtInst, ZExtInst>(inst) ||
        !match(inst.getOperand(0), m_CombineOr(m_Add(m_Value(start), m_APInt(number)),
                                               m_DisjointOr(m_Value(start), m_APInt(number)))) ||
        number->getActiveBits() > computeKnownBits(start, layout).countMinTrailingZeros()) {
      continue;
    }
    IRBuilder<> builder(&inst);
    Type* type = inst.getType();
    Value* wide = builder.CreateCast(cast<CastInst>(inst).getOpcode(), start, type);
    Value* more = ConstantInt::get(type, number->getZExtValue());
    for (User* user : make_early_inc_range(inst.users())) {
      auto* address = dyn_cast<GetElementPtrInst>(user);
      if (address && address->getNumIndices() == 1) {
        builder.SetInsertPoint(address);
        Type* element = address->getSourceElementType();
        Value* first = builder.CreateGEP(element, address->getPointerOperand(), wide);
        address->replaceAllUsesWith(builder.CreateGEP(element, first, more));
      }
    }
  }
}

// No loop is left but the one over a row of blocks, nothing in it but what happens to one.
bool write_out(Function& function, FunctionAnalysisManager& analyses) {
  simplify_loops(function, analyses);
  {
    auto& loops = analyses.getResult<LoopAnalysis>(function);
    auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
    std::uint64_t size = 0;
    for (Loop* loop : loops.getLoopsInPreorder()) {
      if (auto written = written_size(*loop, evolution, threads::vectors)) {
        size += *written;
        tell(*loop, unroll_full);
      }
    }
    if (size > most_instructions) {
      return false;
    }
  }
  unroll(function, analyses);
  drop_constant_masks(function);
  Argument* shared = shared_memory_of(function);
  kept_memory kept = shared ? keep_in_values(*shared, shared_bytes_of(function)) : kept_memory{};
  BasicBlock* where = kept.block;
  if (!where) {
    return false;
  }
  need_shared_bytes(function, kept.end);
  const DataLayout& layout = function.getParent()->getDataLayout();
  for (Instruction& inst : make_early_inc_range(function.getEntryBlock())) {
    auto* own = dyn_cast<AllocaInst>(&inst);
    auto bytes = own ? own->getAllocationSize(layout) : std::nullopt;
    if (bytes) {
      keep_in_values(*own, bytes->getFixedValue());
    }
  }
  for (Instruction& inst : make_early_inc_range(*where)) {
    if (isa<NoAliasScopeDeclInst>(inst)) {
      inst.eraseFromParent();
    }
  }
  FunctionPassManager passes;
  passes.addPass(InstCombinePass());
  passes.addPass(EarlyCSEPass());
  analyses.invalidate(function, PreservedAnalyses::none());
  passes.run(function, analyses);
  // LLVM would rather compute in 32 bits, so this comes last.
  extend_once(function);
  FunctionPassManager cleanup;
  cleanup.addPass(EarlyCSEPass());
  cleanup.addPass(DCEPass());
  analyses.invalidate(function, PreservedAnalyses::none());
  cleanup.run(function, analyses);
  analyses.invalidate(function, PreservedAnalyses::none());
  compute_when_needed(*where);
  if (is_contained(successors(where), where)) {
    write_ahead(*where);
  }
  return true;
}

}  // namespace

PreservedAnalyses write_out_rounds::run(Function& function, FunctionAnalysisManager& analyses) {
  if (!is_usual_version(function)) {
    return PreservedAnalyses::all();
  }
  tell_own_memory_apart(function);
  auto& loops = analyses.getResult<LoopAnalysis>(function);
  auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  for (Loop* loop : loops.getLoopsInPreorder()) {
    auto size = written_size(*loop, evolution, threads::not_yet_vectors);
    unsigned rounds = evolution.getSmallConstantTripCount(loop);
    bool is_round =
        !loop->isInnermost() && size && *size <= most_instructions && rounds <= most_rounds;
    tell(*loop, is_round ? unroll_full : unroll_disable);
  }
  unroll(function, analyses);
  simplify_loops(function, analyses);
  return PreservedAnalyses::none();
}

PreservedAnalyses write_out_blocks::run(Module& module, ModuleAnalysisManager& analyses) {
  auto& functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  bool changed = false;
  for (Function& function : make_early_inc_range(module)) {
    if (!is_usual_version(function) || function.isDeclaration()) {
      continue;
    }
    changed = true;
    if (!optimizes_ || !write_out(function, functions)) {
      functions.clear(function, function.getName());
      drop_usual_version(function);
    }
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

}  // namespace sb::pass
