// A kernel whose threads meet, once more for blocks of the width that it is written for.
//
//   __shared__ int part[2][256];
//   for (int distance = 1; distance < 256; distance *= 2) { ... __syncthreads(); }
//
// Its loops over threads end at constants there, and its shared memory is known to be reached by
// nothing else. So the rounds can be written out, and what they leave in shared memory for each
// other can stay in registers (written_out.hpp). Where that comes to nothing the version is
// dropped again.
//
//   extern __shared__ float part[];
//
// Where the launch says how much there is, most launches have blocks of 256; 512 and 128 come next,
// if the file has few such kernels. How much of it a version needs is known at its end, and
// the entry asks whether the launch gave that.
//
//   __shared__ float left[16][16], right[16][17];
//
// The same for blocks with as many rows and columns as a shared tile: each row of threads is a few
// vectors there, and two rows share what they both load (row_groups.hpp).
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

// The shape that the body of a thread is written for; its width is 0 if there is none.
usual_block find_usual_block(const kernel& kernel);
// For how many widths each kernel has a version if it is guessed; of all kernels of a file.
unsigned guesses_for(llvm::ArrayRef<kernel> kernels);

// Makes the versions of a block function, and an entry that chooses. The context is lowered.
void add_usual_version(kernel& kernel);
// Of the block function as it was: it is for blocks of other shapes than the tile's.
bool has_usual_version(const llvm::Function& whole);
bool is_usual_version(const llvm::Function& function);
// Where it finds the block's shared memory, null if it needs none, and how much there is.
llvm::Argument* shared_memory_of(llvm::Function& usual);
std::uint64_t shared_bytes_of(const llvm::Function& usual);
// How much of it the version really reaches: launches that give a block less are left to the other.
void need_shared_bytes(llvm::Function& usual, std::uint64_t bytes);
// Nobody chooses it any more.
void drop_usual_version(llvm::Function& usual);

}  // namespace sb::pass
