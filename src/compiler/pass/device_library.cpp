#include "compiler/pass/device_library.hpp"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

enum class replacement {
  none,
  print,
  put_string,
  put_char,
  allocate,
  deallocate,
  fail,
  trap,
  launch,
  unsupported
};

replacement replacement_for(StringRef name) {
  return StringSwitch<replacement>(name)
      .Case("printf", replacement::print)
      .Case("puts", replacement::put_string)
      .Case("putchar", replacement::put_char)
      .Case("malloc", replacement::allocate)
      .Case("free", replacement::deallocate)
      // operator new, new[], with alignment, nothrow
      .Cases("_Znwm", "_Znam", "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t",
             replacement::allocate)
      .Cases("_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_tRKSt9nothrow_t",
             "_ZnamSt11align_val_tRKSt9nothrow_t", replacement::allocate)
      .Cases("_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm", replacement::deallocate)
      .Cases("_ZdlPvSt11align_val_t", "_ZdaPvSt11align_val_t", "_ZdlPvmSt11align_val_t",
             "_ZdaPvmSt11align_val_t", replacement::deallocate)
      .Case("__assert_fail", replacement::fail)
      .Cases("abort", "__cxa_pure_virtual", "_ZSt9terminatev", replacement::trap)
      .Cases("cudaLaunchKernel", "__cudaPushCallConfigurationAt", "cudaLaunchKernelExC",
             "cudaLaunchDevice", "cudaGetParameterBufferV2", replacement::launch)
      .Cases("vprintf", "fprintf", "scanf", "exit", replacement::unsupported)
      .Default(replacement::none);
}

Value* replace(CallBase& call, replacement kind) {
  Module& module = *call.getModule();
  IRBuilder<> builder(&call);
  auto* pointer = builder.getPtrTy();
  auto* word = builder.getInt32Ty();
  auto* nothing = builder.getVoidTy();
  SmallVector<Value*, 8> args(call.args());
  auto print = runtime_function(module, slot::print, word, {pointer}, true);
  auto printed = [&](const char* format) {
    return builder.CreateCall(print, {builder.CreateGlobalStringPtr(format), args[0]});
  };
  switch (kind) {
    case replacement::print:
      return builder.CreateCall(print, args);
    case replacement::put_string:
      return printed("%s\n");
    case replacement::put_char:
      return printed("%c");
    case replacement::allocate:
      return builder.CreateCall(
          runtime_function(module, slot::allocate, pointer, {builder.getInt64Ty()}), {args[0]});
    case replacement::deallocate:
      return builder.CreateCall(runtime_function(module, slot::deallocate, nothing, {pointer}),
                                {args[0]});
    case replacement::fail:
      return builder.CreateCall(
          runtime_function(module, slot::assert_fail, nothing, {pointer, pointer, word, pointer}),
          args);
    case replacement::trap:
      return builder.CreateCall(runtime_function(module, slot::trap, nothing, {}));
    case replacement::none:
    case replacement::launch:
    case replacement::unsupported:
      break;
  }
  return nullptr;
}

void lower_call(CallBase& call, replacement kind, StringRef name) {
  if (kind == replacement::launch) {
    report_error(call, "kernels cannot launch kernels here (dynamic parallelism is not supported)");
    return;
  }
  if (kind == replacement::unsupported) {
    report_error(call, "'" + name + "' cannot be called in device code");
    return;
  }
  Value* result = replace(call, kind);
  if (!call.getType()->isVoidTy()) {
    call.replaceAllUsesWith(
        result->getType() == call.getType() ? result : Constant::getNullValue(call.getType()));
  }
  call.eraseFromParent();
}

replacement intrinsic_replacement(const CallBase& call) {
  switch (call.getIntrinsicID()) {
    case Intrinsic::trap:
    case Intrinsic::debugtrap:
    case Intrinsic::ubsantrap:
      return replacement::trap;
    default:
      return replacement::none;
  }
}

// Taken by address (a vtable's pure virtual slot, a comparison): a definition that does what a call
// would.
void define_trap(Function& function) {
  if (function.use_empty() || !function.isDeclaration()) {
    return;
  }
  auto* stub = Function::Create(function.getFunctionType(), GlobalValue::InternalLinkage, "sb.trap",
                                function.getParent());
  IRBuilder<> builder(BasicBlock::Create(function.getContext(), "", stub));
  builder.CreateCall(runtime_function(*function.getParent(), slot::trap, builder.getVoidTy(), {}));
  builder.CreateUnreachable();
  function.replaceAllUsesWith(stub);
}

}  // namespace

void lower_device_library(Module& module) {
  for (Function& function : module) {
    if (function.isDeclaration() && function.getName() == "__cxa_pure_virtual") {
      define_trap(function);
    }
  }
  for (Function& function : module) {
    for (Instruction& inst : make_early_inc_range(instructions(function))) {
      auto* call = dyn_cast<CallBase>(&inst);
      Function* callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || !callee->isDeclaration()) {
        continue;
      }
      auto kind =
          callee->isIntrinsic() ? intrinsic_replacement(*call) : replacement_for(callee->getName());
      if (kind != replacement::none) {
        lower_call(*call, kind, callee->getName());
      }
    }
  }
}

void report_undefined_functions(Module& module) {
  for (Function& function : module) {
    StringRef name = function.getName();
    // C names are libm's and libc's; the C++ library's functions come from the process as well.
    bool library = !name.starts_with("_Z") || name.starts_with("_ZSt") ||
                   name.starts_with("_ZNSt") || name.starts_with("_ZNKSt") ||
                   name.starts_with("_ZN9__gnu_cxx") || name.starts_with("_ZT");
    if (!function.isDeclaration() || function.use_empty() || library) {
      continue;
    }
    std::string message = "undefined device function '" + demangle(name) +
                          "': define it in this file, or compile with -rdc=true and link the file "
                          "that defines it";
    for (User* user : function.users()) {
      if (auto* inst = dyn_cast<Instruction>(user)) {
        report_error(*inst, message);
        break;
      }
    }
  }
}

}  // namespace sb::pass
