#include "compiler/pass/shared_memory.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/ReplaceConstant.h>

#include <functional>
#include <map>

#include "compiler/pass/address_spaces.hpp"
#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

using variables = SetVector<GlobalVariable*>;

variables shared_variables_of(const Function& function) {
  variables found;
  for (const Instruction& inst : instructions(function)) {
    for (Value* operand : inst.operands()) {
      auto* variable = dyn_cast<GlobalVariable>(operand);
      if (variable && is_shared(*variable)) {
        found.insert(variable);
      }
    }
  }
  return found;
}

Align alignment_of(const GlobalVariable& variable) {
  const DataLayout& layout = variable.getParent()->getDataLayout();
  return std::max(variable.getAlign().valueOrOne(),
                  layout.getABITypeAlign(variable.getValueType()));
}

// Places the variables from `start` on, the most aligned first, so that padding stays small.
std::uint64_t place(const variables& all, std::uint64_t start,
                    MapVector<const GlobalVariable*, std::uint64_t>& offsets) {
  // A map keeps the order of equal keys: variables of one alignment stay as the source has them.
  std::multimap<std::uint64_t, GlobalVariable*, std::greater<>> order;
  for (GlobalVariable* variable : all) {
    order.emplace(alignment_of(*variable).value(), variable);
  }
  for (auto [alignment, variable] : order) {
    if (is_dynamic(*variable) || offsets.contains(variable)) {
      continue;
    }
    start = alignTo(start, alignment);
    offsets[variable] = start;
    start += variable->getParent()->getDataLayout().getTypeAllocSize(variable->getValueType());
  }
  return start;
}

}  // namespace

bool is_dynamic(const GlobalVariable& variable) {
  return variable.isDeclaration() ||
         variable.getParent()->getDataLayout().getTypeAllocSize(variable.getValueType()) == 0;
}

shared_layout::shared_layout(Module& module, MutableArrayRef<kernel> kernels,
                             const call_reach& reach) {
  DenseSet<const Function*> bodies;
  for (const kernel& one : kernels) {
    bodies.insert(one.body);
  }
  DenseMap<const Function*, variables> used;
  std::uint64_t common_end = 0;
  for (Function& function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    used[&function] = shared_variables_of(function);
    if (!bodies.contains(&function)) {
      common_end = place(used[&function], common_end, common_);
    }
  }
  for (kernel& one : kernels) {
    // Only the part of the common zone that this kernel can reach.
    std::uint64_t start = 0;
    for (Function* reached : reach.from(*one.body)) {
      if (reached == one.body) {
        continue;
      }
      for (GlobalVariable* variable : used[reached]) {
        if (auto found = common_.find(variable); found != common_.end()) {
          start = std::max<std::uint64_t>(
              start,
              found->second + module.getDataLayout().getTypeAllocSize(variable->getValueType()));
        }
      }
    }
    offsets own;
    variables remaining;
    for (GlobalVariable* variable : used[one.body]) {
      // A variable of a called function that the kernel also names through inlining stays in place.
      if (auto found = common_.find(variable); found != common_.end()) {
        own[variable] = found->second;
        start = std::max<std::uint64_t>(
            start,
            found->second + module.getDataLayout().getTypeAllocSize(variable->getValueType()));
      } else {
        remaining.insert(variable);
      }
    }
    std::uint64_t end = place(remaining, start, own);
    one.static_shared_bytes = static_cast<std::uint32_t>(end);
    static_bytes_[one.body] = end;
    own_[one.body] = std::move(own);
  }
}

std::optional<std::uint64_t> shared_layout::offset(const Function& function,
                                                   const GlobalVariable& variable) const {
  if (is_dynamic(variable)) {
    return std::nullopt;
  }
  auto own = own_.find(&function);
  const offsets& where = own != own_.end() ? own->second : common_;
  auto found = where.find(&variable);
  return found != where.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<std::uint64_t> shared_layout::dynamic_offset(const Function& function) const {
  auto found = static_bytes_.find(&function);
  return found != static_bytes_.end() ? std::optional(alignTo(found->second, dynamic_alignment))
                                      : std::nullopt;
}

void expand_shared_constants(Module& module) {
  SmallVector<Constant*, 16> shared;
  for (GlobalVariable& variable : module.globals()) {
    if (is_shared(variable)) {
      variable.removeDeadConstantUsers();
      shared.push_back(&variable);
    }
  }
  if (!shared.empty()) {
    convertUsersOfConstantsToInstructions(shared);
  }
}

void lower_shared_variables(Function& function, const shared_layout& layout,
                            function_ref<Value*()> shared_base,
                            function_ref<Value*()> dynamic_base) {
  for (GlobalVariable* variable : shared_variables_of(function)) {
    Value* base = nullptr;
    std::uint64_t distance = 0;
    if (auto offset = layout.offset(function, *variable)) {
      base = shared_base();
      distance = *offset;
    } else if (auto dynamic = layout.dynamic_offset(function)) {
      base = shared_base();
      distance = *dynamic;
    } else {
      base = dynamic_base();
    }
    auto* definition = cast<Instruction>(base);
    IRBuilder<> builder(definition->getParent(), std::next(definition->getIterator()));
    Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, distance,
                                                        variable->getName());
    variable->replaceUsesWithIf(address, [&](Use& use) {
      auto* user = dyn_cast<Instruction>(use.getUser());
      return user && user->getFunction() == &function;
    });
  }
}

}  // namespace sb::pass
