#include "compiler/pass/parameter_layout.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/Alignment.h>

#include "compiler/pass/kernel_discovery.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr std::uint32_t everything =
    abi::param_is_read | abi::param_is_written | abi::param_is_carried;

// Where the function keeps a parameter.
struct storage {
  Value* address = nullptr;  // an alloca, or the argument itself for byval
  bool indirect = false;  // `address` holds a pointer to the object: the ABI passed it by address
  DIType* type = nullptr;
  Instruction* declared_at = nullptr;
};

DIType* without_qualifiers(DIType* type) {
  while (auto* derived = dyn_cast_or_null<DIDerivedType>(type)) {
    switch (derived->getTag()) {
      case dwarf::DW_TAG_typedef:
      case dwarf::DW_TAG_template_alias:
      case dwarf::DW_TAG_const_type:
      case dwarf::DW_TAG_volatile_type:
      case dwarf::DW_TAG_restrict_type:
      case dwarf::DW_TAG_atomic_type:
        type = derived->getBaseType();
        continue;
      default:
        return type;
    }
  }
  return type;
}

std::uint64_t size_of(DIType* type) {
  type = without_qualifiers(type);
  if (!type) {
    return 0;
  }
  if (type->getTag() == dwarf::DW_TAG_unspecified_type) {
    return sizeof(void*);  // decltype(nullptr)
  }
  return type->getSizeInBits() / 8;
}

std::uint64_t alignment_of(DIType* type) {
  std::uint64_t explicit_alignment = 1;
  for (DIType* one = type; one;) {
    explicit_alignment = std::max<std::uint64_t>(explicit_alignment, one->getAlignInBytes());
    auto* derived = dyn_cast<DIDerivedType>(one);
    one = derived && without_qualifiers(one) != one ? derived->getBaseType() : nullptr;
  }
  type = without_qualifiers(type);
  auto* composite = dyn_cast_or_null<DICompositeType>(type);
  if (!composite) {
    return std::max(explicit_alignment, bit_floor(std::clamp<std::uint64_t>(size_of(type), 1, 16)));
  }
  switch (composite->getTag()) {
    case dwarf::DW_TAG_enumeration_type:
      return std::max<std::uint64_t>(1, size_of(type));
    case dwarf::DW_TAG_array_type:
      return std::max(explicit_alignment, composite->isVector()
                                              ? PowerOf2Ceil(size_of(type))
                                              : alignment_of(composite->getBaseType()));
    default:
      break;
  }
  std::uint64_t alignment = explicit_alignment;
  for (auto* element : composite->getElements()) {
    auto* member = dyn_cast<DIDerivedType>(element);
    if (member && !member->isStaticMember() &&
        (member->getTag() == dwarf::DW_TAG_member ||
         member->getTag() == dwarf::DW_TAG_inheritance)) {
      alignment = std::max({alignment, alignment_of(member->getBaseType()),
                            std::uint64_t(member->getAlignInBytes())});
    }
  }
  return composite->getFlags() & DINode::FlagFwdDecl ? 16 : alignment;
}

void note_storage(MutableArrayRef<storage> found, const DISubprogram* subprogram,
                  const DILocalVariable* variable, const DILocation* location, Value* address,
                  const DIExpression* expression, Instruction* at) {
  unsigned index = variable->getArg();
  if (index == 0 || index > found.size() || location->getInlinedAt() ||
      variable->getScope()->getSubprogram() != subprogram || found[index - 1].address) {
    return;
  }
  found[index - 1] = {address, expression->startsWithDeref(), variable->getType(), at};
}

std::vector<storage> find_storage(Function& function, const DISubprogram* subprogram) {
  auto types = subprogram->getType()->getTypeArray();
  std::vector<storage> found(types.size() > 0 ? types.size() - 1 : 0);
  for (Instruction& inst : function.getEntryBlock()) {
    for (DbgVariableRecord& record : filterDbgVars(inst.getDbgRecordRange())) {
      if (record.isDbgDeclare() || record.isDbgAssign()) {
        Value* address =
            record.isDbgAssign() ? record.getAddress() : record.getVariableLocationOp(0);
        auto* expression =
            record.isDbgAssign() ? record.getAddressExpression() : record.getExpression();
        note_storage(found, subprogram, record.getVariable(), record.getDebugLoc(), address,
                     expression, &inst);
      }
    }
    if (auto* declare = dyn_cast<DbgDeclareInst>(&inst)) {
      note_storage(found, subprogram, declare->getVariable(), declare->getDebugLoc(),
                   declare->getAddress(), declare->getExpression(), &inst);
    }
  }
  return found;
}

