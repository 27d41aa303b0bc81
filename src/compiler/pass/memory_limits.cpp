#include "compiler/pass/memory_limits.hpp"

#include <llvm/Support/FormatVariadic.h>

#include "compiler/pass/address_spaces.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr std::uint64_t most_shared_bytes = 48u << 10;
constexpr std::uint64_t most_constant_bytes = 64u << 10;

std::string sizes(std::uint64_t bytes, std::uint64_t most) {
  return formatv("({0:x} bytes, {1:x} max)", bytes, most);
}

std::uint64_t constant_bytes(const Module& module) {
  const DataLayout& layout = module.getDataLayout();
  std::uint64_t end = 0;
  for (const GlobalVariable& variable : module.globals()) {
    if (is_constant(variable) && !variable.isDeclaration()) {
      const Align alignment = std::max(variable.getAlign().valueOrOne(),
                                       layout.getABITypeAlign(variable.getValueType()));
      end = alignTo(end, alignment) + layout.getTypeAllocSize(variable.getValueType());
    }
  }
  return end;
}

}  // namespace

void check_limits(Module& module, ArrayRef<kernel> kernels) {
  LLVMContext& context = module.getContext();
  for (const kernel& one : kernels) {
    if (one.static_shared_bytes > most_shared_bytes) {
      context.emitError("Entry function '" + one.symbol + "' uses too much shared data " +
                        sizes(one.static_shared_bytes, most_shared_bytes));
    }
  }
  if (const std::uint64_t bytes = constant_bytes(module); bytes > most_constant_bytes) {
    context.emitError("File uses too much global constant data " +
                      sizes(bytes, most_constant_bytes));
  }
}

}  // namespace sb::pass
