#include "compiler/pass/maths.hpp"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "compiler/pass/counted_version.hpp"
#include "compiler/pass/mask_registers.hpp"
#include "compiler/pass/maths_bitcode.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral prefix = "__sb_maths_";
constexpr StringLiteral rare_prefix = "__sb_maths_rare_";
// What the C library has not: special_functions.h declares it.
constexpr StringLiteral special_prefix = "__streambed_";
constexpr StringLiteral interleave_count = "llvm.loop.interleave.count";
constexpr StringLiteral vector_width = "llvm.loop.vectorize.width";
constexpr unsigned chains_together = 4;
constexpr unsigned floats_together = 4;
constexpr unsigned widths[] = {2, 4, 8, 16};

bool is_ours(const Function& function) { return function.getName().starts_with(prefix); }
bool is_rare_call(const Function& function) { return function.getName().starts_with(rare_prefix); }

StringRef name_of(Intrinsic::ID id) {
  switch (id) {
    case Intrinsic::exp:
      return "exp";
    case Intrinsic::exp2:
      return "exp2";
    case Intrinsic::exp10:
      return "exp10";
    case Intrinsic::log:
      return "log";
    case Intrinsic::log2:
      return "log2";
    case Intrinsic::log10:
      return "log10";
    case Intrinsic::sin:
      return "sin";
    case Intrinsic::cos:
      return "cos";
    case Intrinsic::tan:
      return "tan";
    case Intrinsic::asin:
      return "asin";
    case Intrinsic::acos:
      return "acos";
    case Intrinsic::atan:
      return "atan";
    case Intrinsic::sinh:
      return "sinh";
    case Intrinsic::cosh:
      return "cosh";
    case Intrinsic::tanh:
      return "tanh";
    case Intrinsic::pow:
      return "pow";
    case Intrinsic::ldexp:
      return "ldexp";
    default:
      return "";
  }
}

bool calls_special(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  return callee && callee->isDeclaration() && callee->getName().starts_with(special_prefix);
}

// The library's name of what is called, mostly that of the C library, or nothing.
std::string called_function(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration()) {
    return "";
  }
  StringRef plain = callee->getName();
  if (plain.consume_front(special_prefix)) {
    return plain.str();
  }
  Type* type = call.getType();
  const bool whole = plain == "ilogb" || plain == "ilogbf";
  if (!whole && !type->isFloatTy() && !type->isDoubleTy()) {
    return "";
  }
  if (!callee->isIntrinsic()) {
    return call.isNoBuiltin() ? "" : plain.str();
  }
  StringRef name = name_of(callee->getIntrinsicID());
  return name.empty() || type->isDoubleTy() ? name.str() : (name + "f").str();
}

std::unique_ptr<Module> load_library(LLVMContext& context) {
  auto buffer = MemoryBuffer::getMemBuffer(maths_bitcode(), "maths", false);
  auto library = getOwningLazyBitcodeModule(std::move(buffer), context);
  if (!library) {
    report_fatal_error(library.takeError());
  }
  return std::move(*library);
}

std::vector<CallBase*> calls_in(Function& function, function_ref<bool(const CallBase&)> is_wanted) {
  std::vector<CallBase*> calls;
  for (Instruction& inst : instructions(function)) {
    if (auto* call = dyn_cast<CallBase>(&inst); call && is_wanted(*call)) {
      calls.push_back(call);
    }
  }
  return calls;
}

// A function of the library knows nothing about the processor that the kernels are for. It must
// know its registers all the same: functions that keep them all keep those that they know of.
void adopt(Function& function, const Function& kernel) {
  function.setLinkage(GlobalValue::InternalLinkage);
  AttributeMask foreign;
  for (Attribute attribute : function.getAttributes().getFnAttrs()) {
    if (attribute.isStringAttribute()) {
      foreign.addAttribute(attribute.getKindAsString());
    }
  }
  foreign.addAttribute(Attribute::UWTable);
  function.removeFnAttrs(foreign);
  for (const char* processor : {"target-cpu", "target-features", "tune-cpu"}) {
    if (Attribute known = kernel.getFnAttribute(processor); known.isValid()) {
      function.addFnAttr(known);
    }
  }
  // LLVM clears the upper halves of the registers on x86-64 before a function returns, even one
  // that keeps all registers.
  Attribute features = kernel.getFnAttribute("target-features");
  if (Triple(function.getParent()->getTargetTriple()).isX86() && features.isValid() &&
      function.getCallingConv() == CallingConv::PreserveAll) {
    function.addFnAttr("target-features", (features.getValueAsString() + ",-vzeroupper").str());
  }
}

