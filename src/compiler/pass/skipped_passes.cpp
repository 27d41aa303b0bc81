#include "compiler/pass/skipped_passes.hpp"

#include <llvm/ADT/StringSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

#include "compiler/pass/counted_version.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr unsigned most_instructions = 1500;  // of a function whose loops are looked through
constexpr StringLiteral forwarding = "LoopLoadEliminationPass";

bool makes_vectors(StringRef pass) {
  static const StringSet<> names = {"LoopDistributePass", "LoopVectorizePass", forwarding,
                                    "SLPVectorizerPass", "VectorCombinePass"};
  return names.contains(pass);
}

const Function* function_of(const Any& unit) {
  if (auto* function = any_cast<const Function*>(&unit)) {
    return *function;
  }
  auto* loop = any_cast<const Loop*>(&unit);
  return loop ? (*loop)->getHeader()->getParent() : nullptr;
}

bool is_worth_it(StringRef pass, const Function& function) {
  // They are asked for small code when their counters are in (count_insertion.cpp).
  if (is_counted(function) && function.hasMinSize()) {
    return !makes_vectors(pass);
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
