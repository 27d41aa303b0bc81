// Blocks whose rows break warps (16x16, 24x4, ...): a kernel with warp operations once more, for
// warps that go on from the end of a row to the next.
//
//   int t = threadIdx.y * blockDim.x + threadIdx.x, lane = t % 32;
//   for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
//
// A warp's function is given the linear index of its first lane, and x, y and z of a lane are
// computed from that. Nothing but t / 32 and the like is the same for all lanes then; so t is
// looked for in the code.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

enum class linear_blocks { of_one_layer, all };

// Whether the body knows y and not z, and so takes y to be the row: for blocks of one layer it is
// worth a version of its own.
bool takes_rows(const kernel& kernel);
// Makes the body of a thread one for such warps.
void make_warps_linear(const kernel& kernel, linear_blocks serves);
// Whether the function is such a body, or was made of one.
bool has_linear_warps(const llvm::Function& function);
// Whether it is for blocks of one layer only.
bool is_for_one_layer(const llvm::Function& function);
// And whether it is for blocks that the kernel is not written for: several rows where it only knows
// x, several layers where it does not know z. It is to be small rather than quick.
bool is_seldom_run(const llvm::Function& function);

// A copy of a warp's function whose loops over lanes stay as they are. The last warp of a block is
// not worth the time that it takes to make vectors for any number of lanes.
llvm::Function* without_vectors(llvm::Function& warp);

struct thread_place {
  llvm::Value* axis[3];
};
// Where the thread with the linear index is in its block. Made of what vectors can do.
thread_place place_of(llvm::IRBuilder<>& builder, llvm::Value* linear);

}  // namespace sb::pass
