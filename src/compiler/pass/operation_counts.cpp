#include "compiler/pass/operation_counts.hpp"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "compiler/pass/address_spaces.hpp"
#include "compiler/pass/alignment.hpp"
#include "compiler/pass/counted_version.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/shifts.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr unsigned most_steps_to_object = 16;

bool is_entry_argument(const Value* value, unsigned number) {
  auto* argument = dyn_cast<Argument>(value);
  return argument && argument->getArgNo() == number && is_counted_entry(*argument->getParent());
}

bool is_self(const Value* value) {
  auto* call = dyn_cast<CallBase>(value);
  return is_entry_argument(value, 1) || (call && lowered_slot(*call) == slot::self);
}

// The offset in `self` or in its block from which the value was loaded.
std::optional<std::int64_t> loaded_from(const Value* value, bool (*is_object)(const Value*)) {
  auto* load = dyn_cast<LoadInst>(value);
  if (!load) {
    return std::nullopt;
  }
  std::int64_t offset = 0;
  const Value* object =
      GetPointerBaseWithConstantOffset(load->getPointerOperand(), offset, load->getDataLayout());
  return is_object(object) ? std::optional(offset) : std::nullopt;
}

bool is_block(const Value* value) {
  return loaded_from(value, is_self) == offsetof(abi::thread_context, block);
}

bool is_table(const Value* value) {
  auto* variable = dyn_cast<GlobalVariable>(value);
  return variable && variable->getName() == "__sb_table";
}

// Memory through which a table slot answers; the device has registers for that.
bool takes_answers(const AllocaInst& memory) {
  return any_of(memory.users(), [](const User* user) {
    auto* call = dyn_cast<CallBase>(user);
    return call && lowered_slot(*call);
  });
}

space space_of_object(const Value* object) {
  if (auto* memory = dyn_cast<AllocaInst>(object)) {
    return takes_answers(*memory) ? space::own : space::local;
  }
  if (is_self(object) || is_block(object) || is_entry_argument(object, 0) || is_table(object) ||
      loaded_from(object, is_table)) {
    return space::own;
  }
  if (auto* variable = dyn_cast<GlobalVariable>(object)) {
    if (variable->getName().ends_with(".sb_managed")) {
      return space::own;
    }
    return variable->isConstant() || is_constant(*variable) ? space::constant : space::global;
  }
  auto offset = loaded_from(object, is_block);
  return offset == offsetof(abi::block_context, shared) ||
                 offset == offsetof(abi::block_context, dynamic_shared)
             ? space::shared
             : space::global;
}

}  // namespace

space space_of(const Value* pointer) {
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(pointer, objects, nullptr, most_steps_to_object);
  space result = objects.empty() ? space::global : space_of_object(objects[0]);
  for (const Value* object : drop_begin(objects, objects.empty() ? 0 : 1)) {
    if (space_of_object(object) != result) {
      return space::global;
    }
  }
  return result;
}

