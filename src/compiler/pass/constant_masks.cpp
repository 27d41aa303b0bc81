#include "compiler/pass/constant_masks.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace sb::pass {

using namespace llvm;

namespace {

struct lanes {
  unsigned first = 0, count = 0;
};

// Those that a mask lets through, each with those beside it; nothing if it is no constant.
std::optional<SmallVector<lanes, 4>> lanes_of(Value* mask) {
  auto* constant = dyn_cast<Constant>(mask);
  auto* type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type) {
    return std::nullopt;
  }
  SmallVector<lanes, 4> all;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    auto* lane = dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(i));
    if (!lane) {
      return std::nullopt;
    }
    if (lane->isZero()) {
      continue;
    }
    if (all.empty() || all.back().first + all.back().count != i) {
      all.push_back({i, 0});
    }
    ++all.back().count;
  }
  return all;
}

// Elements that have addresses of their own.
FixedVectorType* whole_bytes(Type* type) {
  auto* vector = dyn_cast<FixedVectorType>(type);
  return vector && vector->getScalarSizeInBits() % 8 == 0 ? vector : nullptr;
}

class access {
 public:
  access(IntrinsicInst& call, Value* pointer, Value* alignment, FixedVectorType* type)
      : call_(call),
        builder_(&call),
        pointer_(pointer),
        type_(type),
        alignment_(cast<ConstantInt>(alignment)->getAlignValue()),
        bytes_(call.getDataLayout().getTypeStoreSize(type->getElementType())) {}

  void store(Value* value, ArrayRef<lanes> all) {
    for (const lanes& part : all) {
      Value* some = value;
      if (part.count == 1) {
        some = builder_.CreateExtractElement(value, part.first);
      } else if (part.count != type_->getNumElements()) {
        some = builder_.CreateShuffleVector(value, places(part.first, part.count, 0, 0));
      }
      keep_marks(builder_.CreateAlignedStore(some, place(part), alignment(part)));
    }
    call_.eraseFromParent();
  }

  void load(Value* otherwise, ArrayRef<lanes> all) {
    const unsigned count = type_->getNumElements();
    Value* value = otherwise;
    for (const lanes& part : all) {
      Type* type = type_->getElementType();
      if (part.count != 1) {
        type = FixedVectorType::get(type, part.count);
      }
      auto* some = builder_.CreateAlignedLoad(type, place(part), alignment(part));
      keep_marks(some);
      if (part.count == 1) {
        value = builder_.CreateInsertElement(value, some, part.first);
        continue;
      }
      Value* wide = builder_.CreateShuffleVector(some, places(0, part.count, part.first, count));
      SmallVector<int, 16> choice;
      for (unsigned i = 0; i < count; ++i) {
        const bool is_new = i >= part.first && i < part.first + part.count;
        choice.push_back(static_cast<int>(is_new ? count + i : i));
      }
      value = builder_.CreateShuffleVector(value, wide, choice);
    }
    call_.replaceAllUsesWith(value);
    call_.eraseFromParent();
  }

 private:
  // `count` lanes from `first`, behind `before` that are of no interest, in `of` if there are so
  // many.
  static SmallVector<int, 16> places(unsigned first, unsigned count, unsigned before, unsigned of) {
    SmallVector<int, 16> all(before, PoisonMaskElem);
    for (unsigned i = 0; i < count; ++i) {
      all.push_back(static_cast<int>(first + i));
    }
    if (all.size() < of) {
      all.append(of - all.size(), PoisonMaskElem);
    }
    return all;
  }
  Value* place(const lanes& part) {
    // What the mask keeps out may lie outside of the memory.
    return builder_.CreateConstGEP1_64(type_->getElementType(), pointer_, part.first);
  }
  Align alignment(const lanes& part) const {
    return commonAlignment(alignment_, part.first * bytes_);
  }
  void keep_marks(Instruction* made) {
    made->copyMetadata(
        call_, {LLVMContext::MD_tbaa, LLVMContext::MD_alias_scope, LLVMContext::MD_noalias});
  }

  IntrinsicInst& call_;
  IRBuilder<> builder_;
  Value* pointer_;
  FixedVectorType* type_;
  Align alignment_;
  std::uint64_t bytes_;
};

}  // namespace

void drop_constant_masks(Function& function) {
  for (Instruction& inst : make_early_inc_range(instructions(function))) {
    auto* call = dyn_cast<IntrinsicInst>(&inst);
    if (call && call->getIntrinsicID() == Intrinsic::masked_store) {
      auto* type = whole_bytes(call->getArgOperand(0)->getType());
      if (auto all = lanes_of(call->getArgOperand(3)); all && type) {
        access(*call, call->getArgOperand(1), call->getArgOperand(2), type)
            .store(call->getArgOperand(0), *all);
      }
    } else if (call && call->getIntrinsicID() == Intrinsic::masked_load) {
      auto* type = whole_bytes(call->getType());
      if (auto all = lanes_of(call->getArgOperand(2)); all && type) {
        access(*call, call->getArgOperand(0), call->getArgOperand(1), type)
            .load(call->getArgOperand(3), *all);
      }
    }
  }
}

}  // namespace sb::pass
