#include "compiler/pass/cleanup.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>

namespace sb::pass {

using namespace llvm;

void reach_constants(Constant* constant, SetVector<GlobalValue*>& live, DenseSet<Constant*>& seen) {
  if (!seen.insert(constant).second) {
    return;
  }
  if (auto* global = dyn_cast<GlobalValue>(constant)) {
    live.insert(global);
    return;
  }
  for (Value* operand : constant->operands()) {
    if (auto* inner = dyn_cast<Constant>(operand)) {
      reach_constants(inner, live, seen);
    }
  }
}

void drop_unreachable(Module& module, ArrayRef<Function*> roots) {
  for (const char* name : {"llvm.used", "llvm.compiler.used", "llvm.global_ctors",
                           "llvm.global_dtors", "llvm.global.annotations"}) {
    if (auto* list = module.getGlobalVariable(name)) {
      list->eraseFromParent();
    }
  }
  SetVector<GlobalValue*> live;
  live.insert(roots.begin(), roots.end());
  for (GlobalVariable& variable : module.globals()) {
    // Exported variables; string constants and the like live only when something names them.
    if (!variable.isDeclaration() && !variable.isDiscardableIfUnused()) {
      live.insert(&variable);
    }
  }
  DenseSet<Constant*> seen;
  for (unsigned i = 0; i < live.size(); ++i) {
    if (auto* function = dyn_cast<Function>(live[i])) {
      for (Instruction& inst : instructions(*function)) {
        for (Value* operand : inst.operands()) {
          if (auto* constant = dyn_cast<Constant>(operand)) {
            reach_constants(constant, live, seen);
          }
        }
      }
    } else if (auto* variable = dyn_cast<GlobalVariable>(live[i])) {
      if (variable->hasInitializer()) {
        reach_constants(variable->getInitializer(), live, seen);
      }
    } else if (auto* alias = dyn_cast<GlobalAlias>(live[i])) {
      reach_constants(alias->getAliasee(), live, seen);
    }
  }
  SmallVector<GlobalValue*, 32> dead;
  for (GlobalValue& value : module.global_values()) {
    if (!live.contains(&value)) {
      dead.push_back(&value);
    }
  }
  for (GlobalValue* value : dead) {
    if (auto* function = dyn_cast<Function>(value)) {
      function->deleteBody();
    } else if (auto* variable = dyn_cast<GlobalVariable>(value)) {
      variable->setInitializer(nullptr);
    } else if (auto* alias = dyn_cast<GlobalAlias>(value)) {
      alias->setAliasee(PoisonValue::get(alias->getType()));
    }
  }
  for (GlobalValue* value : dead) {
    value->removeDeadConstantUsers();
    value->replaceAllUsesWith(PoisonValue::get(value->getType()));
    value->eraseFromParent();
  }
  for (Function& function : module) {
    if (!function.isDeclaration() && !is_contained(roots, &function)) {
      function.setLinkage(GlobalValue::InternalLinkage);
      function.setVisibility(GlobalValue::DefaultVisibility);
      function.setComdat(nullptr);
      function.setDSOLocal(true);
    }
  }
}

void drop_layout_information(Module& module) {
  auto units = module.debug_compile_units();
  if (all_of(units, [](const DICompileUnit* unit) { return unit->getFlags() == "layout-only"; })) {
    StripDebugInfo(module);
  }
}

}  // namespace sb::pass
