// Loads, stores, atomics and asynchronous copies of inline PTX.
#include <llvm/ADT/StringSwitch.h>

#include "compiler/pass/ptx_lowering.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

AtomicOrdering ordering_of(const ptx_instruction& inst, AtomicOrdering otherwise) {
  if (inst.has("acq_rel")) {
    return AtomicOrdering::AcquireRelease;
  }
  if (inst.has("acquire")) {
    return AtomicOrdering::Acquire;
  }
  if (inst.has("release")) {
    return AtomicOrdering::Release;
  }
  return inst.has("relaxed") ? AtomicOrdering::Monotonic : otherwise;
}

Align alignment_of(ptx_type type) { return Align(std::max(1u, type.bits / 8)); }

}  // namespace

Value* ptx_lowering::address(const ptx_instruction& inst, const ptx_operand& operand) {
  if (operand.what != ptx_operand::kind::address) {
    return nullptr;
  }
  Value* base = nullptr;
  if (inst.has("shared")) {
    // Shared addresses count from the start of the block's memory.
    Value* distance = read(operand.name, {'u', 32});
    base = distance ? builder_.CreateGEP(builder_.getInt8Ty(), shared_base(),
                                         builder_.CreateZExt(distance, builder_.getInt64Ty()))
                    : nullptr;
  } else if (Value* number = read(operand.name, {'u', 64})) {
    base = builder_.CreateIntToPtr(number, builder_.getPtrTy());
  }
  return base ? builder_.CreateGEP(builder_.getInt8Ty(), base, builder_.getInt64(operand.offset))
              : nullptr;
}

bool ptx_lowering::lower_memory(const ptx_instruction& inst) {
  auto name = inst.name();
  if (name == "ld" || name == "ldu") {
    return lower_load(inst);
  }
  if (name == "st") {
    return lower_store(inst);
  }
  if (name == "atom" || name == "red") {
    return lower_atomic(inst);
  }
  if (name == "cp") {
    return lower_async_copy(inst);
  }
  return false;
}

bool ptx_lowering::lower_load(const ptx_instruction& inst) {
  auto type = ptx_type::parse(inst.type());
  if (!type || inst.operands.size() != 2 || inst.has("param")) {
    return false;
  }
  Value* from = address(inst, inst.operands[1]);
  if (!from) {
    return false;
  }
  Type* ir = type->ir(builder_.getContext());
  auto ordering = ordering_of(inst, AtomicOrdering::NotAtomic);
  const ptx_operand& target = inst.operands[0];
  bool vector = target.what == ptx_operand::kind::vector;
  unsigned count = vector ? static_cast<unsigned>(target.elements.size()) : 1;
  for (unsigned i = 0; i < count; ++i) {
    Value* place = builder_.CreateConstGEP1_64(ir, from, i);
    auto* load = builder_.CreateAlignedLoad(ir, place, alignment_of(*type), inst.has("volatile"));
    load->setAtomic(ordering);
    if (vector) {
      registers_[target.elements[i]] = load;
    } else {
      // Registers are wider than small types: signed ones arrive extended.
      write(target, type->is_signed() && type->bits < 32
                        ? builder_.CreateSExt(load, builder_.getInt32Ty())
                        : static_cast<Value*>(load));
    }
  }
  return true;
}

bool ptx_lowering::lower_store(const ptx_instruction& inst) {
  auto type = ptx_type::parse(inst.type());
  if (!type || inst.operands.size() != 2 || inst.has("async") || inst.has("param")) {
    return false;
  }
  Value* to = address(inst, inst.operands[0]);
  if (!to) {
    return false;
  }
  Type* ir = type->ir(builder_.getContext());
  auto ordering = ordering_of(inst, AtomicOrdering::NotAtomic);
  const ptx_operand& source = inst.operands[1];
  bool vector = source.what == ptx_operand::kind::vector;
  unsigned count = vector ? static_cast<unsigned>(source.elements.size()) : 1;
  for (unsigned i = 0; i < count; ++i) {
    Value* value = vector ? read(source.elements[i], *type) : read(source, *type);
    if (!value) {
      return false;
    }
    Value* place = builder_.CreateConstGEP1_64(ir, to, i);
    builder_.CreateAlignedStore(value, place, alignment_of(*type), inst.has("volatile"))
        ->setAtomic(ordering);
  }
  return true;
}

