#include "compiler/pass/linear_warps.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr StringLiteral linear_mark = "sb-linear-warps";
constexpr StringLiteral one_layer = "one-layer", seldom = "seldom";

StringRef builtin_name(const Value* value) {
  auto* call = dyn_cast<CallBase>(value);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee ? callee->getName() : StringRef();
}

bool mentions(const Function& body, std::initializer_list<StringRef> names) {
  return any_of(instructions(body),
                [&](const Instruction& inst) { return is_contained(names, builtin_name(&inst)); });
}

// A sum of products of the thread's place and the block's size, each a letter, in alphabetical
// order: W and H are the block's width and height. None of them is negative, and no sum has a
// factor, so that no part of one that comes to a linear index is larger than that, or wraps.
using products = std::map<std::string, unsigned>;
constexpr unsigned deepest = 6;
constexpr std::size_t most_products = 3, most_factors = 3;

std::optional<products> products_of(const Value* value, unsigned depth = 0) {
  const Value* one = nullptr;
  const Value* other = nullptr;
  if (depth == deepest || !value->getType()->isIntegerTy()) {
    return std::nullopt;
  }
  if (match(value, m_ZExtOrSExt(m_Value(one)))) {
    return products_of(one, depth + 1);
  }
  StringRef name = builtin_name(value);
  const char* letter = name == "__sb_tid_x"    ? "x"
                       : name == "__sb_tid_y"  ? "y"
                       : name == "__sb_tid_z"  ? "z"
                       : name == "__sb_ntid_x" ? "W"
                       : name == "__sb_ntid_y" ? "H"
                                               : nullptr;
  if (letter) {
    return products{{letter, 1}};
  }
  bool sum = match(value, m_Add(m_Value(one), m_Value(other)));
  if (!sum && !match(value, m_Mul(m_Value(one), m_Value(other)))) {
    return std::nullopt;
  }
  auto first = products_of(one, depth + 1);
  auto second = first ? products_of(other, depth + 1) : std::nullopt;
  if (!second) {
    return std::nullopt;
  }
  products made;
  if (sum) {
    made = *first;
    for (auto& [factors, count] : *second) {
      made[factors] += count;
    }
  } else {
    for (auto& [some, count] : *first) {
      for (auto& [more, times] : *second) {
        std::string factors = some + more;
        sort(factors);
        made[factors] += count * times;
      }
    }
  }
  bool small = made.size() <= most_products && all_of(made, [](const auto& one) {
                 return one.first.size() <= most_factors && one.second == 1;
               });
  return small ? std::optional(made) : std::nullopt;
}

// Puts the builtin where the code computes a linear index by itself.
void name_linear_index(Function& body, const products& linear) {
  std::vector<Instruction*> found;
  for (Instruction& inst : instructions(body)) {
    if (inst.getOpcode() == Instruction::Add && products_of(&inst) == linear) {
      found.push_back(&inst);
    }
  }
  for (Instruction* inst : found) {
    IRBuilder<> builder(inst);
    auto index = builtin_function(*body.getParent(), "__sb_linear_tid", builder.getInt32Ty());
    inst->replaceAllUsesWith(builder.CreateZExtOrTrunc(builder.CreateCall(index), inst->getType()));
  }
  SmallVector<WeakTrackingVH, 8> dead(found.begin(), found.end());
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead);
}

}  // namespace

bool takes_rows(const kernel& kernel) {
  return mentions(*kernel.body, {"__sb_tid_y"}) && !mentions(*kernel.body, {"__sb_tid_z"});
}

void make_warps_linear(const kernel& kernel, linear_blocks serves) {
  Function& body = *kernel.body;
  bool layers = serves == linear_blocks::all;
  bool knows_rows = mentions(body, {"__sb_tid_y", "__sb_tid_z", "__sb_linear_tid"});
  bool is_seldom = layers && (takes_rows(kernel) || !knows_rows);
  products linear = {{"x", 1}, {"Wy", 1}};
  if (layers) {
    linear["HWz"] = 1;
  }
  name_linear_index(body, linear);
  if (is_seldom) {
    body.addFnAttr(Attribute::OptimizeForSize);
  }
  body.addFnAttr(linear_mark, !layers ? one_layer : is_seldom ? seldom : StringLiteral(""));
}

bool has_linear_warps(const Function& function) { return function.hasFnAttribute(linear_mark); }

bool is_for_one_layer(const Function& function) {
  return function.getFnAttribute(linear_mark).getValueAsString() == one_layer;
}

bool is_seldom_run(const Function& function) {
  return function.getFnAttribute(linear_mark).getValueAsString() == seldom;
}

Function* without_vectors(Function& warp) {
  ValueToValueMapTy map;
  Function* copy = CloneFunction(&warp, map);
  LLVMContext& context = copy->getContext();
  for (BasicBlock& block : *copy) {
    if (!block.getTerminator()->hasMetadata(LLVMContext::MD_loop)) {
      continue;
    }
    Metadata* no = ConstantAsMetadata::get(ConstantInt::getFalse(context));
    Metadata* told[] = {
        nullptr,
        MDNode::get(context, {MDString::get(context, "llvm.loop.vectorize.enable"), no}),
        MDNode::get(context, MDString::get(context, "llvm.loop.unroll.disable")),
    };
    MDNode* id = MDNode::getDistinct(context, told);
    id->replaceOperandWith(0, id);
    block.getTerminator()->setMetadata(LLVMContext::MD_loop, id);
  }
  return copy;
}

thread_place place_of(IRBuilder<>& builder, Value* linear) {
  const Function& function = *builder.GetInsertBlock()->getParent();
  Module& module = *builder.GetInsertBlock()->getModule();
  // Blocks have up to 1024 threads, and n / d is n * ceil(2^20 / d) >> 20 for n and d up to that:
  // what the factor is too large by, less than d / d, comes to less than 1 / d in the quotient.
  auto divided = [&](Value* number, Value* by) {
    Value* one = builder.getInt32(1u << 20);
    Value* rounded = builder.CreateNUWAdd(one, builder.CreateNUWSub(by, builder.getInt32(1)));
    Value* factor = builder.CreateUDiv(rounded, by);
    return builder.CreateLShr(builder.CreateNUWMul(number, factor), 20);
  };
  auto size = [&](StringRef name) {
    return builder.CreateCall(builtin_function(module, name, builder.getInt32Ty()));
  };
  Value* width = size("__sb_ntid_x");
  Value* row = divided(linear, width);
  Value* x = builder.CreateNUWSub(linear, builder.CreateNUWMul(row, width));
  if (is_for_one_layer(function)) {
    return {{x, row, builder.getInt32(0)}};
  }
  Value* height = size("__sb_ntid_y");
  Value* z = divided(row, height);
  return {{x, builder.CreateNUWSub(row, builder.CreateNUWMul(z, height)), z}};
}

}  // namespace sb::pass