// The argument whose address an indirect parameter's slot holds.
Argument* indirect_argument(const storage& where) {
  if (auto* argument = dyn_cast<Argument>(where.address)) {
    return argument;
  }
  for (User* user : where.address->users()) {
    auto* store = dyn_cast<StoreInst>(user);
    if (store && store->getPointerOperand() == where.address) {
      return dyn_cast<Argument>(store->getValueOperand());
    }
  }
  return nullptr;
}

Function* create_body(kernel& kernel) {
  Function& source = *kernel.source;
  LLVMContext& context = source.getContext();
  auto* pointer = PointerType::getUnqual(context);
  auto* word = Type::getInt32Ty(context);
  auto* type =
      FunctionType::get(Type::getVoidTy(context), {pointer, pointer, word, word, word}, false);
  // External while it lasts: call graphs start from such functions.
  auto* body = Function::Create(type, GlobalValue::ExternalLinkage, kernel.symbol + ".body",
                                source.getParent());
  body->setAttributes(AttributeList::get(context, source.getAttributes().getFnAttrs(), {}, {}));
  const char* names[] = {"params", "self", "tid.x", "tid.y", "tid.z"};
  for (unsigned i = 0; i < 5; ++i) {
    body->getArg(i)->setName(names[i]);
  }
  // The engine copies the parameters into a buffer that nobody writes while the kernel runs.
  body->addParamAttr(0, Attribute::NoAlias);
  body->addParamAttr(0, Attribute::ReadOnly);
  body->addParamAttr(0, Attribute::NonNull);
  body->addParamAttr(1, Attribute::NonNull);
  for (unsigned i = 0; i < 5; ++i) {
    body->addParamAttr(i, Attribute::NoUndef);
  }
  body->splice(body->begin(), &source);
  body->setSubprogram(source.getSubprogram());
  source.setSubprogram(nullptr);
  return body;
}

}  // namespace

bool build_body(kernel& kernel) {
  Function& source = *kernel.source;
  if (source.isVarArg()) {
    report_error(source, "a __global__ function cannot have ellipsis");
    return false;
  }
  auto* subprogram = source.getSubprogram();
  if (!subprogram) {
    report_error(source,
                 "kernel without debug information: its parameters cannot be laid out; "
                 "compile device code with -g -fstandalone-debug");
    return false;
  }
  std::vector<storage> places = find_storage(source, subprogram);
  // Copies go behind the ABI prologue, which ends with the declaration of the last parameter.
  Instruction* after_prologue = nullptr;
  std::uint64_t offset = 0;
  for (unsigned i = 0; i < places.size(); ++i) {
    storage& place = places[i];
    std::uint64_t size = place.address ? size_of(place.type) : 0;
    if (size == 0) {
      report_error(source, "parameter " + Twine(i + 1) +
                               " of the kernel has no size in the debug information; compile "
                               "device code with -g -fstandalone-debug");
      return false;
    }
    parameter one;
    one.size = static_cast<std::uint32_t>(size);
    auto* slot = dyn_cast<AllocaInst>(place.address);
    one.alignment = static_cast<std::uint32_t>(slot && !place.indirect ? slot->getAlign().value()
                                                                       : alignment_of(place.type));
    offset = alignTo(offset, one.alignment);
    one.offset = static_cast<std::uint32_t>(offset);
    offset += size;
    auto* type = without_qualifiers(place.type);
    if (type->getTag() == dwarf::DW_TAG_pointer_type ||
        type->getTag() == dwarf::DW_TAG_reference_type ||
        type->getTag() == dwarf::DW_TAG_rvalue_reference_type) {
      one.flags = abi::param_is_pointer | everything;
    }
    kernel.parameters.push_back(one);
    after_prologue = place.declared_at;
  }
  kernel.parameter_bytes = static_cast<std::uint32_t>(offset);

  Function* body = kernel.body = create_body(kernel);
  Argument* params = body->getArg(0);
  if (kernel.parameter_bytes != 0) {
    body->addDereferenceableParamAttr(0, kernel.parameter_bytes);
    body->addParamAttr(0, Attribute::getWithAlignment(body->getContext(), Align(16)));
  }
  for (unsigned i = 0; i < places.size(); ++i) {
    storage& place = places[i];
    const parameter& one = kernel.parameters[i];
    IRBuilder<> allocas(&*body->getEntryBlock().getFirstInsertionPt());
    Value* target = place.address;
    auto* argument =
        place.indirect || isa<Argument>(place.address) ? indirect_argument(place) : nullptr;
    if (argument) {
      // The thread owns the object: it may write to it, so each thread gets a copy. LLVM removes
      // the copy again where the object is only read.
      auto* copy = allocas.CreateAlloca(ArrayType::get(allocas.getInt8Ty(), one.size));
      copy->setAlignment(Align(one.alignment));
      argument->replaceAllUsesWith(copy);
      target = copy;
    }
    IRBuilder<> builder(after_prologue);
    builder.SetCurrentDebugLocation(DebugLoc());
    auto* from = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), params, one.offset);
    builder.CreateMemCpy(target, Align(one.alignment), from, commonAlignment(Align(16), one.offset),
                         one.size);
  }
  for (Argument& argument : source.args()) {
    argument.replaceAllUsesWith(PoisonValue::get(argument.getType()));
  }
  return true;
}

