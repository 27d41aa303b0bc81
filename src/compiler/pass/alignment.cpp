#include "compiler/pass/alignment.hpp"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Support/KnownBits.h>

#include <algorithm>
#include <optional>

#include "base/device_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// What one instruction of a device moves at most.
constexpr std::uint64_t widest_access = 16;
static_assert(widest_access <= 1u << abi::misaligned_bits);

void forget_in_attributes(CallBase& call) {
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    // Memory that a call gets by value is the caller's own.
    if (!isa<MemIntrinsic>(call) && !call.isByValArgument(i)) {
      call.removeParamAttr(i, Attribute::Alignment);
    }
  }
  if (!isa<IntrinsicInst>(call)) {
    call.removeRetAttr(Attribute::Alignment);
  }
}

template <class Access>
void limit_to_size(Access& access, Type* type) {
  std::uint64_t size = access.getDataLayout().getTypeStoreSize(type).getKnownMinValue();
  std::uint64_t own = std::max<std::uint64_t>(llvm::bit_floor(size), 1);
  if (access.getAlign().value() > own) {
    access.setAlignment(Align(own));
  }
}

// One access of memory: where its address stands, and what it has to be a multiple of, or be so
// many bytes behind one.
struct access {
  Use* address;
  Align alignment;
  std::uint64_t behind = 0;
};

class marker {
 public:
  explicit marker(Function& function)
      : function_(function), layout_(function.getDataLayout()), tree_(function) {}

  void run() {
    SmallVector<access, 32> accesses;
    for (BasicBlock& block : function_) {
      neighbours_.clear();
      for (Instruction& inst : block) {
        if (isa<LoadInst, StoreInst>(inst)) {
          auto [base, offset] = place_of(inst);
          neighbours_[{base, std::uint64_t{isa<StoreInst>(inst)}}].push_back(
              {offset, size_of(inst), getLoadStoreAlignment(&inst).value()});
        }
      }
      for (auto& [base, all] : neighbours_) {
        join(all);
      }
      for (Instruction& inst : block) {
        collect(inst, accesses);
      }
    }
    for (const access& one : accesses) {
      treat(one);
    }
  }

 private:
  // An address as a sum: `base`, what is added to it and not known to be aligned, and a number.
  struct sum {
    Value* base = nullptr;
    bool base_is_aligned = false;
    bool is_chain = true;  // geps lead from the base to the address, and nothing else
    SmallVector<std::pair<Value*, std::uint64_t>, 2> loose;
    std::uint64_t constant = 0;
  };

  struct piece {
    std::int64_t offset;
    std::uint64_t size, alignment;
    std::uint64_t width = 0;  // that a device moves at once from here on
  };

  std::pair<Value*, std::int64_t> place_of(Instruction& inst) const {
    std::int64_t offset = 0;
    Value* base =
        GetPointerBaseWithConstantOffset(getLoadStorePointerOperand(&inst), offset, layout_);
    return {base, offset};
  }
  std::uint64_t size_of(Instruction& inst) const {
    return layout_.getTypeStoreSize(getLoadStoreType(&inst)).getKnownMinValue();
  }

  // A struct was copied, and its members are left: a device moves those together that follow each
  // other, as far as the struct's alignment allows it.
  static void join(MutableArrayRef<piece> all) {
    for (piece& first : all) {
      std::uint64_t width = first.size;
      if (!isPowerOf2_64(width) || first.alignment < width) {
        continue;
      }
      auto reaches = [&](std::uint64_t wide) {
        std::int64_t end = first.offset + static_cast<std::int64_t>(wide);
        std::int64_t at = first.offset + static_cast<std::int64_t>(first.size);
        while (at < end) {
          auto* next = find_if(all, [&](const piece& one) { return one.offset == at; });
          if (next == all.end()) {
            return false;
          }
          at += static_cast<std::int64_t>(next->size);
        }
        return true;
      };
      while (width < std::min(first.alignment, widest_access) && reaches(2 * width)) {
        width *= 2;
      }
      first.width = width;
    }
  }

