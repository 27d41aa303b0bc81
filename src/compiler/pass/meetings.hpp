// Places where threads meet, and what they bring there.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <vector>

#include "base/device_abi.hpp"

namespace sb::pass {

// A call in the code of one thread that adds its value to a total of the team.
llvm::CallInst* create_tally(llvm::IRBuilderBase& builder, abi::reduce_kind kind,
                             llvm::Value* value);
bool is_tally(const llvm::CallInst& call);
void lower_tally(llvm::CallInst& call, llvm::Value* total);
llvm::ConstantInt* start_of_tally(llvm::IRBuilderBase& builder, const llvm::CallInst& call);

llvm::Value* combine(llvm::IRBuilderBase& builder, abi::reduce_kind kind, llvm::Value* one,
                     llvm::Value* other);
llvm::ConstantInt* start_of_reduction(llvm::IRBuilderBase& builder, abi::reduce_kind kind);

struct meeting {
  llvm::CallInst* place = nullptr;  // its value is the meeting's result, the same for all
  llvm::CallInst* tally = nullptr;  // before it
  enum class result { total, all, any } result = result::total;
  // What the block then tells the engine, once for all of its threads: that it waits for the other
  // blocks; or that some of its threads have stopped elsewhere, and how (abi::round_outcome).
  enum class told { nothing, at_grid, round } told = told::nothing;
  abi::round_outcome round = abi::round_outcome::spins;
  // Memory of the team: what the threads wrote to `from` they read in `to` afterwards, while they
  // may write to `from` again.
  llvm::AllocaInst* from = nullptr;
  llvm::AllocaInst* to = nullptr;
  std::uint64_t to_offset = 0;  // bytes into `to`
  // If there is something here, what the thread `order[i]` wrote is at i afterwards.
  std::vector<int> order;
};

// A barrier that tells all threads what their `counts` come to.
llvm::CallInst* create_barrier(llvm::IRBuilderBase& builder, abi::barrier_kind kind,
                               llvm::Value* counts);
abi::barrier_kind kind_of_barrier(const llvm::CallInst& barrier);

// Where the blocks of a grid meet, the threads of each meet as well: in a block function that is a
// barrier at which the block stops.
llvm::CallInst* create_grid_barrier(llvm::IRBuilderBase& builder);
bool is_grid_barrier(const llvm::CallInst& barrier);
// Barriers of calls, and calls of barriers.
void make_grid_barriers(llvm::Function& body);
void unmake_grid_barriers(llvm::Function& body);
// The call of the engine, if there is one.
void create_told(llvm::IRBuilderBase& builder, const meeting& one);

// The barriers of a body; each becomes the first instruction of its block.
std::vector<meeting> find_barriers(llvm::Function& body);
// Puts the tallies of barriers with a predicate before them, and takes them away again.
void insert_tallies(std::vector<meeting>& barriers);
void remove_tallies(std::vector<meeting>& barriers);

}  // namespace sb::pass
