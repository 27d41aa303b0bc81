// What one instruction of a thread's code costs a device, in the terms of abi::kernel_counts.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instruction.h>

#include <array>

#include "base/device_abi.hpp"

namespace sb::pass {

// A member of abi::kernel_counts by its place.
#define SB_COUNT(member) (offsetof(sb::abi::kernel_counts, member) / sizeof(std::uint64_t))

struct operation_counts {
  std::array<std::uint64_t, abi::kernel_count_kinds> fixed{};
  // Copies and fills whose length the thread computes: that many bytes more of the kind.
  struct length {
    std::size_t kind;
    llvm::Value* bytes;
  };
  llvm::SmallVector<length, 2> lengths;

  void add(llvm::Instruction& inst);
};

// Whether it is what the engine calls: its arguments are the parameters and the context.
bool is_counted_entry(const llvm::Function& function);

}  // namespace sb::pass
