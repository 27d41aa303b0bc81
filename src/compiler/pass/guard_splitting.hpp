// `if (i < n)` in a loop over threads: the loop is cut where the condition changes.
//
// Processors without masked memory operations cannot run a loop with such a guard as vectors. Its
// condition is true for one stretch of the threads: what lies before, inside and behind becomes a
// loop each, in which it is known. Where the index might wrap the last of the three keeps the
// condition and takes all threads.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instruction.h>
#include <llvm/IR/PassManager.h>

namespace sb::pass {

// Marks the loop that ends with this branch as one over threads: of a block, of a row of blocks, or
// of a warp. LLVM would write the latter out thread by thread before it makes vectors.
enum class thread_loop { of_block, of_row, of_warp };
void mark_thread_loop(llvm::Instruction& branch, thread_loop kind);
bool ends_block_loop(const llvm::Instruction& branch);
bool is_thread_loop(const llvm::Loop& loop);
bool is_row_loop(const llvm::Loop& loop);

class split_guards : public llvm::PassInfoMixin<split_guards> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sb::pass
