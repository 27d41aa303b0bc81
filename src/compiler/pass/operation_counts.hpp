// What one instruction of a thread's code costs a device, in the terms of abi::kernel_counts.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instruction.h>

#include <array>

#include "base/device_abi.hpp"
#include "compiler/pass/block_costs.hpp"

namespace sb::pass {

// A member of abi::kernel_counts by its place.
#define SB_COUNT(member) (offsetof(sb::abi::kernel_counts, member) / sizeof(std::uint64_t))

// Where memory lies on a device. `own`: what is no memory there (registers of the thread's
// position, parameters) or belongs to this implementation.
enum class space { own, global, shared, local, constant };
space space_of(const llvm::Value* pointer);

struct operation_counts {
  // Behind those of abi::kernel_counts: what the slot `spent` takes, in its order.
  static constexpr std::size_t issued = abi::kernel_count_kinds, steps = issued + 1,
                               loads = steps + 1, kinds = loads + 1;
  std::array<std::uint64_t, kinds> fixed{};
  // Copies and fills whose length the thread computes: that many bytes more of the kind.
  struct length {
    std::size_t kind;
    llvm::Value* bytes;
  };
  llvm::SmallVector<length, 2> lengths;

  void add(llvm::Instruction& inst);
  void add(const block_cost& cost);
};

// Whether it is what the engine calls: its arguments are the parameters and the context.
bool is_counted_entry(const llvm::Function& function);

}  // namespace sb::pass
