// Two or four vectors side by side in loops that become vectors.
//
// LLVM's cost model lets a loop of more than a few instructions go one vector at a time. A kernel's
// loop over threads is mostly one long chain (loads, arithmetic, a store) without anything carried
// from one thread to the next: a second chain beside it finds the processor's units idle.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

// Of a loop over a row of threads whose length is known: as many vectors side by side as make it
// up, so that the row is no loop any more.
inline constexpr llvm::StringLiteral row_loop_mark = "sb.loop.row";

class interleave_loops : public llvm::PassInfoMixin<interleave_loops> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sb::pass