  // What the access has to be aligned to: as one of those that are moved together, all of them.
  std::pair<MaybeAlign, std::uint64_t> together(Instruction& inst) {
    Align own = getLoadStoreAlignment(&inst);
    std::uint64_t width = size_of(inst);
    if (!isPowerOf2_64(width)) {
      return {own, 0};
    }
    auto [base, offset] = place_of(inst);
    const auto size = static_cast<std::int64_t>(width);
    const piece* widest = nullptr;
    for (const piece& first : neighbours_[{base, std::uint64_t{isa<StoreInst>(inst)}}]) {
      bool is_within = first.offset <= offset &&
                       offset + size <= first.offset + static_cast<std::int64_t>(first.width);
      if (is_within && (!widest || first.width > widest->width)) {
        widest = &first;
      }
    }
    if (!widest || widest->width <= width) {
      return {std::min(own, Align(width)), 0};
    }
    return {Align(widest->width), static_cast<std::uint64_t>(offset - widest->offset)};
  }

  void collect(Instruction& inst, SmallVectorImpl<access>& accesses) {
    auto add = [&](unsigned operand, MaybeAlign alignment, std::uint64_t behind = 0) {
      std::uint64_t wanted = std::min(alignment.valueOrOne().value(), widest_access);
      if (wanted > 1) {
        accesses.push_back({&inst.getOperandUse(operand), Align(wanted), behind});
      }
    };
    if (isa<LoadInst>(inst)) {
      auto [alignment, behind] = together(inst);
      add(LoadInst::getPointerOperandIndex(), alignment, behind);
    } else if (isa<StoreInst>(inst)) {
      auto [alignment, behind] = together(inst);
      add(StoreInst::getPointerOperandIndex(), alignment, behind);
    } else if (auto* update = dyn_cast<AtomicRMWInst>(&inst)) {
      add(AtomicRMWInst::getPointerOperandIndex(), update->getAlign());
    } else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&inst)) {
      add(AtomicCmpXchgInst::getPointerOperandIndex(), exchange->getAlign());
    } else if (auto* copy = dyn_cast<MemIntrinsic>(&inst)) {
      add(0, copy->getDestAlign());
      if (auto* transfer = dyn_cast<MemTransferInst>(copy)) {
        add(1, transfer->getSourceAlign());
      }
    }
  }

  bool is_multiple(Value* value, std::uint64_t scale, Align alignment) const {
    unsigned zeros = llvm::countr_zero(scale);
    return zeros >= Log2(alignment) ||
           computeKnownBits(value, layout_).countMinTrailingZeros() + zeros >= Log2(alignment);
  }

  // Adds the offsets of the geps that lead to `pointer`, and returns where they begin.
  Value* strip(Value* pointer, Align alignment, sum& address) const {
    while (auto* gep = dyn_cast<GEPOperator>(pointer)) {
      MapVector<Value*, APInt> variable;
      APInt constant(64, 0);
      if (!gep->collectOffset(layout_, 64, variable, constant)) {
        break;
      }
      for (auto& [index, scale] : variable) {
        if (!is_multiple(index, scale.getZExtValue(), alignment)) {
          address.loose.push_back({index, scale.getZExtValue()});
        }
      }
      address.constant += constant.getZExtValue();
      pointer = gep->getPointerOperand();
    }
    return pointer;
  }

  // A pointer that walks by whole steps is as aligned as where it starts.
  Value* start_of(PHINode& walking, Align alignment) const {
    Value* start = nullptr;
    for (Value* incoming : walking.incoming_values()) {
      sum steps;
      Value* from = strip(incoming, alignment, steps);
      if (!steps.loose.empty() || steps.constant % alignment.value() != 0) {
        return nullptr;
      }
      if (from == &walking) {
        continue;
      }
      if (start && start != from) {
        return nullptr;
      }
      start = from;
    }
    auto* definition = dyn_cast_or_null<Instruction>(start);
    return definition && !tree_.dominates(definition, &walking) ? nullptr : start;
  }

  sum decompose(Value* pointer, Align alignment) const {
    sum address;
    address.base = strip(pointer, alignment, address);
    while (auto* walking = dyn_cast<PHINode>(address.base)) {
      Value* start = start_of(*walking, alignment);
      if (!start) {
        break;
      }
      address.base = strip(start, alignment, address);
      address.is_chain = false;
    }
    address.constant %= alignment.value();
    address.base_is_aligned = is_multiple(address.base, 1, alignment);
    return address;
  }

  void treat(const access& one) {
    Value* pointer = one.address->get();
    sum address = decompose(pointer, one.alignment);
    address.constant = (address.constant - one.behind) % one.alignment.value();
    // CUDA: a thread's own memory may be accessed at any address; h200/accesses.tsv
    // access.local.load.1.sync
    if (isa<AllocaInst>(address.base)) {
      return;
    }
    bool only_base = address.loose.empty() && address.constant == 0;
    if (only_base && address.base_is_aligned) {
      return;
    }
    if (only_base && address.is_chain) {
      one.address->set(rebuilt(pointer, address.base, one.alignment));
    } else if (address.loose.empty() && address.base_is_aligned) {
      fail_always(one, address.constant);
    } else {
      auto* user = cast<Instruction>(one.address->getUser());
      IRBuilder<> builder(user);
      Value* mark = only_base ? mark_of_base(address.base, one.alignment)
                              : mark_of_sum(builder, address, one.alignment);
      one.address->set(builder.CreateGEP(builder.getInt8Ty(), pointer, mark, "sb.aligned"));
    }
  }

  Value* mark_of(IRBuilder<>& builder, Value* low_bits, Align alignment) const {
    Value* wrong = builder.CreateAnd(low_bits, alignment.value() - 1);
    return builder.CreateShl(wrong, abi::misaligned_shift, "sb.misaligned", true);
  }

  // Right behind the pointer, so that loops find it in front of them.
  Value* mark_of_base(Value* base, Align alignment) {
    Value*& mark = marks_[{base, alignment.value()}];
    if (!mark) {
      IRBuilder<> builder(function_.getContext());
      set_insert_point(builder, base);
      mark = mark_of(builder, builder.CreatePtrToInt(base, builder.getInt64Ty()), alignment);
    }
    return mark;
  }

  Value* mark_of_sum(IRBuilder<>& builder, const sum& address, Align alignment) const {
    Value* total = builder.getInt64(address.constant);
    for (auto [index, scale] : address.loose) {
      Value* wide = builder.CreateSExtOrTrunc(index, builder.getInt64Ty());
      total = builder.CreateAdd(total, builder.CreateMul(wide, builder.getInt64(scale)));
    }
    if (!address.base_is_aligned) {
      total = builder.CreateAdd(total, builder.CreatePtrToInt(address.base, total->getType()));
    }
    return mark_of(builder, total, alignment);
  }

  // The same geps on the marked base.
  Value* rebuilt(Value* pointer, Value* base, Align alignment) {
    Value*& fresh = rebuilt_[{pointer, alignment.value()}];
    if (fresh) {
      return fresh;
    }
    if (pointer == base) {
      Value* mark = mark_of_base(base, alignment);
      IRBuilder<> builder(function_.getContext());
      set_insert_point(builder, isa<Instruction>(mark) ? mark : base);
      return fresh = builder.CreateGEP(builder.getInt8Ty(), base, mark, "sb.aligned");
    }
    auto* gep = cast<GEPOperator>(pointer);
    Value* from = rebuilt(gep->getPointerOperand(), base, alignment);
    Value*& place = rebuilt_[{pointer, alignment.value()}];  // the table may have moved
    if (auto* inst = dyn_cast<GetElementPtrInst>(gep)) {
      Instruction* copy = inst->clone();
      copy->setOperand(GetElementPtrInst::getPointerOperandIndex(), from);
      copy->insertAfter(inst);
      return place = copy;
    }
    IRBuilder<> builder(function_.getContext());
    set_insert_point(builder, from);
    SmallVector<Value*, 4> indices(gep->indices());
    return place = builder.CreateGEP(gep->getSourceElementType(), from, indices);
  }

  void set_insert_point(IRBuilder<>& builder, Value* behind) const {
    auto* inst = dyn_cast<Instruction>(behind);
    auto point = inst ? inst->getInsertionPointAfterDef() : std::nullopt;
    if (point) {
      builder.SetInsertPoint((*point)->getParent(), *point);
    } else {
      BasicBlock& entry = function_.getEntryBlock();
      builder.SetInsertPoint(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
    }
    builder.SetCurrentDebugLocation(DebugLoc());
  }

  // An access that cannot be aligned: LLVM must not conclude that it never happens.
  void fail_always(const access& one, std::uint64_t wrong) const {
    auto* user = cast<Instruction>(one.address->getUser());
    IRBuilder<> builder(user);
    Value* nowhere = builder.CreateIntToPtr(
        builder.getInt64(wrong << abi::misaligned_shift | wrong), one.address->get()->getType());
    one.address->set(nowhere);
    if (auto* load = dyn_cast<LoadInst>(user)) {
      load->setVolatile(true);
    } else if (auto* store = dyn_cast<StoreInst>(user)) {
      store->setVolatile(true);
    } else if (auto* copy = dyn_cast<MemIntrinsic>(user)) {
      copy->setVolatile(builder.getTrue());
    }
  }

  using key = std::pair<Value*, std::uint64_t>;

  Function& function_;
  const DataLayout& layout_;
  DominatorTree tree_;
  // The loads and stores of a block, by where their address begins.
  DenseMap<key, SmallVector<piece, 4>> neighbours_;
  DenseMap<key, Value*> marks_;
  DenseMap<key, Value*> rebuilt_;
};

