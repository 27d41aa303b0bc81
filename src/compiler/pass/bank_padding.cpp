#include "compiler/pass/bank_padding.hpp"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

#include <optional>

#include "compiler/pass/address_spaces.hpp"
#include "compiler/pass/shared_memory.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned least_distance = 2, most_distance = 10;

// One more place for every 2^distance: `place + (place >> distance)`.
struct padded_place {
  Value* place;
  unsigned distance;
};

// A place behind nothing: one that wraps round would find its way back into the array.
bool cannot_wrap(const Instruction& sum, const Value* place, const Value* more) {
  auto* add = dyn_cast<OverflowingBinaryOperator>(&sum);
  return match(more, m_AShr(m_Value(), m_Value())) || (add && add->hasNoUnsignedWrap()) ||
         isKnownNonNegative(place, SimplifyQuery(sum.getDataLayout()));
}

// How many bits `more` is `place` shifted by. LLVM shifts what `place` is made of, if it can:
// `(t << 1 | 1) >> 5` is `t >> 4`.
std::optional<unsigned> shift_between(const Value* place, const Value* more) {
  const Value* from = nullptr;
  const Value* start = nullptr;
  const APInt* bits = nullptr;
  const APInt* more_bits = nullptr;
  const APInt* low = nullptr;
  if (!match(more, m_Shr(m_Value(from), m_APInt(bits))) || bits->uge(most_distance)) {
    return std::nullopt;
  }
  auto distance = static_cast<unsigned>(bits->getZExtValue());
  if (from == place) {
    return distance;
  }
  if (!match(place, m_DisjointOr(m_Value(start), m_APInt(low)))) {
    start = place;
    low = nullptr;
  }
  auto* shift = dyn_cast<OverflowingBinaryOperator>(start);
  bool is_shifted = shift && (shift->hasNoSignedWrap() || shift->hasNoUnsignedWrap()) &&
                    match(start, m_Shl(m_Specific(from), m_APInt(more_bits))) &&
                    more_bits->ult(most_distance) &&
                    (!low || low->getActiveBits() <= more_bits->getZExtValue());
  return is_shifted ? std::optional(distance + static_cast<unsigned>(more_bits->getZExtValue()))
                    : std::nullopt;
}

std::optional<padded_place> padded(Value* index) {
  Value* one = nullptr;
  Value* other = nullptr;
  auto* sum = dyn_cast<Instruction>(index);
  if (!sum || (!match(sum, m_Add(m_Value(one), m_Value(other))) &&
               !match(sum, m_DisjointOr(m_Value(one), m_Value(other))))) {
    return std::nullopt;
  }
  for (unsigned turn = 0; turn < 2; ++turn, std::swap(one, other)) {
    auto distance = shift_between(one, other);
    if (distance && *distance >= least_distance && *distance <= most_distance &&
        cannot_wrap(*sum, one, other)) {
      return padded_place{one, *distance};
    }
  }
  return std::nullopt;
}

// The place that was padded so; nothing if the element is one of those that are left out.
std::optional<std::uint64_t> place_of(std::uint64_t element, unsigned distance) {
  std::uint64_t row = (std::uint64_t{1} << distance) + 1;
  std::uint64_t place = element - element / row;
  return place + (place >> distance) == element ? std::optional(place) : std::nullopt;
}

// What a kernel does with one array.
struct array_uses {
  ArrayType* type = nullptr;
  bool is_plain = true;
  SmallVector<GetElementPtrInst*, 8> addresses;
  SmallVector<std::pair<Use*, std::uint64_t>, 8> constants;  // and which element that is
};

bool is_access(const Use& use) {
  auto* inst = cast<Instruction>(use.getUser());
  if (auto* store = dyn_cast<StoreInst>(inst)) {
    return use.getOperandNo() == store->getPointerOperandIndex();
  }
  return isa<LoadInst>(inst);
}

Type* accessed_type(const Use& use) { return getLoadStoreType(use.getUser()); }

