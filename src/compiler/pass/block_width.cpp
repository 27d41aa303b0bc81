#include "compiler/pass/block_width.hpp"

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "compiler/pass/address_spaces.hpp"
#include "compiler/pass/shared_memory.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr std::uint64_t most_elements = 2;  // of a thread, where one element makes no block
constexpr unsigned deepest = 8;

// The longest side of the array that has a place for each thread, or a few.
std::uint64_t length_of(Type* type) {
  std::uint64_t longest = 0;
  while (auto* array = dyn_cast<ArrayType>(type)) {
    std::uint64_t length = array->getNumElements(), round = bit_floor(length);
    // Against conflicts of banks, of which there are 32, and were 16.
    if (length == round + round / 32 || length == round + round / 16) {
      length = round;
    }
    bool fits = length % 32 == 0 && length >= least_width && length <= most_elements * most_width;
    longest = std::max(longest, fits ? length : 0);
    type = array->getElementType();
  }
  return longest;
}

// What an index is in the last thread of a block; nothing if more than the thread decides.
std::optional<APInt> in_last_thread(const Value* value, std::uint64_t width, unsigned depth = 0) {
  if (auto* number = dyn_cast<ConstantInt>(value)) {
    return number->getValue();
  }
  auto* inst = dyn_cast<Instruction>(value);
  if (!inst || depth == deepest || !inst->getType()->isIntegerTy()) {
    return std::nullopt;
  }
  if (auto* call = dyn_cast<CallBase>(inst)) {
    const Function* callee = call->getCalledFunction();
    StringRef name = callee ? callee->getName() : StringRef();
    unsigned bits = inst->getType()->getIntegerBitWidth();
    return name == "__sb_tid_x"    ? std::optional(APInt(bits, width - 1))
           : name == "__sb_ntid_x" ? std::optional(APInt(bits, width))
                                   : std::nullopt;
  }
  if (!isa<BinaryOperator, CastInst>(inst)) {
    return std::nullopt;
  }
  SmallVector<Constant*, 2> operands;
  for (const Value* operand : inst->operands()) {
    auto known = in_last_thread(operand, width, depth + 1);
    if (!known) {
      return std::nullopt;
    }
    operands.push_back(ConstantInt::get(inst->getContext(), *known));
  }
  const DataLayout& layout = inst->getDataLayout();
  Constant* folded =
      isa<CastInst>(inst)
          ? ConstantFoldCastOperand(inst->getOpcode(), operands[0], inst->getType(), layout)
          : ConstantFoldBinaryOpOperands(inst->getOpcode(), operands[0], operands[1], layout);
  auto* number = dyn_cast_or_null<ConstantInt>(folded);
  return number ? std::optional(number->getValue()) : std::nullopt;
}

// Where all threads go to shared memory, whatever they know.
class places {
 public:
  explicit places(Function& body) {
    PostDominatorTree behind(body);
    for (Instruction& inst : instructions(body)) {
      auto* address = dyn_cast<GetElementPtrInst>(&inst);
      auto* variable = address ? dyn_cast<GlobalVariable>(address->getPointerOperand()) : nullptr;
      if (!variable || !is_shared(*variable) || is_dynamic(*variable) ||
          address->getSourceElementType() != variable->getValueType()) {
        continue;
      }
      bool used = any_of(address->users(), [&](User* user) {
        auto* access = dyn_cast<Instruction>(user);
        return access && getLoadStorePointerOperand(access) == address &&
               behind.dominates(access->getParent(), &body.getEntryBlock());
      });
      if (used) {
        found_.push_back(address);
      }
    }
  }

  // Whether the last of so many threads stays inside.
  [[nodiscard]] bool hold(std::uint64_t width) const {
    return all_of(found_, [&](const GetElementPtrInst* address) {
      Type* type = address->getSourceElementType();
      for (const Value* index : drop_begin(address->indices())) {
        auto* array = dyn_cast<ArrayType>(type);
        auto last = array ? in_last_thread(index, width) : std::nullopt;
        if (!array || (last && last->getSExtValue() >= 0 &&
                       last->getZExtValue() >= array->getNumElements())) {
          return !array;
        }
        type = array->getElementType();
      }
      return true;
    });
  }

 private:
  SmallVector<const GetElementPtrInst*, 8> found_;
};

}  // namespace

std::uint64_t width_by_shared_memory(Function& body) {
  std::uint64_t width = 0;
  for (Instruction& inst : instructions(body)) {
    for (Value* operand : inst.operands()) {
      auto* variable = dyn_cast<GlobalVariable>(operand->stripInBoundsConstantOffsets());
      if (variable && is_shared(*variable)) {
        width = std::max(width, length_of(variable->getValueType()));
      }
    }
  }
  const places all(body);
  while (width >= least_width && !all.hold(width)) {
    width /= 2;
  }
  return is_width(width) ? width : 0;
}

}  // namespace sb::pass