// The mark as it is made, or the other way round: ((x & bits) << shift), ((x << shift) & bits).
bool is_mark(const Value* value) {
  using namespace PatternMatch;
  constexpr std::uint64_t all = (std::uint64_t{1} << abi::misaligned_bits) - 1;
  const APInt* bits = nullptr;
  if (match(value, m_Shl(m_Value(), m_SpecificInt(abi::misaligned_shift)))) {
    return true;
  }
  return match(value, m_And(m_Value(), m_APInt(bits))) && bits->getBitWidth() == 64 &&
         (bits->getZExtValue() & ~(all << abi::misaligned_shift)) == 0;
}

}  // namespace

void forget_promised_alignment(Module& module, ArrayRef<kernel> kernels) {
  SmallPtrSet<const Function*, 16> bodies;
  for (const kernel& one : kernels) {
    bodies.insert(one.body);
  }
  for (Function& function : module) {
    if (function.isIntrinsic()) {
      continue;
    }
    for (Argument& argument : function.args()) {
      if (!bodies.contains(&function) && !argument.hasByValAttr()) {
        argument.removeAttr(Attribute::Alignment);
      }
    }
    function.removeRetAttr(Attribute::Alignment);
    for (Instruction& inst : instructions(function)) {
      if (auto* load = dyn_cast<LoadInst>(&inst)) {
        load->setMetadata(LLVMContext::MD_align, nullptr);
        limit_to_size(*load, load->getType());
      } else if (auto* store = dyn_cast<StoreInst>(&inst)) {
        limit_to_size(*store, store->getValueOperand()->getType());
      } else if (auto* call = dyn_cast<CallBase>(&inst)) {
        forget_in_attributes(*call);
      }
    }
  }
}

void mark_misaligned_addresses(Module& module) {
  for (Function& function : module) {
    if (!function.isDeclaration()) {
      marker(function).run();
    }
  }
}

bool is_alignment_mark(const Instruction& inst) {
  if (is_mark(&inst)) {
    return true;
  }
  if (auto* gep = dyn_cast<GetElementPtrInst>(&inst)) {
    return gep->getNumIndices() == 1 && is_mark(gep->getOperand(1));
  }
  return inst.hasOneUse() && inst.getOpcode() == Instruction::And && is_mark(inst.user_back());
}

}  // namespace sb::pass
