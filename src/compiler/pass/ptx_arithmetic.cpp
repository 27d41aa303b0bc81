// Integer, bit and floating-point instructions of inline PTX.
#include <llvm/ADT/StringSwitch.h>

#include "compiler/pass/ptx_lowering.hpp"

namespace sb::pass {

using namespace llvm;

bool ptx_lowering::lower_integer(const ptx_instruction& inst) {
  auto type = ptx_type::parse(inst.type());
  if (!type || type->is_float() || inst.operands.size() < 2) {
    return false;
  }
  auto& ops = inst.operands;
  auto name = inst.name();
  Value* a = read(ops[1], *type);
  Value* b = ops.size() > 2 ? read(ops[2], *type) : nullptr;
  if (!a || (ops.size() > 2 && !b)) {
    return false;
  }
  bool is_signed = type->is_signed();
  Value* result = nullptr;
  if (ops.size() == 2) {
    if (name == "neg") {
      result = builder_.CreateNeg(a);
    } else if (name == "abs") {
      result = builder_.CreateBinaryIntrinsic(Intrinsic::abs, a, builder_.getFalse());
    } else if (name == "not") {
      result = builder_.CreateNot(a);
    }
  } else if (name == "add") {
    result = builder_.CreateAdd(a, b);
  } else if (name == "sub") {
    result = builder_.CreateSub(a, b);
  } else if (name == "and") {
    result = builder_.CreateAnd(a, b);
  } else if (name == "or") {
    result = builder_.CreateOr(a, b);
  } else if (name == "xor") {
    result = builder_.CreateXor(a, b);
  } else if (name == "min" || name == "max") {
    auto which = name == "min" ? (is_signed ? Intrinsic::smin : Intrinsic::umin)
                               : (is_signed ? Intrinsic::smax : Intrinsic::umax);
    result = builder_.CreateBinaryIntrinsic(which, a, b);
  } else if (name == "div") {
    // Guarded with the rest of the module's divisions afterwards.
    result = is_signed ? builder_.CreateSDiv(a, b) : builder_.CreateUDiv(a, b);
  } else if (name == "rem") {
    result = is_signed ? builder_.CreateSRem(a, b) : builder_.CreateURem(a, b);
  } else if (name == "mul" || name == "mad" || name == "mul24" || name == "mad24") {
    Type* narrow = type->ir(builder_.getContext());
    Type* wide = builder_.getIntNTy(2 * type->bits);
    if (inst.has("lo")) {
      result = builder_.CreateMul(a, b);
    } else {
      auto extend = [&](Value* value) {
        return is_signed ? builder_.CreateSExt(value, wide) : builder_.CreateZExt(value, wide);
      };
      result = builder_.CreateMul(extend(a), extend(b));
      if (inst.has("hi")) {
        result = builder_.CreateTrunc(builder_.CreateLShr(result, type->bits), narrow);
      }
    }
    if (name.starts_with("mad")) {
      if (ops.size() != 4) {
        return false;
      }
      auto addend_type = ptx_type{type->kind, result->getType()->getIntegerBitWidth()};
      Value* c = read(ops[3], addend_type);
      result = c ? builder_.CreateAdd(result, c) : nullptr;
    }
  } else if (name == "sad" && ops.size() == 4) {
    Value* more = is_signed ? builder_.CreateICmpSGT(a, b) : builder_.CreateICmpUGT(a, b);
    Value* distance =
        builder_.CreateSelect(more, builder_.CreateSub(a, b), builder_.CreateSub(b, a));
    Value* c = read(ops[3], *type);
    result = c ? builder_.CreateAdd(distance, c) : nullptr;
  }
  if (!result) {
    return false;
  }
  write(ops[0], result);
  return true;
}

// add.cc, addc.cc, sub.cc, subc, mad.lo.cc, madc.hi ...: long arithmetic through a carry.
bool ptx_lowering::lower_carry(const ptx_instruction& inst) {
  auto name = inst.name();
  bool takes = name == "addc" || name == "subc" || name == "madc";
  bool gives = inst.has("cc");
  auto type = ptx_type::parse(inst.type());
  if ((!takes && !gives) || !type || inst.operands.size() < 3) {
    return false;
  }
  Value* a = read(inst.operands[1], *type);
  Value* b = read(inst.operands[2], *type);
  if (!a || !b) {
    return false;
  }
  if (name.starts_with("mad")) {
    Type* wide = builder_.getIntNTy(2 * type->bits);
    auto extend = [&](Value* value) {
      return type->is_signed() ? builder_.CreateSExt(value, wide)
                               : builder_.CreateZExt(value, wide);
    };
    Value* product = builder_.CreateMul(extend(a), extend(b));
    if (inst.has("hi")) {
      product = builder_.CreateLShr(product, type->bits);
    }
    a = builder_.CreateTrunc(product, a->getType());
    b = inst.operands.size() == 4 ? read(inst.operands[3], *type) : nullptr;
    if (!b) {
      return false;
    }
  }
  bool subtracts = name.starts_with("sub");
  auto which = subtracts ? Intrinsic::usub_with_overflow : Intrinsic::uadd_with_overflow;
  Value* pair = builder_.CreateBinaryIntrinsic(which, a, b);
  Value* result = builder_.CreateExtractValue(pair, 0);
  Value* carry = builder_.CreateExtractValue(pair, 1);
  if (takes) {
    Value* previous = carry_ ? carry_ : builder_.getFalse();
    Value* second =
        builder_.CreateBinaryIntrinsic(which, result, builder_.CreateZExt(previous, a->getType()));
    result = builder_.CreateExtractValue(second, 0);
    carry = builder_.CreateOr(carry, builder_.CreateExtractValue(second, 1));
  }
  if (gives) {
    carry_ = carry;
  }
  write(inst.operands[0], result);
  return true;
}

bool ptx_lowering::lower_bits(const ptx_instruction& inst) {
  auto name = inst.name();
  auto& ops = inst.operands;
  auto type = ptx_type::parse(inst.type());
  auto* word = builder_.getInt32Ty();
  ptx_type u32 = {'u', 32};
  if (!type || ops.size() < 2) {
    return false;
  }
  auto shifted = [&](Value* value, Value* amount, bool left) {
    // Amounts past the width give zero, or the sign.
    Value* wide = builder_.CreateZExtOrTrunc(amount, value->getType());
    Value* limit = ConstantInt::get(value->getType(), type->bits - 1);
    Value* over = builder_.CreateICmpUGT(amount, builder_.getInt32(type->bits - 1));
    if (!left && type->is_signed()) {
      return builder_.CreateAShr(value, builder_.CreateSelect(over, limit, wide));
    }
    Value* safe = builder_.CreateSelect(over, Constant::getNullValue(value->getType()), wide);
    Value* result = left ? builder_.CreateShl(value, safe) : builder_.CreateLShr(value, safe);
    return builder_.CreateSelect(over, Constant::getNullValue(value->getType()), result);
  };
  Value* result = nullptr;
  if ((name == "shl" || name == "shr") && ops.size() == 3) {
    Value* a = read(ops[1], *type);
    Value* b = read(ops[2], u32);
    result = a && b ? shifted(a, b, name == "shl") : nullptr;
  } else if (name == "popc" || name == "clz" || name == "brev" || name == "bfind") {
    Value* a = read(ops[1], *type);
    if (!a) {
      return false;
    }
    if (name == "popc") {
      result = builder_.CreateZExtOrTrunc(builder_.CreateUnaryIntrinsic(Intrinsic::ctpop, a), word);
    } else if (name == "brev") {
      result = builder_.CreateUnaryIntrinsic(Intrinsic::bitreverse, a);
    } else {
      if (name == "bfind" && type->is_signed()) {
        // The highest bit that differs from the sign.
        a = builder_.CreateXor(a, builder_.CreateAShr(a, type->bits - 1));
      }
      Value* zeros = builder_.CreateZExtOrTrunc(
          builder_.CreateBinaryIntrinsic(Intrinsic::ctlz, a, builder_.getFalse()), word);
      result = name == "clz" || inst.has("shiftamt")
                   ? zeros
                   : builder_.CreateSub(builder_.getInt32(type->bits - 1), zeros);
    }
  } else if (name == "bfe" && ops.size() == 4) {
    Value* a = read(ops[1], *type);
    Value* position = read(ops[2], u32);
    Value* length = read(ops[3], u32);
    if (!a || !position || !length) {
      return false;
    }
    position = builder_.CreateAnd(position, 255);
    length = builder_.CreateAnd(length, 255);
    Type* wide = builder_.getIntNTy(128);
    // In 128 bits no amount of the low 8 bits overflows what matters: clamp, then cut.
    auto clamp = [&](Value* value) {
      return builder_.CreateZExt(
          builder_.CreateBinaryIntrinsic(Intrinsic::umin, value, builder_.getInt32(type->bits)),
          wide);
    };
    Value* extended =
        type->is_signed() ? builder_.CreateSExt(a, wide) : builder_.CreateZExt(a, wide);
    Value* moved = type->is_signed() ? builder_.CreateAShr(extended, clamp(position))
                                     : builder_.CreateLShr(extended, clamp(position));
    Value* up = builder_.CreateSub(ConstantInt::get(wide, 127), clamp(length));
    // Two steps, because a length of zero would shift by all 128 bits.
    moved = builder_.CreateShl(builder_.CreateShl(moved, up), ConstantInt::get(wide, 1));
    auto back = [&](Value* value, Value* by) {
      return type->is_signed() ? builder_.CreateAShr(value, by) : builder_.CreateLShr(value, by);
    };
    moved = back(back(moved, up), ConstantInt::get(wide, 1));
    result = builder_.CreateTrunc(moved, a->getType());
  } else if (name == "bfi" && ops.size() == 5) {
    Value* field = read(ops[1], *type);
    Value* target = read(ops[2], *type);
    Value* position = read(ops[3], u32);
    Value* length = read(ops[4], u32);
    if (!field || !target || !position || !length) {
      return false;
    }
    Type* wide = builder_.getIntNTy(128);
    auto amount = [&](Value* value) {
      Value* low = builder_.CreateAnd(value, 255);
      return builder_.CreateZExt(
          builder_.CreateBinaryIntrinsic(Intrinsic::umin, low, builder_.getInt32(64)), wide);
    };
    Value* one = ConstantInt::get(wide, 1);
    Value* mask = builder_.CreateSub(builder_.CreateShl(one, amount(length)), one);
    mask = builder_.CreateShl(mask, amount(position));
    Value* inserted = builder_.CreateShl(builder_.CreateZExt(field, wide), amount(position));
    Value* merged = builder_.CreateOr(
        builder_.CreateAnd(inserted, mask),
        builder_.CreateAnd(builder_.CreateZExt(target, wide), builder_.CreateNot(mask)));
    result = builder_.CreateTrunc(merged, target->getType());
  } else if (name == "prmt" && inst.parts.size() == 2 && ops.size() == 4) {
    Value* a = read(ops[1], u32);
    Value* b = read(ops[2], u32);
    Value* selector = read(ops[3], u32);
    if (!a || !b || !selector) {
      return false;
    }
    auto* wide = builder_.getInt64Ty();
    Value* bytes = builder_.CreateOr(builder_.CreateZExt(a, wide),
                                     builder_.CreateShl(builder_.CreateZExt(b, wide), 32));
    result = builder_.getInt32(0);
    for (unsigned i = 0; i < 4; ++i) {
      Value* pick = builder_.CreateLShr(selector, 4 * i);
      Value* where = builder_.CreateZExt(builder_.CreateShl(builder_.CreateAnd(pick, 7), 3), wide);
      Value* byte = builder_.CreateTrunc(builder_.CreateLShr(bytes, where), builder_.getInt8Ty());
      Value* sign = builder_.CreateAShr(byte, 7);
      Value* replicate = builder_.CreateICmpNE(builder_.CreateAnd(pick, 8), builder_.getInt32(0));
      byte = builder_.CreateZExt(builder_.CreateSelect(replicate, sign, byte), word);
      result = builder_.CreateOr(result, builder_.CreateShl(byte, 8 * i));
    }
  } else if (name == "lop3" && ops.size() == 5) {
    Value* inputs[3];
    for (unsigned i = 0; i < 3; ++i) {
      inputs[i] = read(ops[1 + i], u32);
    }
    auto* table = dyn_cast_or_null<ConstantInt>(read(ops[4], u32));
    if (!inputs[0] || !inputs[1] || !inputs[2] || !table) {
      return false;
    }
    result = builder_.getInt32(0);
    for (unsigned row = 0; row < 8; ++row) {
      if (table->getZExtValue() >> row & 1) {
        Value* term = builder_.getInt32(~0u);
        for (unsigned i = 0; i < 3; ++i) {
          bool set = row >> (2 - i) & 1;
          term = builder_.CreateAnd(term, set ? inputs[i] : builder_.CreateNot(inputs[i]));
        }
        result = builder_.CreateOr(result, term);
      }
    }
  } else if (name == "shf" && ops.size() == 4) {
    Value* low = read(ops[1], u32);
    Value* high = read(ops[2], u32);
    Value* amount = read(ops[3], u32);
    if (!low || !high || !amount) {
      return false;
    }
    amount = inst.has("clamp")
                 ? builder_.CreateBinaryIntrinsic(Intrinsic::umin, amount, builder_.getInt32(32))
                 : builder_.CreateAnd(amount, 31);
    auto* wide = builder_.getInt64Ty();
    Value* both = builder_.CreateOr(builder_.CreateZExt(low, wide),
                                    builder_.CreateShl(builder_.CreateZExt(high, wide), 32));
    Value* by = builder_.CreateZExt(amount, wide);
    both = inst.has("l") ? builder_.CreateLShr(builder_.CreateShl(both, by), 32)
                         : builder_.CreateLShr(both, by);
    result = builder_.CreateTrunc(both, word);
  }
  if (!result) {
    return false;
  }
  write(ops[0], result);
  return true;
}

bool ptx_lowering::lower_float(const ptx_instruction& inst) {
  auto type = ptx_type::parse(inst.type());
  auto& ops = inst.operands;
  if (!type || !type->is_float() || ops.size() < 2) {
    return false;
  }
  auto name = inst.name();
  Value* args[3] = {};
  for (unsigned i = 1; i < ops.size() && i < 4; ++i) {
    args[i - 1] = read(ops[i], *type);
    if (!args[i - 1]) {
      return false;
    }
  }
  Value *a = args[0], *b = args[1], *c = args[2];
  auto* one = ConstantFP::get(a->getType(), 1.0);
  auto unary = [&](Intrinsic::ID id) { return builder_.CreateUnaryIntrinsic(id, a); };
  Value* result = nullptr;
  if (c && (name == "fma" || name == "mad")) {
    result = builder_.CreateIntrinsic(Intrinsic::fma, {a->getType()}, {a, b, c});
  } else if (b && !c) {
    if (name == "add") {
      result = builder_.CreateFAdd(a, b);
    } else if (name == "sub") {
      result = builder_.CreateFSub(a, b);
    } else if (name == "mul") {
      result = builder_.CreateFMul(a, b);
    } else if (name == "div") {
      result = builder_.CreateFDiv(a, b);
    } else if (name == "min") {
      result = builder_.CreateMinNum(a, b);
    } else if (name == "max") {
      result = builder_.CreateMaxNum(a, b);
    } else if (name == "copysign") {
      result = builder_.CreateCopySign(b, a);
    }
  } else if (!b) {
    if (name == "neg") {
      result = builder_.CreateFNeg(a);
    } else if (name == "abs") {
      result = unary(Intrinsic::fabs);
    } else if (name == "sqrt") {
      result = unary(Intrinsic::sqrt);
    } else if (name == "rcp") {
      result = builder_.CreateFDiv(one, a);
    } else if (name == "rsqrt") {
      result = builder_.CreateFDiv(one, unary(Intrinsic::sqrt));
    } else if (name == "sin") {
      result = unary(Intrinsic::sin);
    } else if (name == "cos") {
      result = unary(Intrinsic::cos);
    } else if (name == "ex2") {
      result = unary(Intrinsic::exp2);
    } else if (name == "lg2") {
      result = unary(Intrinsic::log2);
    }
  }
  if (!result) {
    return false;
  }
  if (inst.has("sat")) {
    auto* zero = ConstantFP::get(a->getType(), 0.0);
    result = builder_.CreateMinNum(builder_.CreateMaxNum(result, zero), one);
  }
  write(ops[0], result);
  return true;
}

bool ptx_lowering::lower_compare(const ptx_instruction& inst) {
  auto name = inst.name();
  auto& ops = inst.operands;
  auto type = ptx_type::parse(inst.type());
  if (!type) {
    return false;
  }
  if (name == "selp" && ops.size() == 4) {
    Value* a = read(ops[1], *type);
    Value* b = read(ops[2], *type);
    Value* p = read(ops[3], {'p', 1});
    if (!a || !b || !p) {
      return false;
    }
    write(ops[0], builder_.CreateSelect(p, a, b));
    return true;
  }
  if (name == "setp" && ops.size() == 3 && inst.parts.size() == 3) {
    Value* a = read(ops[1], *type);
    Value* b = read(ops[2], *type);
    if (!a || !b) {
      return false;
    }
    StringRef relation = inst.parts[1];
    bool is_signed = type->is_signed();
    auto predicate = type->is_float()
                         ? StringSwitch<CmpInst::Predicate>(relation)
                               .Case("eq", CmpInst::FCMP_OEQ)
                               .Case("ne", CmpInst::FCMP_ONE)
                               .Case("lt", CmpInst::FCMP_OLT)
                               .Case("le", CmpInst::FCMP_OLE)
                               .Case("gt", CmpInst::FCMP_OGT)
                               .Case("ge", CmpInst::FCMP_OGE)
                               .Case("neu", CmpInst::FCMP_UNE)
                               .Case("equ", CmpInst::FCMP_UEQ)
                               .Case("ltu", CmpInst::FCMP_ULT)
                               .Case("gtu", CmpInst::FCMP_UGT)
                               .Default(CmpInst::BAD_FCMP_PREDICATE)
                         : StringSwitch<CmpInst::Predicate>(relation)
                               .Case("eq", CmpInst::ICMP_EQ)
                               .Case("ne", CmpInst::ICMP_NE)
                               .Case("lt", is_signed ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT)
                               .Case("le", is_signed ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE)
                               .Case("gt", is_signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT)
                               .Case("ge", is_signed ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE)
                               .Case("lo", CmpInst::ICMP_ULT)
                               .Case("ls", CmpInst::ICMP_ULE)
                               .Case("hi", CmpInst::ICMP_UGT)
                               .Case("hs", CmpInst::ICMP_UGE)
                               .Default(CmpInst::BAD_ICMP_PREDICATE);
    if (predicate == CmpInst::BAD_FCMP_PREDICATE || predicate == CmpInst::BAD_ICMP_PREDICATE) {
      return false;
    }
    Value* result = builder_.CreateCmp(predicate, a, b);
    write(ops[0], result);
    if (!ops[0].second.empty()) {
      registers_[ops[0].second] = builder_.CreateNot(result);
    }
    return true;
  }
  if (name == "cvt" && ops.size() == 2 && inst.parts.size() >= 3) {
    auto to = ptx_type::parse(inst.parts[inst.parts.size() - 2]);
    Value* a = to ? read(ops[1], *type) : nullptr;
    if (!a) {
      return false;
    }
    Type* target = to->ir(builder_.getContext());
    Value* result = nullptr;
    if (type->is_float() && to->is_float()) {
      result = builder_.CreateFPCast(a, target);
    } else if (type->is_float()) {
      // Rounds as asked before it cuts; the conversion itself truncates.
      auto mode = inst.has("rni")   ? Intrinsic::rint
                  : inst.has("rmi") ? Intrinsic::floor
                  : inst.has("rpi") ? Intrinsic::ceil
                                    : Intrinsic::trunc;
      a = builder_.CreateUnaryIntrinsic(mode, a);
      auto which = to->is_signed() ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
      result = builder_.CreateIntrinsic(which, {target, a->getType()}, {a});
    } else if (to->is_float()) {
      result =
          type->is_signed() ? builder_.CreateSIToFP(a, target) : builder_.CreateUIToFP(a, target);
    } else if (!inst.has("sat")) {
      result = type->is_signed() ? builder_.CreateSExtOrTrunc(a, target)
                                 : builder_.CreateZExtOrTrunc(a, target);
    }
    if (!result) {
      return false;
    }
    write(ops[0], result);
    return true;
  }
  return false;
}

}  // namespace sb::pass
