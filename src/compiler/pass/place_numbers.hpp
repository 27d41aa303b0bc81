// Numbers for the places where a thread asks which lanes are there, in the order in which lanes
// come to them: behind a loop later than in it. As lanes at the earliest place go on first, those
// that a branch or a loop has parted are together again behind it.
//
// A device does not bring lanes together again that a loop has parted in which they wait for
// others, or a branch in which they do so or sleep. So lanes behind one do not wait for those that
// are still there: the number says so, too.
//
// What comes later though its number is smaller needs a place more, at which lanes wait for each
// other as if they asked: the end of a round, as the next one passes the same places; and the call
// of a function that asks, whose places come before those of all that call it.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>
#include <vector>

#include "compiler/pass/effects.hpp"

namespace sb::pass {

struct asked_place {
  llvm::CallInst* call;
  std::uint32_t number;  // from abi::first_place on
};
// Such places of one function, in that order; those at the ends of rounds are added.
std::vector<asked_place> places_in_order(llvm::Function& function);

class place_numbers {
 public:
  // Adds those places to the functions of the module.
  place_numbers(llvm::Module& module, const call_reach& reach);

  [[nodiscard]] std::uint32_t of(const llvm::CallBase& call) const {
    return numbers_.lookup(&call);
  }

 private:
  llvm::DenseMap<const llvm::CallBase*, std::uint32_t> numbers_;
};

}  // namespace sb::pass
