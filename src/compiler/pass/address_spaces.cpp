#include "compiler/pass/address_spaces.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral shared_mark = "sb-shared";
constexpr StringLiteral constant_mark = "sb-constant";

GlobalVariable* move_to_default_space(GlobalVariable& old) {
  auto* fresh =
      new GlobalVariable(*old.getParent(), old.getValueType(), false, old.getLinkage(), nullptr, "",
                         &old, GlobalValue::NotThreadLocal, 0, old.isExternallyInitialized());
  fresh->copyAttributesFrom(&old);
  fresh->takeName(&old);
  fresh->setComdat(nullptr);
  SmallVector<DIGlobalVariableExpression*, 1> debug;
  old.getDebugInfo(debug);
  for (auto* one : debug) {
    fresh->addDebugInfo(one);
  }
  if (old.hasInitializer()) {
    Constant* value = old.getInitializer();
    old.setInitializer(nullptr);
    fresh->setInitializer(value);
  }
  if (old.getAddressSpace() == shared_space) {
    fresh->addAttribute(shared_mark);
    if (!fresh->isDeclaration()) {
      fresh->setLinkage(GlobalValue::InternalLinkage);
      fresh->setVisibility(GlobalValue::DefaultVisibility);
    }
  } else if (!fresh->hasLocalLinkage()) {
    // One module holds the whole program: weak and inline variables have their definition here.
    if (!fresh->isDeclaration()) {
      fresh->setLinkage(GlobalValue::ExternalLinkage);
      fresh->setVisibility(GlobalValue::ProtectedVisibility);
      fresh->setDSOLocal(true);
    } else {
      fresh->setLinkage(GlobalValue::ExternalLinkage);
    }
  }
  // Casts back to the default space fold away.
  old.replaceAllUsesWith(ConstantExpr::getAddrSpaceCast(fresh, old.getType()));
  old.eraseFromParent();
  return fresh;
}

void mark_loads_invariant(GlobalVariable& constant) {
  SmallSetVector<Value*, 16> addresses;
  addresses.insert(&constant);
  for (unsigned i = 0; i < addresses.size(); ++i) {
    for (User* user : addresses[i]->users()) {
      if (auto* load = dyn_cast<LoadInst>(user)) {
        if (load->isSimple()) {
          load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(load->getContext(), {}));
        }
      } else if (isa<GEPOperator>(user)) {
        addresses.insert(user);
      }
    }
  }
}

bool is_special(Type* type) {
  auto* pointer = dyn_cast<PointerType>(type->getScalarType());
  return pointer && pointer->getAddressSpace() >= device_space &&
         pointer->getAddressSpace() <= shared_space;
}

}  // namespace

void lower_address_spaces(Module& module) {
  // llvm.used keeps what the host may want; visibility does that here.
  for (const char* name : {"llvm.used", "llvm.compiler.used"}) {
    if (auto* used = module.getGlobalVariable(name)) {
      used->eraseFromParent();
    }
  }
  SmallVector<GlobalVariable*, 16> variables;
  for (GlobalVariable& variable : module.globals()) {
    if (is_special(variable.getType())) {
      variables.push_back(&variable);
    }
  }
  for (GlobalVariable* variable : variables) {
    bool constant = variable->getAddressSpace() == constant_space;
    GlobalVariable* fresh = move_to_default_space(*variable);
    if (constant) {
      fresh->addAttribute(constant_mark);
      mark_loads_invariant(*fresh);
    }
  }
}

bool is_shared(const GlobalVariable& variable) { return variable.hasAttribute(shared_mark); }

bool is_constant(const GlobalVariable& variable) { return variable.hasAttribute(constant_mark); }

bool check_address_spaces(Module& module) {
  for (Function& function : module) {
    for (BasicBlock& block : function) {
      for (Instruction& inst : block) {
        bool bad = is_special(inst.getType());
        for (Value* operand : inst.operands()) {
          bad |= is_special(operand->getType());
        }
        if (bad) {
          report_error(inst,
                       "this use of a __device__, __constant__ or __shared__ variable is not "
                       "supported by the device compiler");
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace sb::pass
