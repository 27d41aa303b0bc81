#include "compiler/pass/skipped_passes.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

#include "compiler/pass/usual_blocks.hpp"

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
  // Blocks of other shapes than the usual one are seldom: what is small compiles sooner. Of a
  // version for the usual width nothing is left in memory in the end (written_out.hpp).
  if (has_usual_version(function) || is_usual_version(function)) {
    bool unrolls = pass == "LoopUnrollPass" && !is_usual_version(function);
    return !unrolls && pass != "SLPVectorizerPass" && pass != forwarding;
  }
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
