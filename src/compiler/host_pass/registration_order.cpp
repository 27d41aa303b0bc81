// The plugin that clang loads (-fpass-plugin) when it compiles the host's half of a .cu.
//
// CUDA: static constructors may launch the kernels of their own file. clang registers the device
// image behind them, at their priority; the plugin gives the registration the first priority that a
// program can ask for. (A device link registers with that priority, too: nvcc/link.cpp.)
#include "call_places.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include "compiler/pass/wrapped_places.hpp"

namespace {

using namespace llvm;

constexpr StringLiteral registration = "__cuda_module_ctor";
constexpr unsigned first_priority = 101;

struct register_first : PassInfoMixin<register_first> {
  static bool isRequired() { return true; }

  PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
    GlobalVariable* list = module.getGlobalVariable("llvm.global_ctors");
    auto* entries =
        list && list->hasInitializer() ? dyn_cast<ConstantArray>(list->getInitializer()) : nullptr;
    if (!entries) {
      return PreservedAnalyses::all();
    }
    // An entry is its priority, the function, and the data that it belongs to.
    SmallVector<Constant*, 8> changed;
    for (Use& each : entries->operands()) {
      auto* entry = cast<ConstantStruct>(each.get());
      if (entry->getOperand(1)->stripPointerCasts()->getName() != registration) {
        changed.push_back(entry);
        continue;
      }
      auto* priority = ConstantInt::get(entry->getOperand(0)->getType(), first_priority);
      changed.push_back(ConstantStruct::get(
          entry->getType(), {priority, entry->getOperand(1), entry->getOperand(2)}));
    }
    list->setInitializer(ConstantArray::get(entries->getType(), changed));
    return PreservedAnalyses::none();
  }
};

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "streambed-host", "1", [](llvm::PassBuilder& builder) {
            builder.registerPipelineStartEPCallback(
                [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
                  passes.addPass(register_first());
                });
            builder.registerVectorizerStartEPCallback(
                [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
                  passes.addPass(sb::pass::hide_wrapped_places());
                });
            builder.registerOptimizerLastEPCallback(
                [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
                  passes.addPass(sb::host_pass::call_places());
                });
          }};
}
