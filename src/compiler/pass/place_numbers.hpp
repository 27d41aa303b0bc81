// Numbers for the places where a thread asks which lanes are there, in the order in which lanes
// come to them: behind a loop later than in it. As lanes at the earliest place go on first, those
// that a branch or a loop has parted are together again behind it.
//
// What comes later though its number is smaller needs a place more, at which lanes wait for each
// other as if they asked: the end of a round, as the next one passes the same places; and the call
// of a function that asks, whose places come before those of all that call it.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>

#include "compiler/pass/effects.hpp"

namespace sb::pass {

class place_numbers {
 public:
  // Adds those places to the functions of the module.
  place_numbers(llvm::Module& module, const call_reach& reach);

  [[nodiscard]] std::uint32_t of(const llvm::CallBase& call) const {
    return numbers_.lookup(&call);
  }

 private:
  void number(llvm::Function& function);

  llvm::DenseMap<const llvm::CallBase*, std::uint32_t> numbers_;
  std::uint32_t last_ = 0;
};

}  // namespace sb::pass
