#include "compiler/pass/resource_estimate.hpp"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "compiler/pass/alignment.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// 32-bit registers that a value takes on the device.
unsigned width_of(const Value* value, const DataLayout& layout) {
  Type* type = value->getType();
  if (!type->isSized() || type->isIntegerTy(1) || isa<Constant>(value)) {
    return 0;
  }
  return static_cast<unsigned>(divideCeil(layout.getTypeSizeInBits(type).getFixedValue(), 32));
}

// The most values alive at once in any block, seen from the block's end upwards. Values from other
// blocks count as alive in every block between; that is all the precision an estimate needs.
unsigned most_alive(const Function& function) {
  const DataLayout& layout = function.getParent()->getDataLayout();
  unsigned most = 0;
  for (const BasicBlock& block : function) {
    DenseSet<const Value*> alive;
    unsigned now = 0;
    for (const Instruction& inst : block) {
      for (const User* user : inst.users()) {
        auto* other = dyn_cast<Instruction>(user);
        if (other && (other->getParent() != &block || isa<PHINode>(other))) {
          if (alive.insert(&inst).second) {
            now += width_of(&inst, layout);
          }
        }
      }
    }
    for (const Instruction& inst : reverse(block)) {
      if (alive.erase(&inst)) {
        now -= width_of(&inst, layout);
      }
      for (const Value* operand : inst.operands()) {
        auto* value = dyn_cast<Instruction>(operand);
        bool counts = value && !isa<AllocaInst>(value) && !is_alignment_mark(*value);
        if (counts && alive.insert(operand).second) {
          now += width_of(operand, layout);
        }
      }
      most = std::max(most, now);
    }
  }
  return most;
}

}  // namespace

void estimate_resources(kernel& kernel, const call_reach& reach) {
  const Function& body = *kernel.body;
  const DataLayout& layout = body.getParent()->getDataLayout();
  std::uint64_t local = 0;
  // Functions that stay calls have frames of their own; all of them at once is the worst case, but
  // for recursion.
  for (const Function* function : reach.from(*kernel.body)) {
    for (const Instruction& inst : instructions(*function)) {
      auto* slot = dyn_cast<AllocaInst>(&inst);
      auto size = slot ? slot->getAllocationSize(layout) : std::nullopt;
      if (size) {
        local += alignTo(size->getFixedValue(), 8);
      }
    }
  }
  kernel.local_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(local, 512u << 10));
  // Addresses and the hidden registers of the hardware come on top; it allocates in steps of 8.
  unsigned registers = static_cast<unsigned>(alignTo(most_alive(body) + 8, 8));
  unsigned limit = std::min(255u, 65536u / std::max(32u, kernel.max_threads));
  kernel.registers = std::clamp(registers, 16u, std::max(16u, limit));
}

}  // namespace sb::pass
