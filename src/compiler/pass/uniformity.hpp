// What is the same for all threads of a block: values, and the ways they take.
//
// Values are the same that come from arguments, the block's place and size, and constants; also
// loads of one address by all threads between the same two barriers: another thread that wrote
// there in the meantime would be a data race. Volatile and atomic accesses are each thread's own.
//
// For the threads of a warp the same, and more: warps are taken to lie in one row of the block (its
// width is a multiple of 32, or it has one row only), so y, z and x / 32 are the same for all; or,
// in functions for other blocks (linear_warps.hpp), only the linear index / 32 is. In functions for
// blocks of whole warps (aligned_warps.hpp) so is what counts through the grid, divided by 32.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <vector>

#include "compiler/pass/aligned_warps.hpp"

namespace sb::pass {

// Whose threads go together.
enum class team { block, warp };

// Where ways end that a team goes together: at the function's end; or at barriers, whichever, and
// at the end; or at barriers only: who has returned is not missed there.
enum class way_ends { returns, barriers_and_returns, barriers };

// Whether something in the code of one thread is the same for its warp, but not for its block:
// `threadIdx.x / 32` and the like. In blocks of whole warps, at least.
bool knows_warps(const llvm::Function& function);
// Whether more would be the same for all lanes if the blocks were of whole warps.
bool knows_more_if_aligned(const llvm::Function& function);
// In the code of one thread, which is to run with its warp: `threadIdx.x % 32` and the like become
// what they are, the lane's number, and `threadIdx.x / 32` what it is for the first lane. LLVM
// would not see that it is the same in a loop over the lanes.
void name_lanes(llvm::Function& function);
// The thread's x and linear index in the first lane of its warp.
inline constexpr llvm::StringLiteral first_tid_name = "__sb_first_tid_x";
inline constexpr llvm::StringLiteral first_linear_tid_name = "__sb_first_linear_tid";

// Memory of the whole team: one alloca for all of its threads.
void mark_team_memory(llvm::AllocaInst& memory);
bool is_team_memory(const llvm::Instruction& inst);

// The marker of a place where the threads of a warp meet; its value is the same for all.
inline constexpr llvm::StringLiteral warp_meeting_name = "sb.warp.meeting";
bool is_warp_meeting(const llvm::Instruction& inst);

// A load of private memory in which all lanes that come here have the same.
void mark_same_in_warp(llvm::LoadInst& load);

// Memory that nobody writes while the kernel runs: parameters and __constant__ variables.
bool reads_constant(const llvm::LoadInst& load);
// The load reads a parameter of the kernel: one that is there, whatever guards it.
bool reads_parameter(const llvm::LoadInst& load);

class uniformity {
 public:
  // Other ends than returns are for code whose warp operations are calls yet, and whose barriers
  // are in blocks of their own.
  uniformity(llvm::Function& function, team team, way_ends ends = way_ends::returns);

  team of() const { return team_; }
  warp_shape warps() const { return warps_; }

  bool is_uniform(const llvm::Value* value) const { return !divergent_.contains(value); }
  // All threads of the team come here together, as often as each other.
  bool is_reached_together(const llvm::BasicBlock* block) const { return !parted_.contains(block); }
  // The threads leave the block by the same way.
  bool branches_together(const llvm::BasicBlock* block) const;
  // Where all ways from the block come together; null if that is behind the function's end.
  const llvm::BasicBlock* meeting_of(const llvm::BasicBlock* block) const;

 private:
  bool is_own(const llvm::Instruction& inst) const;          // differs whatever the operands are
  bool is_always_same(const llvm::Instruction& inst) const;  // whatever the operands are
  bool is_answer(const llvm::Instruction& inst) const;
  bool depends_on(const llvm::Use& use) const;
  void find_meetings();
  void mark(const llvm::Instruction* inst);
  void part_ways(const llvm::BasicBlock* block);

  team team_;
  way_ends ends_;
  warp_shape warps_;
  std::vector<const llvm::BasicBlock*> blocks_;
  llvm::DenseMap<const llvm::BasicBlock*, int> number_;
  std::vector<int> meeting_;  // immediate post-dominator by number
  llvm::DenseSet<const llvm::Value*> divergent_;
  llvm::DenseSet<const llvm::BasicBlock*> parted_;
  std::vector<const llvm::Instruction*> work_;
};

}  // namespace sb::pass
