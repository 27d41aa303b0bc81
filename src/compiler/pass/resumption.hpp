// A kernel's threads from one place where they stop to the next, in turn: its barriers, and other
// places where one of them waits for others.
//
// Where each thread was is a number in its private memory, and so is what it needs to know there. A
// round is over when all threads have stopped or returned. If all of them are at barriers, these
// open, and all go on. Else only those go on that wait for something else; others stay where they
// are.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>

#include <vector>

#include "compiler/pass/meetings.hpp"
#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

// Where threads stop.
struct stops {
  std::vector<llvm::CallInst*> barriers;
  std::vector<llvm::CallInst*> spins;  // the back edge of a loop that waits for others
  // Warp operations that lanes come to one by one (lane_calls.hpp).
  std::vector<llvm::CallInst*> warp_calls;
  llvm::DenseMap<const llvm::CallInst*, std::uint32_t> asked;  // the last: place_numbers.hpp
  // Of barriers and warp operations: those that a thread comes to on its way round a loop in which
  // it waits for others.
  llvm::DenseSet<const llvm::CallInst*> between_looks;
  std::vector<llvm::CallInst*> sleeps;  // until some time
  bool timed = false;                   // kernel::times
  llvm::Instruction* begin = nullptr;   // null: the body's; no thread stops before

  [[nodiscard]] bool empty() const {
    return barriers.empty() && spins.empty() && warp_calls.empty() && sleeps.empty();
  }

  [[nodiscard]] std::vector<llvm::CallInst*> all() const {
    std::vector<llvm::CallInst*> both = barriers;
    both.insert(both.end(), spins.begin(), spins.end());
    return both;
  }
};

// Who goes on together: each thread for itself; or the warp, which is at one barrier with all of
// its lanes, or with those that have not returned.
enum class resumed { threads, warps, lanes_that_stay };

// Rebuilds the body: the meetings that it then has. None if it becomes too large or too tangled.
// `same`: what is the same for a warp, if it goes on together.
std::vector<meeting> resume(llvm::Function& body, stops where, resumed who, const uniformity* same);

}  // namespace sb::pass
