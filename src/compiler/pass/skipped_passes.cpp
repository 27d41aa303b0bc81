#include "compiler/pass/skipped_passes.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

namespace sb::pass {

using namespace llvm;

namespace {

constexpr unsigned most_instructions = 1500;  // of a function whose loops are looked through
constexpr StringLiteral forwarding = "LoopLoadEliminationPass";

const Function* function_of(const Any& unit) {
  if (auto* function = any_cast<const Function*>(&unit)) {
    return *function;
  }
  auto* loop = any_cast<const Loop*>(&unit);
  return loop ? (*loop)->getHeader()->getParent() : nullptr;
}

bool is_worth_it(StringRef pass, const Function& function) {
  return pass != forwarding || function.getInstructionCount() <= most_instructions;
}

}  // namespace

void skip_passes(PassInstrumentationCallbacks& callbacks) {
  callbacks.registerShouldRunOptionalPassCallback([](StringRef pass, Any unit) {
    const Function* function = function_of(unit);
    return !function || is_worth_it(pass, *function);
  });
}

}  // namespace sb::pass
