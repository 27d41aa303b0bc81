#include "call_places.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <map>

namespace sb::host_pass {

using namespace llvm;

namespace {

// The runtime's: takes a pointer to { const char* file; unsigned line; }, for the thread's next
// call.
constexpr StringLiteral teller = "__cudaStreambedCallAt";

bool is_api(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration()) return false;
  // A launch tells its place with its configuration; what calls this is the kernel's stub.
  const StringRef name = callee->getName();
  return name.starts_with("cuda") && !name.starts_with("cudaLaunchKernel");
}

bool is_own_header(const DILocation& at) {
  const StringRef file = at.getFilename();
  return file.contains("cuda_runtime") || file.contains("/crt/");
}

// The line of the program: the toolkit's headers wrap some calls, which are inlined.
const DILocation* place_of(const CallBase& call) {
  const DILocation* at = call.getDebugLoc();
  while (at != nullptr && is_own_header(*at)) at = at->getInlinedAt();
  return at != nullptr && at->getLine() != 0 ? at : nullptr;
}

class places {
 public:
  explicit places(Module& module) : module_(module) {}

  Constant* of(const DILocation& at) {
    Constant*& place = known_[{at.getFilename().str(), at.getLine()}];
    if (place == nullptr) {
      LLVMContext& context = module_.getContext();
      Constant*& file = files_[at.getFilename().str()];
      if (file == nullptr) {
        Constant* text = ConstantDataArray::getString(context, at.getFilename());
        file = constant(text, "sb.file");
      }
      Constant* values[] = {file, ConstantInt::get(Type::getInt32Ty(context), at.getLine())};
      place = constant(ConstantStruct::getAnon(values), "sb.place");
    }
    return place;
  }

 private:
  GlobalVariable* constant(Constant* value, const Twine& name) {
    auto* made = new GlobalVariable(module_, value->getType(), true, GlobalValue::PrivateLinkage,
                                    value, name);
    made->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    return made;
  }

  Module& module_;
  std::map<std::string, Constant*> files_;
  std::map<std::pair<std::string, unsigned>, Constant*> known_;
};

bool has_only_lines(const Module& module) {
  for (const DICompileUnit* unit : module.debug_compile_units())
    if (unit->getEmissionKind() != DICompileUnit::LineTablesOnly) return false;
  return true;
}

}  // namespace

PreservedAnalyses call_places::run(Module& module, ModuleAnalysisManager&) {
  places all(module);
  LLVMContext& context = module.getContext();
  FunctionType* type =
      FunctionType::get(Type::getVoidTy(context), {PointerType::getUnqual(context)}, false);
  for (Function& function : module) {
    for (BasicBlock& block : function) {
      for (Instruction& instruction : block) {
        const auto* call = dyn_cast<CallBase>(&instruction);
        if (call == nullptr || !is_api(*call)) continue;
        const DILocation* at = place_of(*call);
        if (at == nullptr) continue;
        IRBuilder<> builder(&instruction);
        builder.CreateCall(module.getOrInsertFunction(teller, type), {all.of(*at)});
      }
    }
  }
  if (has_only_lines(module)) StripDebugInfo(module);
  return PreservedAnalyses::none();
}

}  // namespace sb::host_pass
