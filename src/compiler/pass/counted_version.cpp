#include "compiler/pass/counted_version.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral counted_mark = "sb-counted";

}  // namespace

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
  plain.counted = counted.symbol;
  return counted;
}

}  // namespace sb::pass
