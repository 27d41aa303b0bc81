#include "compiler/pass/descriptor.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/Support/ErrorHandling.h>

namespace sb::pass {

using namespace llvm;

namespace {

GlobalVariable* private_constant(Module& module, Constant* value, const Twine& name) {
  auto* variable =
      new GlobalVariable(module, value->getType(), true, GlobalValue::PrivateLinkage, value, name);
  variable->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return variable;
}

}  // namespace

void emit_descriptor(Module& module, const kernel& kernel) {
  LLVMContext& context = module.getContext();
  auto* word = Type::getInt32Ty(context);
  auto number = [&](std::uint32_t value) { return ConstantInt::get(word, value); };

  auto other = [&](const std::string& symbol) -> Constant* {
    return symbol.empty() ? ConstantPointerNull::get(PointerType::getUnqual(context))
                          : static_cast<Constant*>(module.getNamedGlobal(symbol + ".sb"));
  };

  auto* param_type = StructType::get(context, {word, word, word});
  static_assert(sizeof(abi::param) == 12);
  SmallVector<Constant*, 8> params;
  for (const parameter& one : kernel.parameters) {
    params.push_back(
        ConstantStruct::get(param_type, {number(one.offset), number(one.size), number(one.flags)}));
  }
  auto* array = ConstantArray::get(ArrayType::get(param_type, params.size()), params);
  auto* pointer = PointerType::getUnqual(context);
  auto* size = Type::getInt64Ty(context);
  auto* variable_type = StructType::get(context, {pointer, size});
  static_assert(sizeof(abi::variable) == 16);
  SmallVector<Constant*, 4> constants;
  bool finds_all = true;
  for (const std::string& one : kernel.constants) {
    auto* variable = module.getNamedGlobal(one);
    if (variable == nullptr) {
      finds_all = false;
      continue;
    }
    const std::uint64_t bytes = module.getDataLayout().getTypeAllocSize(variable->getValueType());
    constants.push_back(
        ConstantStruct::get(variable_type, {variable, ConstantInt::get(size, bytes)}));
  }
  auto* variables = ConstantArray::get(ArrayType::get(variable_type, constants.size()), constants);
  auto* name = ConstantDataArray::getString(context, kernel.name);

  // The fields of abi::kernel_info in their order; the compiler that reads them pads as LLVM does.
  Constant* fields[] = {
      number(abi::version),
      number(static_cast<std::uint32_t>(kernel.mode)),
      kernel.entry,
      private_constant(module, name, kernel.symbol + ".name"),
      number(kernel.static_shared_bytes),
      number(static_cast<std::uint32_t>(kernel.parameters.size())),
      private_constant(module, array, kernel.symbol + ".params"),
      number(kernel.parameter_bytes),
      number(kernel.max_threads),
      number(kernel.min_blocks),
      number(kernel.local_bytes),
      number(kernel.registers),
      number(kernel.syncs_grid),
      number(kernel.has_no_floats ? abi::straight_without_floats : kernel.is_straight),
      number(kernel.row_threads),
      number(kernel.row_width),
      number(kernel.reaches_other_memory || !finds_all),
      number(kernel.needs),
      number(kernel.draws),
      number(static_cast<std::uint32_t>(kernel.times)),
      number(kernel.gives_up),
      other(kernel.fallback),
      other(kernel.counted),
      private_constant(module, variables, kernel.symbol + ".constants"),
      ConstantInt::get(size, constants.size()),
  };
  auto* value = ConstantStruct::getAnon(context, fields);
  auto* layout = module.getDataLayout().getStructLayout(cast<StructType>(value->getType()));
  if (layout->getSizeInBytes() != sizeof(abi::kernel_info)) {
    report_fatal_error("a kernel's descriptor is not laid out as the runtime reads it");
  }
  auto* info = new GlobalVariable(module, value->getType(), true, GlobalValue::ExternalLinkage,
                                  value, kernel.symbol + ".sb");
  info->setVisibility(GlobalValue::ProtectedVisibility);
  info->setDSOLocal(true);
}

}  // namespace sb::pass
