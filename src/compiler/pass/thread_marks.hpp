// Which loops are over threads.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instruction.h>

namespace sb::pass {

// Marks the loop that ends with this branch as one over threads: of a block, of a row of blocks, or
// of a warp. LLVM would write the latter out thread by thread before it makes vectors.
enum class thread_loop { of_block, of_row, of_warp };
void mark_thread_loop(llvm::Instruction& branch, thread_loop kind);
bool ends_block_loop(const llvm::Instruction& branch);
bool is_thread_loop(const llvm::Loop& loop);
bool is_row_loop(const llvm::Loop& loop);
bool is_lane_loop(const llvm::Loop& loop);
// A loop over 32 lanes is kept as it is for vectors to be made of it. Of these LLVM may make what
// it likes.
void let_lane_loops_go(llvm::LoopInfo& loops);

// A branch on whether a warp has all of its 32 lanes: to its first successor in blocks of whole
// warps.
void mark_whole_warp(llvm::Instruction& branch);
bool asks_for_whole_warp(const llvm::Instruction& branch);

}  // namespace sb::pass
