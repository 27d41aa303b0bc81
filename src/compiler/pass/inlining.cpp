#include "compiler/pass/inlining.hpp"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Analysis/InlineCost.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// Instructions; past these a call costs nothing that matters and the code would only grow.
constexpr unsigned largest_callee = 8000;
constexpr unsigned largest_caller = 60000;

bool calls_itself(const Function& function) {
  for (const Instruction& inst : instructions(function)) {
    auto* call = dyn_cast<CallBase>(&inst);
    if (call && call->getCalledFunction() == &function) {
      return true;
    }
  }
  return false;
}

// Whether threads meet in it, at barriers or warp operations. No loop over the threads of a block
// can call it then, whatever the program says about inlining.
bool has_meetings(Function& function) {
  return any_of(instructions(function), [](const Instruction& inst) {
    auto* call = dyn_cast<CallBase>(&inst);
    auto which = call ? called_slot(*call) : std::nullopt;
    return which && is_convergent(*which);
  });
}

bool may_inline(const CallBase& call, const DenseSet<Function*>& recursive) {
  Function& callee = *call.getCalledFunction();
  if (callee.isDeclaration() || callee.isVarArg() || recursive.contains(&callee) ||
      !isInlineViable(callee).isSuccess()) {
    return false;
  }
  return has_meetings(callee) ||
         (!call.isNoInline() && (callee.hasFnAttribute(Attribute::AlwaysInline) ||
                                 callee.getInstructionCount() <= largest_callee));
}

void inline_calls(Function& caller, const DenseSet<Function*>& recursive) {
  SmallVector<CallBase*, 16> calls;
  for (Instruction& inst : instructions(caller)) {
    auto* call = dyn_cast<CallBase>(&inst);
    if (call && call->getCalledFunction() && call->getCalledFunction() != &caller) {
      calls.push_back(call);
    }
  }
  unsigned size = caller.getInstructionCount();
  for (CallBase* call : calls) {
    Function& callee = *call->getCalledFunction();
    if (!may_inline(*call, recursive)) {
      continue;
    }
    unsigned added = callee.getInstructionCount();
    if (size + added > largest_caller && !callee.hasFnAttribute(Attribute::AlwaysInline)) {
      continue;
    }
    InlineFunctionInfo info;
    if (InlineFunction(*call, info).isSuccess()) {
      size += added;
    }
  }
}

}  // namespace

void inline_device_functions(Module& module) {
  // Callees come before their callers, so each function is flat when it is inlined.
  std::vector<Function*> order;
  DenseSet<Function*> recursive;
  CallGraph graph(module);
  for (auto component = scc_begin(&graph); !component.isAtEnd(); ++component) {
    for (CallGraphNode* node : *component) {
      Function* function = node->getFunction();
      if (!function || function->isDeclaration()) {
        continue;
      }
      order.push_back(function);
      if (component->size() > 1 || calls_itself(*function)) {
        recursive.insert(function);
      }
    }
  }
  for (Function* function : order) {
    inline_calls(*function, recursive);
  }
}

}  // namespace sb::pass