// The form for a vector of `width` lanes: what is quick, unless any lane is rare. Then lane by
// lane.
Function* vector_form(Function& scalar, unsigned width) {
  auto widened = [&](Type* type) { return FixedVectorType::get(type, width); };
  SmallVector<Type*, 4> types;
  for (const Argument& argument : scalar.args()) {
    types.push_back(widened(argument.getType()));
  }
  auto* form = Function::Create(FunctionType::get(widened(scalar.getReturnType()), types, false),
                                GlobalValue::InternalLinkage, scalar.getName() + "." + Twine(width),
                                scalar.getParent());
  form->copyAttributesFrom(&scalar);
  form->setCallingConv(CallingConv::C);
  LLVMContext& context = scalar.getContext();
  auto* entry = BasicBlock::Create(context, "", form);
  auto* slow = BasicBlock::Create(context, "rare", form);
  auto* end = BasicBlock::Create(context, "", form);
  IRBuilder<> builder(entry);
  Value* quick = form->getArg(form->arg_size() - 1);
  Value* any = builder.CreateIsNotNull(builder.CreateOrReduce(form->getArg(0)));
  builder.CreateCondBr(any, slow, end);
  builder.SetInsertPoint(slow);
  Value* result = quick;
  for (unsigned lane = 0; lane < width; ++lane) {
    SmallVector<Value*, 4> arguments;
    for (Argument& argument : form->args()) {
      arguments.push_back(builder.CreateExtractElement(&argument, lane));
    }
    CallInst* one = builder.CreateCall(&scalar, arguments);
    one->setCallingConv(scalar.getCallingConv());
    result = builder.CreateInsertElement(result, one, lane);
  }
  builder.CreateBr(end);
  builder.SetInsertPoint(end);
  PHINode* all = builder.CreatePHI(quick->getType(), 2);
  all->addIncoming(quick, entry);
  all->addIncoming(result, slow);
  builder.CreateRet(all);
  return form;
}

// Tells the vectoriser about the forms (the VFABI's names).
void offer_vector_forms(Function& scalar) {
  std::string text;
  raw_string_ostream forms(text);
  for (unsigned width : widths) {
    Function* form = vector_form(scalar, width);
    forms << (width == widths[0] ? "" : ",") << "_ZGV_LLVM_N" << width
          << std::string(scalar.arg_size(), 'v') << '_' << scalar.getName() << '('
          << form->getName() << ')';
  }
  for (User* user : scalar.users()) {
    if (auto* call = dyn_cast<CallBase>(user); call && !is_ours(*call->getFunction())) {
      call->addFnAttr(Attribute::get(scalar.getContext(), "vector-function-abi-variant", text));
    }
  }
}

// A double that an instruction holds needs no register.
bool is_short(const ConstantFP& number) {
  return number.getValueAPF().bitcastToAPInt().countr_zero() >= 48;
}

// Five instructions make a double from nothing, and LLVM would have them in the loop, for each of a
// dozen coefficients. Those of the library's functions come from memory, once for each kernel.
class long_numbers {
 public:
  void collect(Function& function) {
    for (Instruction& inst : instructions(function)) {
      for (Value* operand : inst.operands()) {
        auto* number = dyn_cast<ConstantFP>(operand);
        if (number && number->getType()->isDoubleTy() && !is_short(*number)) {
          numbers_.insert(number);
        }
      }
    }
  }
  void replace_in(Function& function) {
    DenseMap<ConstantFP*, Value*> loaded;
    IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    for (Instruction& inst : instructions(function)) {
      if (isa<PHINode>(inst)) {
        continue;
      }
      for (Use& operand : inst.operands()) {
        auto* number = dyn_cast<ConstantFP>(operand);
        if (number && numbers_.contains(number)) {
          Value*& value = loaded[number];
          if (!value) {
            value =
                builder.CreateLoad(number->getType(), memory_of(*number, *function.getParent()));
          }
          operand.set(value);
        }
      }
    }
  }

 private:
  GlobalVariable* memory_of(ConstantFP& number, Module& module) {
    GlobalVariable*& memory = memory_[&number];
    if (!memory) {
      memory = new GlobalVariable(module, number.getType(), false, GlobalValue::InternalLinkage,
                                  &number, "sb.number");
      // Or it would be folded again.
      memory->setExternallyInitialized(true);
    }
    return memory;
  }

  DenseSet<ConstantFP*> numbers_;
  DenseMap<ConstantFP*, GlobalVariable*> memory_;
};