namespace {

std::optional<std::size_t> load_kind(const Value* pointer) {
  switch (space_of(pointer)) {
    case space::own:
      return std::nullopt;
    case space::global:
      return SB_COUNT(global_loaded);
    case space::shared:
      return SB_COUNT(shared_loaded);
    case space::local:
      return SB_COUNT(local_loaded);
    case space::constant:
      return SB_COUNT(constant_loaded);
  }
  return std::nullopt;
}

std::optional<std::size_t> store_kind(const Value* pointer) {
  switch (space_of(pointer)) {
    case space::global:
      return SB_COUNT(global_stored);
    case space::shared:
      return SB_COUNT(shared_stored);
    case space::local:
      return SB_COUNT(local_stored);
    case space::own:
    case space::constant:
      return std::nullopt;
  }
  return std::nullopt;
}

std::size_t float_kind(const Type* type) {
  const Type* scalar = type->getScalarType();
  return scalar->isDoubleTy()  ? SB_COUNT(fp64)
         : scalar->isFloatTy() ? SB_COUNT(fp32)
                               : SB_COUNT(fp16);
}

std::uint64_t elements(const Type* type) {
  auto* vector = dyn_cast<FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

// What a mathematical function takes, by its name without the suffix of the type: operations of
// the type, or nothing for one that is more than arithmetic.
std::optional<unsigned> plain_operations(StringRef name) {
  return StringSwitch<std::optional<unsigned>>(name)
      .Cases("fma", "fmuladd", 2)
      .Cases("fmin", "fmax", "minnum", "maxnum", "minimum", "maximum", 1)
      .Cases("floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven", 1)
      // The device changes signs for nothing.
      .Cases("fabs", "copysign", "canonicalize", 0)
      .Default(std::nullopt);
}

}  // namespace

bool is_counted_entry(const Function& function) {
  return is_counted(function) && function.getName().ends_with(".counted.entry");
}

void operation_counts::add(Instruction& inst) {
  auto count = [&](std::optional<std::size_t> kind, std::uint64_t amount) {
    if (kind) {
      fixed[*kind] += amount;
    }
  };
  if (is_alignment_mark(inst) || clamps_shift(inst)) {
    return;
  }
  const DataLayout& layout = inst.getDataLayout();
  auto bytes = [&](Type* type) { return layout.getTypeStoreSize(type).getFixedValue(); };
  Type* type = inst.getType();

  if (auto* load = dyn_cast<LoadInst>(&inst)) {
    count(load_kind(load->getPointerOperand()), bytes(type));
  } else if (auto* store = dyn_cast<StoreInst>(&inst)) {
    count(store_kind(store->getPointerOperand()), bytes(store->getValueOperand()->getType()));
  } else if (isa<AtomicRMWInst, AtomicCmpXchgInst>(inst)) {
    count(SB_COUNT(atomics), 1);
    if (space_of(inst.getOperand(0)) == space::shared) {  // the address, in both
      count(SB_COUNT(shared_atomics), 1);
    }
  } else if (auto* copy = dyn_cast<MemIntrinsic>(&inst)) {
    auto* transfer = dyn_cast<MemTransferInst>(copy);
    auto touched = [&](std::optional<std::size_t> kind) {
      if (auto* fixed_length = dyn_cast<ConstantInt>(copy->getLength())) {
        count(kind, fixed_length->getZExtValue());
      } else if (kind) {
        lengths.push_back({*kind, copy->getLength()});
      }
    };
    touched(store_kind(copy->getRawDest()));
    if (transfer) {
      touched(load_kind(transfer->getRawSource()));
    }
  } else if (auto* call = dyn_cast<CallBase>(&inst)) {
    if (auto which = lowered_slot(*call)) {
      if (*which == slot::barrier || *which == slot::grid_sync) {
        count(SB_COUNT(barriers), 1);
      } else if (is_convergent(*which)) {
        count(SB_COUNT(warp_operations), 1);
      }
      return;
    }
    Function* callee = call->getCalledFunction();
    if (callee && is_texture_instruction(*callee)) {
      count(SB_COUNT(global_loaded), texture_bytes(*call));
      return;
    }
    if (!callee || !callee->isDeclaration() || call->isDebugOrPseudoInst() ||
        call->isLifetimeStartOrEnd()) {
      return;
    }
    if (type->isFPOrFPVectorTy()) {
      // llvm.fma.f32, fmaf, fma
      StringRef name = callee->getName();
      name = callee->isIntrinsic() ? name.drop_front(5).split('.').first : name;
      auto plain = plain_operations(name);
      if (!plain && type->isFloatTy() && name.ends_with("f")) {
        plain = plain_operations(name.drop_back());
      }
      count(plain ? float_kind(type) : SB_COUNT(special), plain.value_or(1) * elements(type));
    } else if (callee->isIntrinsic() && type->isIntOrIntVectorTy() && call->doesNotAccessMemory()) {
      count(SB_COUNT(integer), elements(type));
    } else if (!callee->isIntrinsic() && call->arg_size() != 0 &&
               call->getArgOperand(0)->getType()->isFloatingPointTy()) {
      count(SB_COUNT(special), 1);  // sincosf, lrintf
    }
  } else if (auto* address = dyn_cast<GetElementPtrInst>(&inst)) {
    count(SB_COUNT(integer),
          count_if(address->indices(), [](const Use& index) { return !isa<Constant>(index); }));
  } else if (inst.isBinaryOp() || isa<CmpInst>(inst)) {
    Type* operand = inst.getOperand(0)->getType();
    bool special = inst.getOpcode() == Instruction::FDiv || inst.getOpcode() == Instruction::FRem;
    std::size_t kind = !operand->isFPOrFPVectorTy() ? SB_COUNT(integer)
                       : special                    ? SB_COUNT(special)
                                                    : float_kind(operand);
    count(kind, elements(operand));
  } else if (isa<SelectInst, FPToSIInst, FPToUIInst, SIToFPInst, UIToFPInst, FPExtInst,
                 FPTruncInst>(inst)) {
    count(SB_COUNT(integer), elements(type));
  }
}

void operation_counts::add(const block_cost& cost) {
  fixed[issued] += cost.issued;
  fixed[steps] += cost.steps;
  fixed[loads] += cost.loads;
  fixed[SB_COUNT(fp32_issued)] += cost.fp32;
  fixed[SB_COUNT(fp64_issued)] += cost.fp64;
  fixed[SB_COUNT(logic)] += cost.logic;
  fixed[SB_COUNT(special_steps)] += cost.special;
}

}  // namespace sb::pass
