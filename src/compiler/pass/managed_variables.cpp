#include "compiler/pass/managed_variables.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ReplaceConstant.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral managed_mark = "sb-managed";

void lower(GlobalVariable& variable) {
  Module& module = *variable.getParent();
  auto* pointer = PointerType::getUnqual(module.getContext());
  auto* holder =
      new GlobalVariable(module, pointer, false, GlobalValue::ExternalLinkage,
                         ConstantPointerNull::get(pointer), variable.getName() + ".sb_managed");
  holder->setVisibility(GlobalValue::ProtectedVisibility);
  holder->setDSOLocal(true);

  variable.removeDeadConstantUsers();
  convertUsersOfConstantsToInstructions({&variable});
  DenseMap<Function*, Value*> addresses;
  for (Use& use : make_early_inc_range(variable.uses())) {
    auto* user = dyn_cast<Instruction>(use.getUser());
    if (!user) {
      module.getContext().emitError("the address of __managed__ variable '" + variable.getName() +
                                    "' is not a constant: it cannot initialise another variable");
      continue;
    }
    Value*& address = addresses[user->getFunction()];
    if (!address) {
      IRBuilder<> builder(&*user->getFunction()->getEntryBlock().getFirstInsertionPt());
      address = load_field(builder, pointer, holder, 0, "sb.managed", true);
    }
    use.set(address);
  }
  if (!variable.use_empty()) {
    return;
  }
  // The runtime copies the initial value into the host's variable; where it is zero, nothing is
  // kept.
  if (variable.hasInitializer() && !variable.getInitializer()->isNullValue()) {
    variable.setLinkage(GlobalValue::ExternalLinkage);
    variable.setVisibility(GlobalValue::ProtectedVisibility);
  } else {
    variable.eraseFromParent();
  }
}

}  // namespace

void mark_managed(GlobalVariable& variable) { variable.addAttribute(managed_mark); }

void lower_managed_variables(Module& module) {
  for (GlobalVariable& variable : make_early_inc_range(module.globals())) {
    if (variable.hasAttribute(managed_mark)) {
      lower(variable);
    }
  }
}

}  // namespace sb::pass
