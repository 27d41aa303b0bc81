#include "compiler/pass/ptx_lowering.hpp"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace sb::pass {

using namespace llvm;

std::optional<ptx_type> ptx_type::parse(std::string_view text) {
  if (text == "pred") {
    return ptx_type{'p', 1};
  }
  ptx_type type;
  if (text.size() < 2 || StringRef("usbf").find(text[0]) == StringRef::npos ||
      !to_integer(StringRef(text).drop_front(), type.bits, 10) || type.bits > 64) {
    return std::nullopt;
  }
  type.kind = text[0];
  return type;
}

Type* ptx_type::ir(LLVMContext& context) const {
  if (kind == 'f') {
    return bits == 16   ? Type::getHalfTy(context)
           : bits == 32 ? Type::getFloatTy(context)
                        : Type::getDoubleTy(context);
  }
  return Type::getIntNTy(context, bits);
}

Value* ptx_lowering::fit(Value* value, Type* type, bool is_signed) {
  Type* from = value->getType();
  if (from == type) {
    return value;
  }
  if (from->isPointerTy()) {
    value = builder_.CreatePtrToInt(value, builder_.getInt64Ty());
  } else if (!from->isIntegerTy()) {
    value = builder_.CreateBitCast(value, builder_.getIntNTy(from->getPrimitiveSizeInBits()));
  }
  if (type->isPointerTy()) {
    return builder_.CreateIntToPtr(builder_.CreateZExtOrTrunc(value, builder_.getInt64Ty()), type);
  }
  auto* word = builder_.getIntNTy(type->getPrimitiveSizeInBits());
  value =
      is_signed ? builder_.CreateSExtOrTrunc(value, word) : builder_.CreateZExtOrTrunc(value, word);
  return builder_.CreateBitCast(value, type);
}

Value* ptx_lowering::builtin(const char* name) {
  return builder_.CreateCall(builtin_function(*at_->getModule(), name, builder_.getInt32Ty()));
}

Value* ptx_lowering::shared_base() {
  return builder_.CreateCall(
      builtin_function(*at_->getModule(), "__sb_shared_base", builder_.getPtrTy()));
}

Value* ptx_lowering::runtime(slot which, Type* result, ArrayRef<Value*> args) {
  SmallVector<Type*, 6> types;
  for (Value* arg : args) {
    types.push_back(arg->getType());
  }
  auto* call = builder_.CreateCall(runtime_function(*at_->getModule(), which, result, types), args);
  if (is_convergent(which)) {
    call->setConvergent();
  }
  return call;
}

Value* ptx_lowering::special_register(StringRef name) {
  auto* word = builder_.getInt32Ty();
  auto* wide = builder_.getInt64Ty();
  if (name.consume_front("%")) {
    if (name == "clock64" || name == "clock" || name == "clock_hi") {
      Value* now = runtime(slot::clock, wide, {});
      return name == "clock64" ? now
             : name == "clock" ? builder_.CreateTrunc(now, word)
                               : builder_.CreateTrunc(builder_.CreateLShr(now, 32), word);
    }
    if (name == "globaltimer" || name == "globaltimer_lo" || name == "globaltimer_hi") {
      Value* now = runtime(slot::global_timer, wide, {});
      return name == "globaltimer"      ? now
             : name == "globaltimer_lo" ? builder_.CreateTrunc(now, word)
                                        : builder_.CreateTrunc(builder_.CreateLShr(now, 32), word);
    }
    if (name == "laneid") {
      return builtin("__sb_laneid");
    }
    if (name == "warpid") {
      return builtin("__sb_warpid");
    }
    if (name == "nwarpid") {
      return builder_.getInt32(64);
    }
    if (name == "smid") {
      return runtime(slot::sm_id, word, {});
    }
    if (name == "dynamic_smem_size") {
      return builtin("__sb_dynamic_shared_bytes");
    }
    for (const char* index : {"tid", "ntid", "ctaid", "nctaid"}) {
      if (name.size() == StringRef(index).size() + 2 && name.starts_with(index) &&
          name[name.size() - 2] == '.') {
        return builtin(("__sb_" + Twine(index) + "_" + name.take_back(1)).str().c_str());
      }
    }
    if (name.starts_with("lanemask_")) {
      Value* bit = builder_.CreateShl(builder_.getInt32(1), builtin("__sb_laneid"));
      Value* below = builder_.CreateSub(bit, builder_.getInt32(1));
      StringRef which = name.drop_front(StringRef("lanemask_").size());
      return which == "eq"   ? bit
             : which == "lt" ? below
             : which == "le" ? builder_.CreateOr(below, bit)
             : which == "ge" ? builder_.CreateNot(below)
             : which == "gt" ? builder_.CreateNot(builder_.CreateOr(below, bit))
                             : nullptr;
    }
    return nullptr;
  }
  return name == "WARP_SZ" ? builder_.getInt32(32) : nullptr;
}

