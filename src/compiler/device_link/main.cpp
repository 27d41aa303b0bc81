// sb-device-link OUTPUT { ORIGIN BITCODE }...
//
// Merges the bitcode of relocatable device code into one module. nvcc calls it; ORIGIN is the
// object or archive member that the bitcode came from, for messages.
#include <llvm/ADT/StringMap.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/ToolOutputFile.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <string>

namespace {

// clang names a static variable or kernel that the host refers to `name__static__ID` or
// `name__intern__ID`, but device code that was emitted before it saw the host's reference still
// says `name`: an undefined symbol, which would also be confused with the one of another file. Both
// are the same variable.
void join_static_names(llvm::Module& module) {
  for (const char* suffix : {"__static__", "__intern__"})
    for (llvm::GlobalObject& defined : module.global_objects()) {
      const auto [name, rest] = defined.getName().split(suffix);
      if (rest.empty() || defined.isDeclaration()) continue;
      llvm::GlobalValue* used = module.getNamedValue(name);
      if (used == nullptr || !used->isDeclaration() || used->getType() != defined.getType())
        continue;
      used->replaceAllUsesWith(&defined);
      used->eraseFromParent();
    }
}

bool is_strong_definition(const llvm::GlobalValue& value) {
  return !value.isDeclaration() && value.hasExternalLinkage();
}

class device_linker {
 public:
  explicit device_linker(llvm::LLVMContext& context)
      : merged_(std::make_unique<llvm::Module>("device_link", context)), linker_(*merged_) {}

  bool add(const std::string& origin, const std::string& file) {
    llvm::SMDiagnostic error;
    std::unique_ptr<llvm::Module> module = llvm::parseIRFile(file, error, merged_->getContext());
    if (!module) {
      complain("Cannot read the device code of '" + origin + "': " + error.getMessage().str() +
               ". It was made by another version of nvcc; compile it again.");
      return false;
    }
    if (first_) {
      merged_->setTargetTriple(module->getTargetTriple());
      merged_->setDataLayout(module->getDataLayout());
      first_ = false;
    } else if (merged_->getTargetTriple() != module->getTargetTriple()) {
      complain("'" + origin + "' is for " + module->getTargetTriple() + ", the others are for " +
               merged_->getTargetTriple());
      return false;
    }
    join_static_names(*module);
    if (!note_symbols(*module, origin)) return false;
    return !linker_.linkInModule(std::move(module));
  }

  // Variables only: what functions the runtime provides is known to the pass, which runs next.
  bool check_variables() const {
    bool complete = true;
    for (const llvm::GlobalVariable& variable : merged_->globals()) {
      // 7 and 8 are __device__ and __constant__; dynamic __shared__ arrays are declarations, too.
      const unsigned space = variable.getAddressSpace();
      if (!variable.isDeclaration() || variable.use_empty() || (space != 7 && space != 8)) continue;
      const auto user = users_.find(variable.getName());
      complain("Undefined reference to '" + llvm::demangle(variable.getName().str()) + "' in '" +
               (user == users_.end() ? std::string("?") : user->second) + "'");
      complete = false;
    }
    return complete;
  }

  bool write(const std::string& file) const {
    std::error_code error;
    llvm::ToolOutputFile out(file, error, llvm::sys::fs::OF_None);
    if (error) {
      complain("Cannot write '" + file + "': " + error.message());
      return false;
    }
    llvm::WriteBitcodeToFile(*merged_, out.os());
    out.keep();
    return true;
  }

  static void complain(const std::string& message) {
    llvm::errs() << "nvlink error   : " << message << "\n";
  }

 private:
  bool note_symbols(const llvm::Module& module, const std::string& origin) {
    bool unique = true;
    for (const llvm::GlobalValue& value : module.global_values()) {
      if (value.isDeclaration()) users_.try_emplace(value.getName(), origin);
      if (!is_strong_definition(value)) continue;
      const auto [first, added] = definitions_.try_emplace(value.getName(), origin);
      if (added) continue;
      complain("Multiple definition of '" + llvm::demangle(value.getName().str()) + "' in '" +
               origin + "', first defined in '" + first->second + "'");
      unique = false;
    }
    return unique;
  }

  std::unique_ptr<llvm::Module> merged_;
  llvm::Linker linker_;
  llvm::StringMap<std::string> definitions_, users_;  // name to the origin that has it first
  bool first_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) {
    llvm::errs() << "usage: sb-device-link OUTPUT { ORIGIN BITCODE }...\n";
    return 2;
  }
  llvm::LLVMContext context;
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo* info, void*) {
        if (info->getSeverity() != llvm::DS_Error) return;
        std::string message;
        llvm::raw_string_ostream stream(message);
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
        device_linker::complain(message);
      },
      nullptr);
  device_linker linker(context);
  bool good = true;
  for (int i = 2; i < argc; i += 2) good = linker.add(argv[i], argv[i + 1]) && good;
  return good && linker.check_variables() && linker.write(argv[1]) ? 0 : 1;
}
