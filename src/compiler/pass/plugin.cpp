// The plugin that clang loads (-fpass-plugin) when it compiles device code.
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include "compiler/pass/count_insertion.hpp"
#include "compiler/pass/endless_loops.hpp"
#include "compiler/pass/maths.hpp"
#include "compiler/pass/pipeline.hpp"
#include "compiler/pass/skipped_passes.hpp"
#include "compiler/pass/sum_loops.hpp"
#include "compiler/pass/written_out.hpp"

namespace {

void register_passes(llvm::PassBuilder& builder) {
  if (auto* callbacks = builder.getPassInstrumentationCallbacks()) {
    sb::pass::skip_passes(*callbacks);
  }
  // At the very start: parameters are found through debug info that later passes rewrite.
  builder.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
        passes.addPass(sb::pass::lower_kernels());
      });
  // Between the simplification of loops and the vectoriser.
  builder.registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
        sb::pass::add_loop_passes(passes);
      });
  // Behind the simplification of functions, before loops become vectors.
  builder.registerOptimizerEarlyEPCallback(
      [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
        passes.addPass(sb::pass::insert_counters());
        passes.addPass(sb::pass::expand_maths());
      });
  builder.registerOptimizerLastEPCallback(
      [](llvm::ModulePassManager& passes, llvm::OptimizationLevel level) {
        passes.addPass(sb::pass::finish_maths());
        passes.addPass(sb::pass::write_out_blocks(level != llvm::OptimizationLevel::O0));
        passes.addPass(llvm::createModuleToFunctionPassAdaptor(sb::pass::read_sums_ahead()));
        passes.addPass(llvm::createModuleToFunctionPassAdaptor(sb::pass::stay_in_endless_loops()));
      });
  // For opt, in tests.
  builder.registerPipelineParsingCallback([](llvm::StringRef name, llvm::ModulePassManager& passes,
                                             llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
    if (name != "streambed") {
      return false;
    }
    passes.addPass(sb::pass::lower_kernels());
    return true;
  });
}

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "streambed", "1", register_passes};
}
