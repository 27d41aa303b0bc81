// Loops that end at a constant, without which the loops over threads become vectors:
//
//   for (int k = 0; k < 32; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
//
// LLVM writes out what it finds short, and it does not know what depends on that here. So those
// that threads go through side by side are marked to be written out, up to a size. Those within a
// longer loop are written out at once: then that one may go round by round (even_loops.hpp). So are
// those that count through a thread's own array, whose elements are values then.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/PassManager.h>

namespace sb::pass {

void write_out_short_loops(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);

// Whether LLVM will do it: it is marked, or the program asks for it.
bool will_be_written_out(const llvm::Loop& loop, llvm::ScalarEvolution& evolution);

}  // namespace sb::pass
