#include "compiler/pass/mask_registers.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Module.h>

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral with_masks = "x86-64-v4", without_masks = "x86-64-v3";

std::string without_avx512(StringRef features) {
  SmallVector<StringRef, 32> all;
  features.split(all, ',', -1, false);
  erase_if(all,
           [](StringRef one) { return one.starts_with("+avx512") || one.starts_with("+evex512"); });
  return join(all, ",");
}

}  // namespace

void choose_registers(Module& module, ArrayRef<CallBase*> maths) {
  SmallPtrSet<const Function*, 8> callers;
  for (const CallBase* call : maths) {
    callers.insert(call->getFunction());
  }
  for (Function& function : module) {
    if (callers.contains(&function) ||
        function.getFnAttribute("target-cpu").getValueAsString() != with_masks) {
      continue;
    }
    function.addFnAttr("target-cpu", without_masks);
    const Attribute features = function.getFnAttribute("target-features");
    function.addFnAttr("target-features", without_avx512(features.getValueAsString()));
  }
}

}  // namespace sb::pass
