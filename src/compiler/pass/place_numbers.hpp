// Numbers for the places where a thread asks which lanes are there, in the order in which lanes
// come to them: behind a loop later than in it.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>

namespace sb::pass {

class place_numbers {
 public:
  void add(llvm::Function& function);
  [[nodiscard]] std::uint32_t of(const llvm::CallBase& call) const {
    return numbers_.lookup(&call);
  }

 private:
  llvm::DenseMap<const llvm::CallBase*, std::uint32_t> numbers_;
  std::uint32_t last_ = 0;
};

}  // namespace sb::pass