class padding_finder {
 public:
  explicit padding_finder(Function& body) : layout_(body.getDataLayout()) {
    for (Instruction& inst : instructions(body)) {
      auto* call = dyn_cast<CallBase>(&inst);
      const Function* callee = call ? call->getCalledFunction() : nullptr;
      knows_all_ &= !call || (callee && callee->isDeclaration());
      for (Use& operand : inst.operands()) {
        note(operand);
      }
    }
  }

  void drop() {
    for (auto& [variable, uses] : arrays_) {
      if (knows_all_ && uses.is_plain && !uses.addresses.empty()) {
        drop(*variable, uses);
      }
    }
  }

 private:
  void note(Use& operand) {
    APInt offset(64, 0);
    auto* variable =
        dyn_cast<GlobalVariable>(operand->stripAndAccumulateConstantOffsets(layout_, offset, true));
    if (!variable || !is_shared(*variable)) {
      return;
    }
    array_uses& uses = arrays_[variable];
    uses.type = dyn_cast<ArrayType>(variable->getValueType());
    // Memory of the launch may be another array's as well.
    Type* element = uses.type && !is_dynamic(*variable) ? uses.type->getElementType() : nullptr;
    if (!element || !(element->isIntegerTy() || element->isFloatingPointTy())) {
      uses.is_plain = false;
      return;
    }
    auto* address = dyn_cast<GetElementPtrInst>(operand.getUser());
    if (address && operand.get() == variable && address->getSourceElementType() == uses.type &&
        address->getNumIndices() == 2 && match(address->getOperand(1), m_Zero())) {
      uses.is_plain &= all_of(address->uses(), [&](const Use& use) {
        return is_access(use) && accessed_type(use) == element;
      });
      uses.addresses.push_back(address);
      return;
    }
    std::uint64_t size = layout_.getTypeAllocSize(element);
    uses.is_plain &= !isa<Instruction>(operand.get()) && is_access(operand) &&
                     accessed_type(operand) == element && offset.isNonNegative() &&
                     offset.urem(size) == 0;
    uses.constants.emplace_back(&operand, offset.getZExtValue() / size);
  }

  static Value* without_extension(Value* index) {
    auto* extended = dyn_cast<CastInst>(index);
    return extended && isa<ZExtInst, SExtInst>(extended) ? extended->getOperand(0) : index;
  }

  static void drop(GlobalVariable& variable, array_uses& uses) {
    std::optional<unsigned> distance;
    for (GetElementPtrInst* address : uses.addresses) {
      auto found = padded(without_extension(address->getOperand(2)));
      if (!found || (distance && *distance != found->distance)) {
        return;
      }
      distance = found->distance;
    }
    if (!distance || any_of(uses.constants, [&](auto& one) {
          return !place_of(one.second, *distance).has_value();
        })) {
      return;
    }
    for (GetElementPtrInst* address : uses.addresses) {
      Value* index = address->getOperand(2);
      IRBuilder<> builder(address);
      Value* place = padded(without_extension(index))->place;
      auto* extended = dyn_cast<CastInst>(index);
      address->setOperand(2,
                          place->getType() == index->getType()
                              ? place
                              : builder.CreateCast(extended->getOpcode(), place, index->getType()));
    }
    LLVMContext& context = variable.getContext();
    auto* word = Type::getInt64Ty(context);
    for (auto& [use, element] : uses.constants) {
      Constant* indices[] = {ConstantInt::get(word, 0),
                             ConstantInt::get(word, *place_of(element, *distance))};
      use->set(ConstantExpr::getInBoundsGetElementPtr(uses.type, &variable, indices));
    }
  }

  const DataLayout& layout_;
  bool knows_all_ = true;
  MapVector<GlobalVariable*, array_uses> arrays_;
};

}  // namespace

void drop_bank_padding(Function& body) { padding_finder(body).drop(); }

}  // namespace sb::pass
