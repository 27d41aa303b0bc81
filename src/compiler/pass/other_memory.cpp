#include "compiler/pass/other_memory.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include "compiler/pass/address_spaces.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

class memory_search {
 public:
  explicit memory_search(const kernel& kernel) : kernel_(kernel) { functions_.insert(kernel.body); }

  other_memory find() {
    other_memory found{.any = finds_other_memory(), .constants = {}};
    if (!found.any) {
      for (const GlobalVariable* variable : constants_) {
        found.constants.push_back(variable->getName().str());
      }
    }
    return found;
  }

 private:
  bool finds_other_memory() {
    for (unsigned i = 0; i < functions_.size(); ++i) {
      for (const Instruction& inst : instructions(*functions_[i])) {
        auto* call = dyn_cast<CallBase>(&inst);
        const Value* pointer = accessed(inst);
        if (call ? leaves_known(*call) : pointer && !is_known(pointer)) {
          return true;
        }
      }
    }
    return false;
  }

  static const Value* accessed(const Instruction& inst) {
    if (const Value* pointer = getLoadStorePointerOperand(&inst)) {
      return pointer;
    }
    if (auto* update = dyn_cast<AtomicRMWInst>(&inst)) {
      return update->getPointerOperand();
    }
    auto* exchange = dyn_cast<AtomicCmpXchgInst>(&inst);
    return exchange ? exchange->getPointerOperand() : nullptr;
  }

  // Functions that stay calls are looked at by themselves, with arguments that are known here.
  bool leaves_known(const CallBase& call) {
    if (auto* intrinsic = dyn_cast<IntrinsicInst>(&call);
        intrinsic && intrinsic->isAssumeLikeIntrinsic()) {
      return false;
    }
    Function* callee = call.getCalledFunction();
    if (!callee) {
      return !call.doesNotAccessMemory();
    }
    if (is_texture_instruction(*callee)) {
      return true;
    }
    if (!callee->isDeclaration()) {
      functions_.insert(callee);
    }
    return any_of(call.args(), [&](const Use& argument) {
      return argument->getType()->isPtrOrPtrVectorTy() && !is_known(argument);
    });
  }

  [[nodiscard]] bool is_known(const Value* pointer) {
    SmallVector<const Value*, 4> objects;
    constexpr unsigned no_limit = 0;
    getUnderlyingObjects(pointer, objects, nullptr, no_limit);
    return !objects.empty() &&
           all_of(objects, [&](const Value* object) { return is_known_object(object); });
  }

  [[nodiscard]] bool is_known_object(const Value* object) {
    if (auto* variable = dyn_cast<GlobalVariable>(object)) {
      if (is_constant(*variable)) {
        constants_.insert(variable);
        return true;
      }
      return is_shared(*variable) || variable->isConstant();
    }
    if (auto* load = dyn_cast<LoadInst>(object)) {
      return is_pointer_parameter(*load);
    }
    // What the engine hands out are its own structures, and memory that no other kernel has a
    // pointer to but from memory.
    if (auto* call = dyn_cast<CallBase>(object)) {
      return called_slot(*call).has_value();
    }
    // A function's parameters: who calls it has looked.
    return isa<AllocaInst, Argument, ConstantPointerNull, UndefValue>(object);
  }

  [[nodiscard]] bool is_pointer_parameter(const LoadInst& load) const {
    std::int64_t offset = 0;
    const Value* from =
        GetPointerBaseWithConstantOffset(load.getPointerOperand(), offset, load.getDataLayout());
    return from == kernel_.body->getArg(0) && any_of(kernel_.parameters, [&](const parameter& one) {
             return (one.flags & abi::param_is_pointer) != 0 && one.offset == offset;
           });
  }

  const kernel& kernel_;
  SmallSetVector<const Function*, 8> functions_;
  SmallSetVector<const GlobalVariable*, 4> constants_;
};

}  // namespace

other_memory other_memory_of(const kernel& kernel) { return memory_search(kernel).find(); }

}  // namespace sb::pass
