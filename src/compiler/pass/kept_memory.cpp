#include "compiler/pass/kept_memory.hpp"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace sb::pass {

using namespace llvm;

namespace {

constexpr std::uint64_t vector_bytes = 16;

class memory_keeper {
 public:
  memory_keeper(Value& base, std::uint64_t bytes)
      : base_(base), bytes_(bytes), layout_(layout_of(base)) {}

  kept_memory keep() {
    if (!collect(base_, 0) || !block_ || !fix_element() || !divide_copies()) {
      return {};
    }
    accesses_.clear();
    if (!collect(base_, 0) || !is_written_first()) {
      return {};
    }
    for (Instruction& inst : make_early_inc_range(*block_)) {
      auto found = accesses_.find(&inst);
      if (found == accesses_.end()) {
        continue;
      }
      if (auto* load = dyn_cast<LoadInst>(&inst)) {
        IRBuilder<> builder(load);
        load->replaceAllUsesWith(read(builder, load->getType(), found->second));
      } else {
        write(cast<StoreInst>(inst).getValueOperand(), found->second);
      }
      inst.eraseFromParent();
    }
    return {block_, end_};
  }

 private:
  struct element {
    Value* value = nullptr;
    unsigned lane = 0;  // of a vector
  };

  static const DataLayout& layout_of(Value& base) {
    auto* argument = dyn_cast<Argument>(&base);
    Function* function = argument ? argument->getParent() : cast<Instruction>(base).getFunction();
    return function->getParent()->getDataLayout();
  }

  // Everything is done in one block, at constant places inside of the memory.
  bool collect(Value& pointer, std::uint64_t offset) {
    for (Use& use : pointer.uses()) {
      auto* user = cast<Instruction>(use.getUser());
      if (auto* address = dyn_cast<GetElementPtrInst>(user)) {
        APInt more(64, offset);
        if (!address->accumulateConstantOffset(layout_, more) ||
            !collect(*address, more.getZExtValue())) {
          return false;
        }
        continue;
      }
      if (user->isDebugOrPseudoInst() || user->isLifetimeStartOrEnd()) {
        continue;
      }
      if (!is_plain(*user, use, offset) || (block_ && block_ != user->getParent())) {
        return false;
      }
      block_ = user->getParent();
      accesses_[user] = offset;
    }
    return true;
  }

  bool is_plain(Instruction& user, Use& use, std::uint64_t offset) {
    std::uint64_t size = 0;
    if (auto* load = dyn_cast<LoadInst>(&user)) {
      if (!load->isSimple()) {
        return false;
      }
      size = layout_.getTypeStoreSize(load->getType());
    } else if (auto* store = dyn_cast<StoreInst>(&user)) {
      if (!store->isSimple() || use.getOperandNo() != StoreInst::getPointerOperandIndex()) {
        return false;
      }
      size = layout_.getTypeStoreSize(store->getValueOperand()->getType());
    } else if (auto* copy = dyn_cast<MemCpyInst>(&user)) {
      auto* length = dyn_cast<ConstantInt>(copy->getLength());
      // From one place of it to another is not divided.
      if (!length || copy->isVolatile() || accesses_.contains(copy)) {
        return false;
      }
      size = length->getZExtValue();
    } else {
      return false;
    }
    end_ = std::max(end_, offset + size);
    return offset <= bytes_ && size <= bytes_ - offset;
  }

  static Type* element_type(Type* type) {
    auto* vector = dyn_cast<FixedVectorType>(type);
    return vector ? vector->getElementType() : type;
  }
  static Type* accessed_type(Instruction& inst) {
    return isa<MemCpyInst>(inst) ? nullptr : getLoadStoreType(&inst);
  }

