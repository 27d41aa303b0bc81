#include "compiler/pass/inline_asm.hpp"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "compiler/pass/ptx_lowering.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// Outputs of the statement, $0 first; inputs follow. A "+r" operand is an output whose first value
// is the input tied to it.
struct asm_operands {
  SmallVector<std::string, 4> outputs;
  bool known = true;
};

asm_operands bind_operands(CallBase& call, ptx_lowering& lowering) {
  asm_operands bound;
  auto* text = cast<InlineAsm>(call.getCalledOperand());
  unsigned number = 0;
  unsigned argument = 0;
  for (const InlineAsm::ConstraintInfo& constraint : text->ParseConstraints()) {
    std::string name = ("$" + Twine(number)).str();
    switch (constraint.Type) {
      case InlineAsm::isClobber:
        continue;
      case InlineAsm::isOutput:
        if (constraint.isIndirect) {
          bound.known = false;
          ++argument;
        } else {
          bound.outputs.push_back(name);
        }
        break;
      case InlineAsm::isInput: {
        Value* value = call.getArgOperand(argument++);
        lowering.set(name, value);
        // Tied: "0" means that the output starts with this value.
        unsigned tied = 0;
        if (constraint.Codes.size() == 1 &&
            !StringRef(constraint.Codes[0]).getAsInteger(10, tied)) {
          lowering.set(("$" + Twine(tied)).str(), value);
        }
        break;
      }
      default:
        bound.known = false;
        break;
    }
    ++number;
  }
  return bound;
}

Value* collect_outputs(CallBase& call, ptx_lowering& lowering, const asm_operands& bound) {
  Type* type = call.getType();
  auto value_of = [&](unsigned i, Type* wanted) -> Value* {
    Value* value = lowering.get(bound.outputs[i]);
    return value ? lowering.fit(value, wanted) : PoisonValue::get(wanted);
  };
  if (type->isVoidTy()) {
    return nullptr;
  }
  auto* fields = dyn_cast<StructType>(type);
  if (!fields) {
    return value_of(0, type);
  }
  Value* result = PoisonValue::get(type);
  for (unsigned i = 0; i < fields->getNumElements(); ++i) {
    result =
        lowering.builder().CreateInsertValue(result, value_of(i, fields->getElementType(i)), i);
  }
  return result;
}

// `exit;` ends the thread: in a kernel's own code that is a return. Deeper down nothing could
// return for all callers at once.
bool end_thread(CallBase& call, ptx_lowering& lowering, const ptx_instruction& inst) {
  if (!call.getFunction()->getName().ends_with(".body")) {
    return false;
  }
  Value* condition = lowering.guard(inst);
  if (!condition) {
    return false;
  }
  Instruction* end = SplitBlockAndInsertIfThen(condition, &call, /*Unreachable=*/true);
  ReturnInst::Create(call.getContext(), nullptr, end->getIterator())
      ->setDebugLoc(call.getDebugLoc());
  end->eraseFromParent();
  return true;
}

// The first special register of the instruction that nobody knows; empty if there is none.
StringRef unknown_register(const ptx_instruction& inst, ptx_lowering& lowering) {
  for (const ptx_operand& operand : inst.operands) {
    const StringRef name = operand.name;
    if (name.starts_with("%") && !lowering.get(name) && !lowering.is_special(name)) {
      return name;
    }
  }
  return {};
}

// Loads of `asm volatile` are made again in every turn of a loop.
bool is_repeated_load(const ptx_instruction& inst) {
  return inst.name() == "ld" && !inst.has("nc");
}

bool clobbers_memory(const InlineAsm& text) {
  return any_of(text.ParseConstraints(), [](const InlineAsm::ConstraintInfo& constraint) {
    return constraint.Type == InlineAsm::isClobber && is_contained(constraint.Codes, "{memory}");
  });
}

// False after reporting an error.
bool lower(CallBase& call) {
  auto* text = cast<InlineAsm>(call.getCalledOperand());
  ptx_program program = parse_ptx(text->getAsmString());
  auto refuse = [&](const std::string& name) {
    report_error(call, "inline PTX instruction '" + name + "' is not supported");
  };
  if (!program.error.empty()) {
    refuse(program.error);
    return false;
  }
  ptx_lowering lowering(&call);
  asm_operands bound = bind_operands(call, lowering);
  if (!bound.known) {
    report_error(call,
                 "inline PTX with a memory operand is not supported: pass the address in a "
                 "register");
    return false;
  }
  for (const ptx_instruction& inst : program.instructions) {
    if (inst.name() == "exit") {
      if (!end_thread(call, lowering, inst)) {
        report_error(call,
                     "inline PTX instruction 'exit' is supported only in a kernel itself, not "
                     "in a function that it calls");
        return false;
      }
      continue;
    }
    if (!lowering.lower(inst)) {
      if (const StringRef name = unknown_register(inst, lowering); !name.empty()) {
        report_error(call, "inline PTX register '" + name + "' is not supported");
      } else {
        refuse(inst.opcode);
      }
      return false;
    }
  }
  if (clobbers_memory(*text) ||
      (text->hasSideEffects() && any_of(program.instructions, is_repeated_load))) {
    lowering.builder().CreateFence(AtomicOrdering::SequentiallyConsistent, SyncScope::SingleThread);
  }
  if (Value* result = collect_outputs(call, lowering, bound)) {
    call.replaceAllUsesWith(result);
  }
  call.eraseFromParent();
  return true;
}

}  // namespace

void lower_inline_asm(Module& module) {
  for (Function& function : module) {
    SmallVector<CallBase*, 8> calls;
    for (Instruction& inst : instructions(function)) {
      auto* call = dyn_cast<CallBase>(&inst);
      if (call && call->isInlineAsm()) {
        calls.push_back(call);
      }
    }
    for (CallBase* call : calls) {
      if (!lower(*call)) {
        // Said once; the host's assembler has nothing to add.
        call->replaceAllUsesWith(PoisonValue::get(call->getType()));
        call->eraseFromParent();
      }
    }
  }
}

}  // namespace sb::pass
