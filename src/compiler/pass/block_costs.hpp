// What a basic block takes on a device: its instructions, and how long a thread waits in it when
// nothing else is in its way.
//
// The wait is the longest way through the block from one instruction to another that needs its
// result. A loop of one block that counts in constant steps is taken as unrolled, as a device's
// compiler would have it: several rounds are on their way together, except for what a round needs
// of the last one.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/BasicBlock.h>

#include <cstdint>

namespace sb::pass {

// Accesses that a device does with those before them: parts of a float4, or of neighbours in memory
// that are known to be aligned to their sum.
struct joined_accesses {
  explicit joined_accesses(llvm::BasicBlock& block);
  llvm::SmallPtrSet<const llvm::Instruction*, 8> done;                    // by another of them
  llvm::SmallDenseMap<const llvm::Instruction*, std::uint64_t, 8> bytes;  // of those that do more
};

struct block_cost {
  // In abi::spent_unit parts.
  std::uint64_t issued = 0, steps = 0, loads = 0;
  std::uint64_t fp32 = 0, fp64 = 0, logic = 0, special = 0;
};

block_cost cost_of(llvm::BasicBlock& block, const joined_accesses& joined);

}  // namespace sb::pass