Value* ptx_lowering::read(StringRef name, ptx_type type) {
  Type* ir = type.ir(builder_.getContext());
  Value* value = registers_.lookup(name);
  if (!value) {
    value = special_register(name);
  }
  if (value) {
    return fit(value, ir, type.is_signed());
  }
  std::uint64_t bits = 0;
  long long number = 0;
  if (name.size() == 10 && name.starts_with_insensitive("0f") &&
      to_integer(name.drop_front(2), bits, 16)) {
    return fit(builder_.getInt32(static_cast<std::uint32_t>(bits)), ir);
  }
  if (name.size() == 18 && name.starts_with_insensitive("0d") &&
      to_integer(name.drop_front(2), bits, 16)) {
    return fit(builder_.getInt64(bits), ir);
  }
  name.consume_back("U");
  if (to_integer(name, number, 0) || to_integer(name, bits, 0)) {
    std::uint64_t value64 = number != 0 ? static_cast<std::uint64_t>(number) : bits;
    return type.is_float() ? ConstantFP::get(ir, double(number)) : ConstantInt::get(ir, value64);
  }
  double real = 0;
  if (type.is_float() && !name.getAsDouble(real)) {
    return ConstantFP::get(ir, real);
  }
  return nullptr;
}

Value* ptx_lowering::read(const ptx_operand& operand, ptx_type type) {
  if (operand.what != ptx_operand::kind::value) {
    return nullptr;
  }
  Value* value = read(operand.name, type);
  return value && operand.negated ? builder_.CreateNot(value) : value;
}

void ptx_lowering::write(const ptx_operand& operand, Value* value) {
  if (operand.name != "_") {
    registers_[operand.name] = value;
  }
}

Value* ptx_lowering::guard(const ptx_instruction& inst) {
  if (inst.guard.empty()) {
    return builder_.getTrue();
  }
  Value* condition = read(inst.guard, {'p', 1});
  return condition && inst.guard_negated ? builder_.CreateNot(condition) : condition;
}

bool ptx_lowering::lower(const ptx_instruction& inst) {
  if (inst.guard.empty()) {
    return lower_unguarded(inst);
  }
  Value* condition = guard(inst);
  if (!condition) {
    return false;
  }
  // The instruction in a block of its own; registers that it writes keep their value otherwise.
  BasicBlock* before = at_->getParent();
  Instruction* end = SplitBlockAndInsertIfThen(condition, at_, false);
  BasicBlock* taken = end->getParent();
  StringMap<Value*> old = registers_;
  builder_.SetInsertPoint(end);
  bool known = lower_unguarded(inst);
  builder_.SetInsertPoint(at_->getParent(), at_->getParent()->getFirstInsertionPt());
  for (auto& entry : registers_) {
    Value* previous = old.lookup(entry.first());
    if (previous == entry.second) {
      continue;
    }
    PHINode* merged = builder_.CreatePHI(entry.second->getType(), 2);
    merged->addIncoming(entry.second, taken);
    Value* other = previous ? previous : PoisonValue::get(entry.second->getType());
    if (other->getType() != merged->getType()) {
      IRBuilder<> above(before->getTerminator());
      other = above.CreateBitOrPointerCast(other, merged->getType());
    }
    merged->addIncoming(other, before);
    entry.second = merged;
  }
  builder_.SetInsertPoint(at_);
  return known;
}

bool ptx_lowering::lower_unguarded(const ptx_instruction& inst) {
  return lower_threads(inst) || lower_memory(inst) || lower_move(inst) || lower_carry(inst) ||
         lower_compare(inst) || lower_bits(inst) || lower_float(inst) || lower_integer(inst);
}

bool ptx_lowering::lower_move(const ptx_instruction& inst) {
  auto type = ptx_type::parse(inst.type());
  if (inst.operands.size() != 2 || !type) {
    return false;
  }
  const ptx_operand& target = inst.operands[0];
  const ptx_operand& source = inst.operands[1];
  if (inst.name() == "mov" && target.what == ptx_operand::kind::vector) {
    // mov.b64 {lo, hi}, x
    unsigned bits = type->bits / static_cast<unsigned>(target.elements.size());
    Value* whole = read(source, {'b', type->bits});
    for (unsigned i = 0; whole && i < target.elements.size(); ++i) {
      Value* part = builder_.CreateLShr(whole, i * bits);
      registers_[target.elements[i]] = builder_.CreateTrunc(part, builder_.getIntNTy(bits));
    }
    return whole;
  }
  if (inst.name() == "mov" && source.what == ptx_operand::kind::vector) {
    // mov.b64 x, {lo, hi}
    unsigned bits = type->bits / static_cast<unsigned>(source.elements.size());
    Type* wide = builder_.getIntNTy(type->bits);
    Value* whole = ConstantInt::get(wide, 0);
    for (unsigned i = 0; i < source.elements.size(); ++i) {
      Value* part = read(source.elements[i], {'b', bits});
      if (!part) {
        return false;
      }
      whole =
          builder_.CreateOr(whole, builder_.CreateShl(builder_.CreateZExt(part, wide), i * bits));
    }
    write(target, whole);
    return true;
  }
  if (inst.name() == "mov") {
    Value* value = read(source, *type);
    if (value) {
      write(target, value);
    }
    return value;
  }
  if (inst.name() == "cvta") {
    Value* value = read(source, {'u', 64});
    if (value && inst.has("shared")) {
      Value* base = builder_.CreatePtrToInt(shared_base(), builder_.getInt64Ty());
      value = inst.has("to") ? builder_.CreateSub(value, base) : builder_.CreateAdd(value, base);
    }
    if (value) {
      write(target, fit(value, type->ir(builder_.getContext())));
    }
    return value;
  }
  return false;
}

