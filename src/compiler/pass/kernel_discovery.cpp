#include "compiler/pass/kernel_discovery.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>

#include "compiler/pass/managed_variables.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

StringRef string_of(Constant* pointer) {
  auto* global = dyn_cast<GlobalVariable>(pointer->stripPointerCasts());
  if (!global || !global->hasInitializer()) {
    return {};
  }
  auto* data = dyn_cast<ConstantDataSequential>(global->getInitializer());
  return data && data->isCString() ? data->getAsCString() : StringRef();
}

// annotate("...", 256, 2) leaves its arguments in a constant struct.
std::vector<std::uint64_t> arguments_of(Constant* pointer) {
  std::vector<std::uint64_t> values;
  auto* global = dyn_cast<GlobalVariable>(pointer->stripPointerCasts());
  if (!global || !global->hasInitializer()) {
    return values;
  }
  Constant* all = global->getInitializer();
  for (unsigned i = 0; Constant* element = all->getAggregateElement(i); ++i) {
    if (auto* number = dyn_cast<ConstantInt>(element)) {
      values.push_back(number->getZExtValue());
    }
  }
  return values;
}

}  // namespace

std::vector<kernel> discover_kernels(Module& module) {
  std::vector<kernel> found;
  auto* annotations = module.getGlobalVariable("llvm.global.annotations");
  if (!annotations || !annotations->hasInitializer()) {
    return found;
  }
  // A function is annotated once per declaration: every kernel once, in the order of the module.
  SetVector<Function*> kernels;
  DenseMap<Function*, std::vector<std::uint64_t>> bounds;
  auto* entries = dyn_cast<ConstantArray>(annotations->getInitializer());
  for (unsigned i = 0; entries && i < entries->getNumOperands(); ++i) {
    auto* entry = cast<ConstantStruct>(entries->getOperand(i));
    auto* target = entry->getOperand(0)->stripPointerCasts();
    StringRef text = string_of(entry->getOperand(1));
    if (auto* function = dyn_cast<Function>(target)) {
      if (text == "streambed.kernel" && !function->isDeclaration()) {
        kernels.insert(function);
      } else if (text == "streambed.launch_bounds") {
        bounds[function] = arguments_of(entry->getOperand(4));
      }
    } else if (auto* variable = dyn_cast<GlobalVariable>(target)) {
      if (text == "streambed.managed") {
        mark_managed(*variable);
      }
    }
  }
  annotations->eraseFromParent();

  for (Function* function : kernels) {
    kernel one;
    one.symbol = function->getName().str();
    one.name = demangle(one.symbol);
    one.source = function;
    if (auto bound = bounds.find(function); bound != bounds.end()) {
      if (!bound->second.empty() && bound->second[0] != 0) {
        one.max_threads = static_cast<unsigned>(bound->second[0]);
      }
      if (bound->second.size() > 1) {
        one.min_blocks = static_cast<unsigned>(bound->second[1]);
      }
    }
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace sb::pass
