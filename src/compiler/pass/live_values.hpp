// How values reach code of another region than their own.
//
//   again    computed anew where they are needed: parameters, the block's place, what follows from
//            them, and short sums of these with the thread's index
//   scalar   the same for all threads: one variable of the block function
//   array    each thread's own: an array with one element for each of them
//
// A phi at the top of a region takes its value on the way in, from an incoming slot. Private
// variables that outlive a region have memory for each thread, too.
#pragma once

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Dominators.h>

#include "compiler/pass/regions.hpp"

namespace sb::pass {

// From one thread's piece of the memory for a private variable to the next one's: small variables
// of neighbours lie side by side.
std::uint64_t frame_stride(const llvm::AllocaInst& slot);

class live_values {
 public:
  using values = llvm::SetVector<llvm::Instruction*>;
  struct needs {  // of one region
    values scalars, arrays, frames;
    llvm::SmallVector<llvm::PHINode*, 4> phis;  // arrays that it takes from incoming slots
  };

  live_values(llvm::Function& function, const region_plan& plan, const uniformity& uniform);

  const needs& of(unsigned region) const { return needs_[region]; }
  const values& scalars() const { return scalars_; }
  const values& arrays() const { return arrays_; }  // values that other regions load
  const values& frames() const { return frames_; }  // allocas
  // Phis at the top of regions that anybody uses.
  const llvm::SetVector<llvm::PHINode*>& leading_phis() const { return leading_; }

  bool is_again(llvm::Instruction& inst) const { return again_.lookup(&inst); }
  bool is_meeting(const llvm::Instruction& inst) const;
  // Whether the value is made outside of the region functions: meetings, uniform leading phis, the
  // team's memory.
  bool is_outer(const llvm::Instruction& inst) const;
  // The one value that all edges from the region to the phi's block bring; null if they differ.
  llvm::Value* only_incoming(const llvm::PHINode& phi, unsigned from) const;

  // Bytes for each thread: of all of it, and of the private variables.
  std::uint64_t context_bytes() const;
  std::uint64_t frame_bytes() const;

 private:
  void find_again();
  void find_private();
  void request(llvm::Value* value, int region);
  unsigned cost_of(llvm::Instruction& inst);

  static constexpr int outer = -1;

  llvm::Function& function_;
  const region_plan& plan_;
  const uniformity& uniform_;
  std::vector<needs> needs_;
  values scalars_, arrays_, frames_;
  llvm::SetVector<llvm::PHINode*> leading_;
  llvm::DenseMap<const llvm::Instruction*, bool> again_;
  llvm::DenseMap<const llvm::Instruction*, unsigned> cost_;
  llvm::DenseSet<const llvm::Instruction*> private_;  // allocas that one run of a region owns
  llvm::DenseSet<std::pair<const llvm::Instruction*, int>> requested_;
};

}  // namespace sb::pass