bool ptx_lowering::lower_threads(const ptx_instruction& inst) {
  auto name = inst.name();
  auto* word = builder_.getInt32Ty();
  auto* nothing = builder_.getVoidTy();
  auto operand = [&](unsigned i) {
    return i < inst.operands.size() ? read(inst.operands[i], {'b', 32}) : nullptr;
  };
  // No debugger is there: a breakpoint ends the kernel; h200/faults.tsv brkpt.
  if (name == "trap" || name == "brkpt") {
    runtime(slot::trap, nothing, {});
    return true;
  }
  // A kernel begins when those before it have ended: `griddepcontrol` has nothing to wait for and
  // nobody to let go on.
  if (name == "pmevent" || name == "prefetch" || name == "prefetchu" || name == "griddepcontrol") {
    return true;
  }
  if (name == "membar" || (name == "fence" && !inst.has("proxy"))) {
    builder_.CreateFence(inst.has("sc") || name == "membar" ? AtomicOrdering::SequentiallyConsistent
                                                            : AtomicOrdering::AcquireRelease);
    return true;
  }
  if (name == "nanosleep") {
    Value* ns = operand(0);
    return ns && runtime(slot::nanosleep, nothing, {ns});
  }
  if (name == "activemask") {
    write(inst.operands[0], runtime(slot::active_mask, word, {}));
    return true;
  }
  if (name == "bar" || name == "barrier") {
    if (inst.has("warp") && operand(0)) {
      runtime(slot::warp_sync, nothing, {operand(0)});
      return true;
    }
    // Barrier 0 of the whole block; named ones and counts of threads are another matter.
    auto* id = inst.operands.size() == 1 ? dyn_cast_or_null<ConstantInt>(operand(0)) : nullptr;
    bool whole = id && id->isZero() && inst.has("sync") && !inst.has("cluster");
    return whole && runtime(slot::barrier, word, {builder_.getInt32(0), builder_.getInt32(0)});
  }
  if (name == "vote" && inst.has("sync") && inst.operands.size() == 3) {
    unsigned kind = inst.has("all") ? 0 : inst.has("any") ? 1 : inst.has("uni") ? 2 : 3;
    Value* predicate = read(inst.operands[1], {'p', 1});
    if (!predicate) {
      return false;
    }
    Value* result =
        runtime(slot::vote, word,
                {operand(2), builder_.getInt32(kind), builder_.CreateZExt(predicate, word)});
    write(inst.operands[0],
          kind == 3 ? result : builder_.CreateICmpNE(result, builder_.getInt32(0)));
    return true;
  }
  if (name == "shfl" && inst.has("sync") && inst.operands.size() == 5) {
    unsigned kind = inst.has("idx") ? 0 : inst.has("up") ? 1 : inst.has("down") ? 2 : 3;
    Value* value = operand(1);
    Value* lane = operand(2);
    Value* clamp = operand(3);
    Value* mask = operand(4);
    if (!value || !lane || !clamp || !mask) {
      return false;
    }
    // Bits 8-12 say which lanes form a segment.
    Value* segment = builder_.CreateAnd(builder_.CreateLShr(clamp, 8), 31);
    Value* width = builder_.CreateSub(builder_.getInt32(32), segment);
    IRBuilder<> entry(&*at_->getFunction()->getEntryBlock().getFirstInsertionPt());
    Value* in_range = entry.CreateAlloca(word);
    Value* result =
        runtime(slot::shuffle, builder_.getInt64Ty(),
                {mask, builder_.getInt32(kind), builder_.CreateZExt(value, builder_.getInt64Ty()),
                 lane, width, in_range});
    write(inst.operands[0], builder_.CreateTrunc(result, word));
    if (!inst.operands[0].second.empty()) {
      registers_[inst.operands[0].second] =
          builder_.CreateICmpNE(builder_.CreateLoad(word, in_range), builder_.getInt32(0));
    }
    return true;
  }
  if (name == "redux" && inst.operands.size() == 3) {
    bool is_signed = inst.type() == "s32";
    unsigned kind = inst.has("add")   ? 0
                    : inst.has("min") ? (is_signed ? 1 : 3)
                    : inst.has("max") ? (is_signed ? 2 : 4)
                    : inst.has("and") ? 5
                    : inst.has("or")  ? 6
                                      : 7;
    write(inst.operands[0],
          runtime(slot::reduce, word, {operand(2), builder_.getInt32(kind), operand(1)}));
    return true;
  }
  return false;
}

}  // namespace sb::pass
