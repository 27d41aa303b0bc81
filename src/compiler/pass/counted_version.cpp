#include "compiler/pass/counted_version.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/pass/draw_marks.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral counted_mark = "sb-counted";
constexpr StringLiteral joined_mark = "sb.joined";

// Of 32 bits there are instructions that make one number of a warp's; of 64 bits only a sum of
// equal ones can be made, by a product. h200/atomics.tsv
bool can_be_joined(const AtomicRMWInst& atomic, const uniformity& uniform) {
  const unsigned bits = atomic.getType()->getPrimitiveSizeInBits();
  switch (atomic.getOperation()) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
      return bits == 32 || uniform.is_uniform(atomic.getValOperand());
    case AtomicRMWInst::And:
    case AtomicRMWInst::Or:
    case AtomicRMWInst::Xor:
    case AtomicRMWInst::Max:
    case AtomicRMWInst::Min:
    case AtomicRMWInst::UMax:
    case AtomicRMWInst::UMin:
      return bits == 32;
    default:
      return false;
  }
}

// Here the code is inlined and its built-in variables have names.
void mark_joined_atomics(Function& body) {
  SmallVector<AtomicRMWInst*, 4> atomics;
  for (Instruction& inst : instructions(body)) {
    if (auto* atomic = dyn_cast<AtomicRMWInst>(&inst)) {
      atomics.push_back(atomic);
    }
  }
  if (atomics.empty()) {
    return;
  }
  const uniformity uniform(body, team::block);
  for (AtomicRMWInst* atomic : atomics) {
    if (uniform.is_uniform(atomic->getPointerOperand()) && can_be_joined(*atomic, uniform)) {
      atomic->setMetadata(joined_mark, MDNode::get(body.getContext(), {}));
    }
  }
}

}  // namespace

bool is_joined(const Instruction& atomic) { return atomic.hasMetadata(joined_mark); }

bool is_counted(const Function& function) { return function.hasFnAttribute(counted_mark); }

// Functions that are called through pointers stay as they are: what they do is not counted.
Function* counted_versions::copy(Function& function) {
  if (auto found = copies_.find(&function); found != copies_.end()) {
    return found->second;
  }
  ValueToValueMapTy map;
  Function* fresh = CloneFunction(&function, map);
  copies_[&function] = fresh;
  fresh->setLinkage(GlobalValue::InternalLinkage);
  fresh->addFnAttr(counted_mark);
  // Of an instruction only what it loads is told.
  if (is_texture_instruction(function)) {
    return fresh;
  }
  for (Instruction& inst : instructions(*fresh)) {
    auto* call = dyn_cast<CallBase>(&inst);
    Function* callee = call ? call->getCalledFunction() : nullptr;
    if (callee && !callee->isDeclaration()) {
      call->setCalledFunction(copy(*callee));
    }
  }
  return fresh;
}

kernel counted_versions::make(kernel& plain) {
  kernel counted = plain;
  counted.mode = abi::kernel_mode::fibers;
  counted.symbol = plain.symbol + ".counted";
  counted.body = copy(*plain.body);
  counted.body->setName(counted.symbol + ".body");
  mark_joined_atomics(*counted.body);
  counted.draws = mark_draws(*counted.body);
  plain.counted = counted.symbol;
  return counted;
}

}  // namespace sb::pass