  // One size of elements for all of it.
  bool fix_element() {
    for (auto& [inst, offset] : accesses_) {
      Type* type = accessed_type(*inst);
      if (!type) {
        continue;
      }
      if (isa<ScalableVectorType>(type) || !element_type(type)->isSized() ||
          !(element_type(type)->isIntegerTy() || element_type(type)->isFloatingPointTy())) {
        return false;
      }
      std::uint64_t size = layout_.getTypeSizeInBits(element_type(type));
      if ((element_ != 0 && element_ != size) || size % 8 != 0 || !isPowerOf2_64(size)) {
        return false;
      }
      element_ = size;
    }
    return element_ != 0 && element_ <= 64;
  }

  unsigned elements_of(Instruction& inst) const {
    auto* vector = dyn_cast<FixedVectorType>(getLoadStoreType(&inst));
    return vector ? vector->getNumElements() : 1;
  }

  // Nothing comes from before the block: from another one, or its own last round.
  bool is_written_first() {
    DenseSet<std::uint64_t> written;
    for (Instruction& inst : *block_) {
      auto found = accesses_.find(&inst);
      if (found == accesses_.end()) {
        continue;
      }
      std::uint64_t bytes = element_ / 8;
      if (isa<MemCpyInst>(inst) || found->second % bytes != 0) {
        return false;
      }
      for (unsigned i = 0; i < elements_of(inst); ++i) {
        std::uint64_t number = found->second / bytes + i;
        if (isa<StoreInst>(inst)) {
          written.insert(number);
        } else if (!written.contains(number)) {
          return false;
        }
      }
    }
    return true;
  }

  // Copies become loads and stores.
  bool divide_copies() {
    for (auto& [inst, offset] : accesses_) {
      auto* copy = dyn_cast<MemCpyInst>(inst);
      if (!copy) {
        continue;
      }
      std::uint64_t size = cast<ConstantInt>(copy->getLength())->getZExtValue();
      if (size % vector_bytes != 0) {
        return false;
      }
      IRBuilder<> builder(copy);
      auto* type = FixedVectorType::get(builder.getIntNTy(static_cast<unsigned>(element_)),
                                        static_cast<unsigned>(8 * vector_bytes / element_));
      // All of it is read before any of it is written.
      SmallVector<Value*, 64> parts;
      for (std::uint64_t at = 0; at < size; at += vector_bytes) {
        Value* from =
            builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copy->getSource(), at);
        parts.push_back(builder.CreateAlignedLoad(
            type, from, commonAlignment(copy->getSourceAlign().valueOrOne(), at)));
      }
      for (std::uint64_t at = 0; at < size; at += vector_bytes) {
        Value* to = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copy->getDest(), at);
        builder.CreateAlignedStore(parts[at / vector_bytes], to,
                                   commonAlignment(copy->getDestAlign().valueOrOne(), at));
      }
      copy->eraseFromParent();
    }
    return true;
  }

  void write(Value* value, std::uint64_t offset) {
    auto* vector = dyn_cast<FixedVectorType>(value->getType());
    unsigned count = vector ? vector->getNumElements() : 1;
    for (unsigned lane = 0; lane < count; ++lane) {
      elements_[offset / (element_ / 8) + lane] = {value, lane};
    }
  }

  Value* as(IRBuilder<>& builder, Value* value, Type* element) {
    Type* type = value->getType();
    if (auto* vector = dyn_cast<FixedVectorType>(type)) {
      element = FixedVectorType::get(element, vector->getNumElements());
    }
    return type == element ? value : builder.CreateBitCast(value, element);
  }

  Value* read(IRBuilder<>& builder, Type* type, std::uint64_t offset) {
    std::uint64_t first = offset / (element_ / 8);
    Type* kind = element_type(type);
    auto* vector = dyn_cast<FixedVectorType>(type);
    if (!vector) {
      element one = elements_.lookup(first);
      Value* value = as(builder, one.value, kind);
      return value->getType()->isVectorTy() ? builder.CreateExtractElement(value, one.lane) : value;
    }
    unsigned count = vector->getNumElements();
    // Of one or two vectors of the same kind: a choice of their lanes.
    Value* sources[2] = {};
    unsigned lanes_of_source = 0;
    SmallVector<int, 16> lanes;
    for (unsigned i = 0; i < count; ++i) {
      element one = elements_.lookup(first + i);
      auto* from = dyn_cast<FixedVectorType>(one.value->getType());
      if (!from || (lanes_of_source != 0 && from->getNumElements() != lanes_of_source)) {
        return gather(builder, vector, first);
      }
      lanes_of_source = from->getNumElements();
      unsigned which = !sources[0] || sources[0] == one.value ? 0 : 1;
      if (sources[which] && sources[which] != one.value) {
        return gather(builder, vector, first);
      }
      sources[which] = one.value;
      lanes.push_back(static_cast<int>(which * lanes_of_source + one.lane));
    }
    Value* left = as(builder, sources[0], kind);
    bool is_whole = !sources[1] && count == lanes_of_source;
    for (unsigned i = 0; i < count; ++i) {
      is_whole &= lanes[i] == static_cast<int>(i);
    }
    if (is_whole) {
      return left;
    }
    Value* right = sources[1] ? as(builder, sources[1], kind) : PoisonValue::get(left->getType());
    return builder.CreateShuffleVector(left, right, lanes);
  }

  Value* gather(IRBuilder<>& builder, FixedVectorType* type, std::uint64_t first) {
    Value* all = PoisonValue::get(type);
    for (unsigned i = 0; i < type->getNumElements(); ++i) {
      element one = elements_.lookup(first + i);
      Value* value = as(builder, one.value, type->getElementType());
      if (value->getType()->isVectorTy()) {
        value = builder.CreateExtractElement(value, one.lane);
      }
      all = builder.CreateInsertElement(all, value, i);
    }
    return all;
  }

  Value& base_;
  std::uint64_t bytes_, end_ = 0;
  const DataLayout& layout_;
  BasicBlock* block_ = nullptr;
  std::uint64_t element_ = 0;  // bits
  MapVector<Instruction*, std::uint64_t> accesses_;
  DenseMap<std::uint64_t, element> elements_;  // by their number
};