namespace {

// What a call does with a pointer that it gets as an argument.
std::uint32_t use_in_call(const CallBase& call, const Use& use) {
  if (call.isCallee(&use)) {
    return abi::param_is_carried;
  }
  if (isa<AssumeInst>(call)) {
    return 0;
  }
  if (!call.isDataOperand(&use) || !call.doesNotCapture(call.getDataOperandNo(&use))) {
    return everything;
  }
  unsigned operand = call.getDataOperandNo(&use);
  return call.doesNotAccessMemory(operand) ? 0
         : call.onlyReadsMemory(operand)   ? +abi::param_is_read
         : call.onlyWritesMemory(operand)  ? +abi::param_is_written
                                           : abi::param_is_read | abi::param_is_written;
}

// What the code does with `pointer` and with memory that it reaches through it. Conservative once
// it escapes.
std::uint32_t uses_of(Value* pointer) {
  std::uint32_t flags = 0;
  SmallSetVector<Value*, 16> reached;
  reached.insert(pointer);
  for (unsigned i = 0; i < reached.size() && flags != everything; ++i) {
    for (Use& use : reached[i]->uses()) {
      auto* user = cast<Instruction>(use.getUser());
      if (isa<GetElementPtrInst, PHINode, SelectInst, CastInst>(user)) {
        if (user->getType()->isPointerTy()) {
          reached.insert(user);
        } else {
          flags = everything;
        }
      } else if (isa<LoadInst>(user)) {
        flags |= abi::param_is_read;
      } else if (isa<StoreInst>(user)) {
        flags |= use.getOperandNo() == StoreInst::getPointerOperandIndex() ? +abi::param_is_written
                                                                           : everything;
      } else if (isa<AtomicRMWInst, AtomicCmpXchgInst>(user)) {
        // The address is operand 0 of both.
        flags |= use.getOperandNo() == 0 ? abi::param_is_read | abi::param_is_written : everything;
      } else if (auto* call = dyn_cast<CallBase>(user)) {
        flags |= use_in_call(*call, use);
      } else if (isa<ICmpInst>(user)) {
        bool with_null = isa<ConstantPointerNull>(user->getOperand(0)) ||
                         isa<ConstantPointerNull>(user->getOperand(1));
        flags |= with_null ? 0 : +abi::param_is_carried;
      } else {
        flags = everything;
      }
    }
  }
  return flags;
}

}  // namespace

void infer_pointer_flags(kernel& kernel) {
  Argument* params = kernel.body->getArg(0);
  const DataLayout& layout = kernel.body->getParent()->getDataLayout();
  // Anything but a load at a constant offset may reach every parameter.
  SmallVector<std::pair<Value*, std::uint64_t>, 16> addresses = {{params, 0}};
  std::vector<std::uint32_t> flags(kernel.parameters.size(), 0);
  auto conservative = [&] { flags.assign(flags.size(), everything); };
  for (unsigned i = 0; i < addresses.size(); ++i) {
    auto [address, offset] = addresses[i];
    for (User* user : address->users()) {
      if (auto* gep = dyn_cast<GetElementPtrInst>(user)) {
        APInt distance(64, offset);
        if (gep->accumulateConstantOffset(layout, distance)) {
          addresses.push_back({gep, distance.getZExtValue()});
        } else {
          conservative();
        }
      } else if (auto* load = dyn_cast<LoadInst>(user)) {
        for (unsigned p = 0; p < flags.size(); ++p) {
          const parameter& one = kernel.parameters[p];
          std::uint64_t end = offset + layout.getTypeStoreSize(load->getType());
          if (offset < one.offset + one.size && one.offset < end) {
            flags[p] |= load->getType()->isPointerTy() ? uses_of(load) : everything;
          }
        }
      } else {
        conservative();
      }
    }
  }
  for (unsigned p = 0; p < flags.size(); ++p) {
    if (kernel.parameters[p].flags & abi::param_is_pointer) {
      kernel.parameters[p].flags = abi::param_is_pointer | flags[p];
    }
  }
}

}  // namespace sb::pass