// atom.acq_rel.gpu.global.add.u32 d, [a], b; red without d.
bool ptx_lowering::lower_atomic(const ptx_instruction& inst) {
  auto type = ptx_type::parse(inst.type());
  bool returns = inst.name() == "atom";
  unsigned first = returns ? 1 : 0;
  if (!type || inst.operands.size() < first + 2) {
    return false;
  }
  Value* place = address(inst, inst.operands[first]);
  Value* value = read(inst.operands[first + 1], *type);
  if (!place || !value) {
    return false;
  }
  auto ordering = ordering_of(inst, AtomicOrdering::Monotonic);
  Value* result = nullptr;
  if (inst.has("cas")) {
    Value* desired =
        inst.operands.size() == first + 3 ? read(inst.operands[first + 2], *type) : nullptr;
    if (!desired) {
      return false;
    }
    auto* exchange =
        builder_.CreateAtomicCmpXchg(place, value, desired, alignment_of(*type), ordering,
                                     AtomicCmpXchgInst::getStrongestFailureOrdering(ordering));
    result = builder_.CreateExtractValue(exchange, 0);
  } else {
    auto operation = AtomicRMWInst::BAD_BINOP;
    bool real = type->is_float();
    bool is_signed = type->is_signed();
    if (inst.has("add")) {
      operation = real ? AtomicRMWInst::FAdd : AtomicRMWInst::Add;
    } else if (inst.has("min")) {
      operation = is_signed ? AtomicRMWInst::Min : AtomicRMWInst::UMin;
    } else if (inst.has("max")) {
      operation = is_signed ? AtomicRMWInst::Max : AtomicRMWInst::UMax;
    } else if (inst.has("and")) {
      operation = AtomicRMWInst::And;
    } else if (inst.has("or")) {
      operation = AtomicRMWInst::Or;
    } else if (inst.has("xor")) {
      operation = AtomicRMWInst::Xor;
    } else if (inst.has("exch")) {
      operation = AtomicRMWInst::Xchg;
    } else if (inst.has("inc")) {
      operation = AtomicRMWInst::UIncWrap;
    } else if (inst.has("dec")) {
      operation = AtomicRMWInst::UDecWrap;
    }
    if (operation == AtomicRMWInst::BAD_BINOP || (real && operation != AtomicRMWInst::FAdd)) {
      return false;
    }
    result = builder_.CreateAtomicRMW(operation, place, value, alignment_of(*type), ordering);
  }
  if (returns) {
    write(inst.operands[0], result);
  }
  return true;
}

// cp.async copies at once here: whoever waits for it later finds it done.
bool ptx_lowering::lower_async_copy(const ptx_instruction& inst) {
  if (!inst.has("async") || inst.has("bulk") || inst.has("mbarrier")) {
    return false;
  }
  if (inst.has("commit_group") || inst.has("wait_group") || inst.has("wait_all")) {
    return true;
  }
  if (inst.operands.size() < 3) {
    return false;
  }
  ptx_instruction from_global = inst;
  std::erase(from_global.parts, "shared");
  Value* to = address(inst, inst.operands[0]);
  Value* from = address(from_global, inst.operands[1]);
  Value* size = read(inst.operands[2], {'u', 32});
  if (!to || !from || !size) {
    return false;
  }
  if (inst.operands.size() > 3) {
    // Only so many bytes come from the source; the rest is zero.
    Value* source_size = read(inst.operands[3], {'u', 32});
    if (!source_size) {
      return false;
    }
    builder_.CreateMemSet(to, builder_.getInt8(0), size, Align(4));
    size = builder_.CreateBinaryIntrinsic(Intrinsic::umin, size, source_size);
  }
  builder_.CreateMemCpy(to, Align(4), from, Align(4), size);
  return true;
}

}  // namespace sb::pass