bool has_place(const Instruction& inst) {
  return isa<PHINode>(inst) || inst.isTerminator() || inst.mayReadOrWriteMemory() ||
         inst.mayHaveSideEffects() || isa<AllocaInst>(inst) || inst.isEHPad();
}

}  // namespace

kept_memory keep_in_values(Value& base, std::uint64_t bytes) {
  return memory_keeper(base, bytes).keep();
}

void compute_when_needed(BasicBlock& block) {
  SmallVector<Instruction*, 64> fixed, rest;
  DenseSet<Instruction*> placed;
  for (Instruction& inst : block) {
    (has_place(inst) ? fixed : rest).push_back(&inst);
  }
  placed.insert(fixed.begin(), fixed.end());
  // Operands first, from the left to the right; without recursion, for chains may be long.
  auto place = [&](Instruction* needed, Instruction* before) {
    SmallVector<std::pair<Instruction*, unsigned>, 32> path = {{needed, 0}};
    while (!path.empty()) {
      auto& [inst, next] = path.back();
      if (next < inst->getNumOperands()) {
        auto* operand = dyn_cast<Instruction>(inst->getOperand(next++));
        if (operand && operand->getParent() == &block && placed.insert(operand).second) {
          path.emplace_back(operand, 0);
        }
        continue;
      }
      if (inst != before) {
        inst->moveBefore(before);
      }
      path.pop_back();
    }
  };
  for (Instruction* one : fixed) {
    if (!isa<PHINode>(one)) {
      place(one, one);
    }
  }
  // What others need, behind this block.
  for (Instruction* one : rest) {
    if (placed.insert(one).second) {
      place(one, block.getTerminator());
    }
  }
}

}  // namespace sb::pass