void call_if_rare(CallBase& call) {
  IRBuilder<> builder(&call);
  Value* quick = call.getArgOperand(call.arg_size() - 1);
  BasicBlock* before = call.getParent();
  Instruction* next = call.getNextNode();
  Value* is_rare = builder.CreateIsNotNull(call.getArgOperand(0));
  Instruction* end = SplitBlockAndInsertIfThen(is_rare, next, false);
  call.moveBefore(end);
  builder.SetInsertPoint(&next->getParent()->front());
  PHINode* result = builder.CreatePHI(call.getType(), 2);
  call.replaceAllUsesWith(result);
  result->addIncoming(quick, before);
  result->addIncoming(&call, end->getParent());
}

// The arithmetic of a function is a long chain; processors look ahead less far than to the next
// round of a loop. Some rounds side by side keep them busy, unless several calls do so.
void interleave_loops(ArrayRef<CallBase*> calls, FunctionAnalysisManager& functions) {
  MapVector<Loop*, unsigned> chains;
  for (CallBase* call : calls) {
    Loop* loop =
        functions.getResult<LoopAnalysis>(*call->getFunction()).getLoopFor(call->getParent());
    if (!loop || !loop->isInnermost()) {
      continue;
    }
    chains[loop] += 1;
    // It is doubles inside, and LLVM would take a loop for one of doubles.
    if (call->getCalledFunction()->getName() == "__sb_maths_powf" &&
        !findStringMetadataForLoop(loop, vector_width)) {
      addStringMetadataToLoop(loop, vector_width.data(), floats_together);
      chains[loop] += 1;
    }
  }
  for (auto [loop, count] : chains) {
    if (count < chains_together && !findStringMetadataForLoop(loop, interleave_count)) {
      addStringMetadataToLoop(loop, interleave_count.data(), chains_together / count);
    }
  }
}

// clang makes an instruction of fmod, which no vector has.
void call_remainders(Function& function) {
  SmallVector<Instruction*, 4> found;
  for (Instruction& inst : instructions(function)) {
    Type* type = inst.getType();
    if (inst.getOpcode() == Instruction::FRem && (type->isFloatTy() || type->isDoubleTy())) {
      found.push_back(&inst);
    }
  }
  for (Instruction* inst : found) {
    Type* type = inst->getType();
    auto remainder = function.getParent()->getOrInsertFunction(type->isFloatTy() ? "fmodf" : "fmod",
                                                               type, type, type);
    CallInst* call = CallInst::Create(remainder, {inst->getOperand(0), inst->getOperand(1)});
    ReplaceInstWithInst(inst, call);
  }
}

// Without such an instruction each fused product is a call itself: one of the C library's is less.
bool fuses_products(const Function& function) {
  const StringRef features = function.getFnAttribute("target-features").getValueAsString();
  return !Triple(function.getParent()->getTargetTriple()).isX86() || features.contains("+fma");
}

void erase_unused(Module& module) {
  bool again = true;
  while (again) {
    again = false;
    for (Function& function : make_early_inc_range(module)) {
      if (is_ours(function) && function.use_empty()) {
        function.eraseFromParent();
        again = true;
      }
    }
  }
}

}  // namespace

PreservedAnalyses expand_maths::run(Module& module, ModuleAnalysisManager& analyses) {
  std::unique_ptr<Module> library;
  std::vector<CallBase*> calls, kept;
  for (Function& function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    // Calls stay calls there, but somebody has to be called.
    const bool keeps = is_counted(function) || function.hasOptNone() || !fuses_products(function);
    if (!keeps) {
      call_remainders(function);
    }
    for (CallBase* call : calls_in(function, [&](auto& c) {
           return keeps ? calls_special(c) : !called_function(c).empty();
         })) {
      if (!library) {
        library = load_library(module.getContext());
      }
      std::string name = (prefix + called_function(*call)).str();
      Function* ours = library->getFunction(name);
      if (ours && ours->getFunctionType() == call->getFunctionType()) {
        call->setCalledFunction(module.getOrInsertFunction(name, ours->getFunctionType()));
        call->setAttributes({});
        (keeps ? kept : calls).push_back(call);
      }
    }
  }
  choose_registers(module, calls);
  if (calls.empty() && kept.empty()) {
    return PreservedAnalyses::all();
  }
  for (const char* foreign : {"llvm.module.flags", "llvm.ident", "llvm.linker.options"}) {
    if (NamedMDNode* node = library->getNamedMetadata(foreign)) {
      node->eraseFromParent();
    }
  }
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  if (Linker::linkModules(module, std::move(library), Linker::LinkOnlyNeeded)) {
    report_fatal_error("the device's maths functions do not fit this module");
  }
  SmallVector<Function*, 8> rare;
  long_numbers numbers;
  for (Function& function : module) {
    if (is_ours(function) && !function.isDeclaration()) {
      adopt(function, *(calls.empty() ? kept : calls).front()->getFunction());
      numbers.collect(function);
      if (is_rare_call(function)) {
        rare.push_back(&function);
      }
    }
  }
  FunctionAnalysisManager& functions =
      analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  interleave_loops(calls, functions);
  SetVector<Function*> callers;
  for (CallBase* call : calls) {
    callers.insert(call->getFunction());
    InlineFunctionInfo info;
    InlineFunction(*call, info);
  }
  for (Function* caller : callers) {
    numbers.replace_in(*caller);
  }
  erase_unused(module);
  for (Function* function : rare) {
    offer_vector_forms(*function);
  }
  functions.clear();
  return PreservedAnalyses::none();
}

