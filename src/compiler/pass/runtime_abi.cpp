#include "compiler/pass/runtime_abi.hpp"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DiagnosticInfo.h>

#include <array>

namespace sb::pass {

using namespace llvm;

namespace {

constexpr std::array slot_names = {
#define SB_SLOT(type, name, params) StringLiteral(#name),
    SB_DEVICE_TABLE(SB_SLOT)
#undef SB_SLOT
};

constexpr StringLiteral slot_mark = "sb-slot";

GlobalVariable* table_variable(Module& module) {
  if (auto* table = module.getGlobalVariable("__sb_table")) {
    return table;
  }
  auto* pointer = PointerType::getUnqual(module.getContext());
  // Weak: each of two parts of a file may have it (two_parts.hpp).
  auto* table = new GlobalVariable(module, pointer, false, GlobalValue::WeakAnyLinkage,
                                   ConstantPointerNull::get(pointer), "__sb_table");
  // Protected: dlsym finds it, and no symbol of the host program can take its place.
  table->setVisibility(GlobalValue::ProtectedVisibility);
  table->setDSOLocal(true);
  return table;
}

void mark_invariant(LoadInst* load) {
  load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(load->getContext(), {}));
}

}  // namespace

std::optional<slot> slot_by_name(StringRef name) {
  for (std::size_t i = 0; i < slot_names.size(); ++i) {
    if (name == slot_names[i]) {
      return static_cast<slot>(i);
    }
  }
  return std::nullopt;
}

StringRef slot_name(slot which) { return slot_names[static_cast<unsigned>(which)]; }

bool is_texture_instruction(const Function& function) {
  return !function.isDeclaration() && function.getName().contains(texture_prefix);
}

namespace {

constexpr StringLiteral texture_bytes_mark = "sb-texture-bytes";

}  // namespace

void mark_texture_bytes(CallBase& call) {
  const Function* callee = call.getCalledFunction();
  if (callee && is_texture_instruction(*callee)) {
    auto* bytes = dyn_cast<ConstantInt>(call.getArgOperand(call.arg_size() - 1));
    call.addFnAttr(Attribute::get(call.getContext(), texture_bytes_mark,
                                  std::to_string(bytes ? bytes->getZExtValue() : 4)));
  }
}

std::uint64_t texture_bytes(const CallBase& call) {
  std::uint64_t bytes = 0;
  call.getFnAttr(texture_bytes_mark).getValueAsString().getAsInteger(10, bytes);
  return bytes;
}

std::optional<slot> called_slot(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  if (!callee || !callee->getName().starts_with(runtime_prefix)) {
    return std::nullopt;
  }
  return slot_by_name(callee->getName().drop_front(runtime_prefix.size()));
}

void mark_lowered_slot(CallBase& call, slot which) {
  call.addFnAttr(Attribute::get(call.getContext(), slot_mark, slot_name(which)));
}

std::optional<slot> lowered_slot(const CallBase& call) {
  Attribute mark = call.getFnAttr(slot_mark);
  return mark.isStringAttribute() ? slot_by_name(mark.getValueAsString()) : std::nullopt;
}

FunctionCallee runtime_function(Module& module, slot which, Type* result, ArrayRef<Type*> params,
                                bool variadic) {
  auto* type = FunctionType::get(result, params, variadic);
  auto callee = module.getOrInsertFunction((runtime_prefix + slot_name(which)).str(), type);
  if (auto* function = dyn_cast<Function>(callee.getCallee())) {
    function->addFnAttr(Attribute::NoUnwind);
  }
  // A header may have declared it with other types: the call's own type counts.
  return {type, callee.getCallee()};
}

FunctionCallee builtin_function(Module& module, StringRef name, Type* result) {
  auto callee = module.getOrInsertFunction(name, FunctionType::get(result, false));
  if (auto* function = dyn_cast<Function>(callee.getCallee())) {
    mark_context_builtin(*function);
  }
  return callee;
}

void mark_context_builtin(Function& function) {
  function.setDoesNotAccessMemory();
  function.setDoesNotThrow();
  function.setWillReturn();
  function.addFnAttr(Attribute::Speculatable);
  if (function.getName() == "__sb_laneid") {
    const unsigned bits = function.getReturnType()->getIntegerBitWidth();
    function.addRangeRetAttr(ConstantRange(APInt(bits, 0), APInt(bits, 32)));
  }
}

bool is_convergent(slot which) {
  switch (which) {
    case slot::barrier:
    case slot::warp_sync:
    case slot::shuffle:
    case slot::vote:
    case slot::match:
    case slot::reduce:
    case slot::active_mask:
    case slot::grid_sync:
      return true;
    default:
      return false;
  }
}

bool tells_time(slot which) {
  return which == slot::clock || which == slot::global_timer || which == slot::noted_clock ||
         which == slot::noted_timer;
}

Value* load_slot(IRBuilderBase& builder, slot which) {
  Module& module = *builder.GetInsertBlock()->getModule();
  auto* pointer = builder.getPtrTy();
  auto* table = builder.CreateLoad(pointer, table_variable(module), "sb.table");
  mark_invariant(table);
  auto* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), table,
                                                     static_cast<unsigned>(which) * sizeof(void*));
  auto* target = builder.CreateLoad(pointer, address, Twine("sb.") + slot_name(which));
  mark_invariant(target);
  return target;
}

LoadInst* load_field(IRBuilderBase& builder, Type* type, Value* object, std::size_t offset,
                     const char* name, bool invariant) {
  auto* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), object, offset);
  auto* load = builder.CreateLoad(type, address, name);
  if (invariant) {
    mark_invariant(load);
  }
  load->setMetadata(LLVMContext::MD_noundef, MDNode::get(load->getContext(), {}));
  return load;
}

namespace {

// Locations inside headers help nobody: the outermost line of an inlined chain is the user's own
// only when the inner ones belong to our headers, so the innermost location is what we report
// first.
void diagnose(const Function& function, const DebugLoc& location, const Twine& message) {
  function.getContext().diagnose(
      DiagnosticInfoUnsupported(function, message, DiagnosticLocation(location), DS_Error));
}

}  // namespace

void report_error(const Instruction& at, const Twine& message) {
  diagnose(*at.getFunction(), at.getDebugLoc(), message);
}

void report_error(const Function& in, const Twine& message) {
  DebugLoc location;
  if (auto* subprogram = in.getSubprogram()) {
    location = DILocation::get(in.getContext(), subprogram->getLine(), 0, subprogram);
  }
  diagnose(in, location, message);
}

}  // namespace sb::pass