PreservedAnalyses finish_maths::run(Module& module, ModuleAnalysisManager&) {
  std::vector<CallBase*> calls;
  for (Function& function : module) {
    if (is_ours(function)) {
      continue;
    }
    append_range(calls, calls_in(function, [](const CallBase& call) {
                   const Function* callee = call.getCalledFunction();
                   return callee && is_rare_call(*callee) && !callee->isDeclaration();
                 }));
  }
  for (CallBase* call : calls) {
    if (call->getType()->isVectorTy()) {
      InlineFunctionInfo info;
      InlineFunction(*call, info);
    } else {
      call_if_rare(*call);
    }
  }
  erase_unused(module);
  return PreservedAnalyses::none();
}

namespace {

// Calls of a function with results in memory, each of which `replace` takes the place of.
void replace_calls(Module& module, StringRef name, unsigned arguments,
                   function_ref<void(IRBuilder<>&, CallInst&)> replace) {
  Function* function = module.getFunction(name);
  if (!function || !function->isDeclaration() || function->arg_size() != arguments) {
    return;
  }
  for (User* user : make_early_inc_range(function->users())) {
    auto* call = dyn_cast<CallInst>(user);
    if (call && call->getCalledFunction() == function) {
      IRBuilder<> builder(call);
      replace(builder, *call);
      call->eraseFromParent();
    }
  }
}

// A function of the library that has no effect.
Value* special_value(IRBuilder<>& builder, Module& module, const Twine& name, Type* type,
                     Value* argument) {
  FunctionCallee callee =
      module.getOrInsertFunction((special_prefix + name).str(), type, argument->getType());
  auto* function = cast<Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  return builder.CreateCall(callee, argument);
}

}  // namespace

void split_results(Module& module) {
  for (StringRef suffix : {"f", ""}) {
    replace_calls(module, ("sincos" + suffix).str(), 3, [](IRBuilder<>& builder, CallInst& call) {
      Value* angle = call.getArgOperand(0);
      Value* sine = builder.CreateUnaryIntrinsic(Intrinsic::sin, angle);
      Value* cosine = builder.CreateUnaryIntrinsic(Intrinsic::cos, angle);
      builder.CreateStore(sine, call.getArgOperand(1));
      builder.CreateStore(cosine, call.getArgOperand(2));
    });
    replace_calls(module, ("frexp" + suffix).str(), 2, [&](IRBuilder<>& builder, CallInst& call) {
      Value* x = call.getArgOperand(0);
      Value* exponent =
          special_value(builder, module, "exponent" + suffix, builder.getInt32Ty(), x);
      builder.CreateStore(exponent, call.getArgOperand(1));
      call.replaceAllUsesWith(special_value(builder, module, "mantissa" + suffix, x->getType(), x));
    });
    // Nothing is left of an infinity.
    replace_calls(module, ("modf" + suffix).str(), 2, [](IRBuilder<>& builder, CallInst& call) {
      Value* x = call.getArgOperand(0);
      Value* whole = builder.CreateUnaryIntrinsic(Intrinsic::trunc, x);
      Value* rest =
          builder.CreateSelect(builder.CreateFCmpOEQ(x, whole), ConstantFP::get(x->getType(), 0.0),
                               builder.CreateFSub(x, whole));
      builder.CreateStore(whole, call.getArgOperand(1));
      call.replaceAllUsesWith(builder.CreateBinaryIntrinsic(Intrinsic::copysign, rest, x));
    });
  }
}

}  // namespace sb::pass
