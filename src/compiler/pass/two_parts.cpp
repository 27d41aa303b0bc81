#include "compiler/pass/two_parts.hpp"

#include <fcntl.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/raw_ostream.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "compiler/pass/cleanup.hpp"
#include "compiler/pass/counted_version.hpp"
#include "compiler/pass/linear_warps.hpp"
#include "compiler/pass/usual_blocks.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// In halves of instructions, of which each takes some 0.15 ms to get through LLVM.
constexpr std::uint64_t least_work = 2400;
constexpr std::uint64_t least_part = 5;  // of it for the second process, as a fraction: 1/5
constexpr std::uint64_t work_of_function = 120;

pid_t second_process = -1;
int said_by_second = -1;  // a file in memory that is its standard error

// Both would say the same last line, `1 warning generated`, in pieces that mix.
void repeat_what_second_said() {
  std::array<char, 4096> text;
  for (off_t at = 0;;) {
    ssize_t length = pread(said_by_second, text.data(), text.size(), at);
    if (length <= 0) {
      return;
    }
    errs().write(text.data(), static_cast<std::size_t>(length));
    at += length;
  }
}

// As measured (bench/compile/dense.cu, kernel by kernel).
std::uint64_t work_of_instruction(Function& function) {
  // To the one nothing is done any more when its counters are in, the other has no vectors.
  if (is_counted(function) || is_seldom_run(function)) {
    return 1;
  }
  // No loop is left in the one, the other has vectors without a rest (usual_blocks.hpp).
  if (is_usual_version(function) || shared_memory_of(function)) {
    return is_usual_version(function) ? 5 : 6;
  }
  return has_usual_version(function) ? 3 : 2;
}

// Loops over threads inside of rounds that are written out: what every thread loads and stores is
// there once for each vector. What some threads do in some rounds is little in the end.
std::uint64_t work_of_rounds(const Loop& rounds, const DominatorTree& order,
                             ScalarEvolution& evolution) {
  std::uint64_t accesses = 0;
  for (const Loop* threads : rounds.getSubLoops()) {
    const BasicBlock* latch = threads->getLoopLatch();
    std::uint64_t of_thread = 0;
    for (const BasicBlock* block : threads->blocks()) {
      if (latch && order.dominates(block, latch)) {
        of_thread += count_if(*block, IsaPred<LoadInst, StoreInst>);
      }
    }
    accesses += of_thread * evolution.getSmallConstantTripCount(threads);
  }
  return accesses * evolution.getSmallConstantTripCount(&rounds);
}

// Of a version for one width (written_out.hpp), beside its instructions.
std::uint64_t work_of_rounds(Function& usual, FunctionAnalysisManager& analyses) {
  auto& order = analyses.getResult<DominatorTreeAnalysis>(usual);
  auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(usual);
  std::uint64_t work = 0;
  for (const Loop* loop : analyses.getResult<LoopAnalysis>(usual).getLoopsInPreorder()) {
    work += work_of_rounds(*loop, order, evolution);
  }
  return work;
}

// The object that it writes belongs to this one's result. Called when this one ends.
void wait_for_second() {
  if (second_process <= 0) {
    return;
  }
  int status = 0;
  while (waitpid(second_process, &status, 0) < 0 && errno == EINTR) {
  }
  repeat_what_second_said();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    _exit(1);
  }
}

bool is_descriptor(const GlobalVariable& variable) {
  return variable.hasInitializer() && variable.hasProtectedVisibility() &&
         variable.getName().ends_with(".sb");
}

// A kernel's version: its descriptor, and what that reaches but for other descriptors.
struct version {
  GlobalVariable* descriptor = nullptr;
  DenseSet<GlobalValue*> reached;
  std::uint64_t work = 0;
  unsigned part = 0;
};

version version_of(GlobalVariable& descriptor, FunctionAnalysisManager& analyses) {
  version one;
  one.descriptor = &descriptor;
  SetVector<GlobalValue*> found;
  DenseSet<Constant*> seen;
  seen.insert(&descriptor);
  reach_constants(descriptor.getInitializer(), found, seen);
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto* variable = dyn_cast<GlobalVariable>(found[i]);
    if (variable && is_descriptor(*variable)) {
      continue;
    }
    one.reached.insert(found[i]);
    if (variable && variable->hasInitializer()) {
      reach_constants(variable->getInitializer(), found, seen);
    } else if (auto* function = dyn_cast<Function>(found[i])) {
      const std::uint64_t each = work_of_instruction(*function);
      one.work += function->isDeclaration() ? 0 : work_of_function;
      one.work += is_usual_version(*function) ? work_of_rounds(*function, analyses) : 0;
      for (Instruction& inst : instructions(*function)) {
        one.work += each;
        for (Value* operand : inst.operands()) {
          if (auto* constant = dyn_cast<Constant>(operand)) {
            reach_constants(constant, found, seen);
          }
        }
      }
    }
  }
  return one;
}

// Functions with an address are what they are in one place only. So are other things that occur in
// no kernel of the usual kind.
bool can_be_divided(Module& module) {
  if (!module.alias_empty() || !module.ifunc_empty() || !module.getModuleInlineAsm().empty() ||
      module.debug_compile_units_begin() != module.debug_compile_units_end()) {
    return false;
  }
  return all_of(module, [](Function& function) {
    function.removeDeadConstantUsers();
    return function.isDeclaration() || all_of(function.users(), [&](const User* user) {
             auto* call = dyn_cast<CallBase>(user);
             return (call && call->getCalledOperand() == &function &&
                     !is_contained(call->args(), &function)) ||
                    (isa<ConstantStruct>(user) && all_of(user->users(), [](const User* whole) {
                       auto* variable = dyn_cast<GlobalVariable>(whole);
                       return variable && is_descriptor(*variable);
                     }));
           });
  });
}

// The largest first, each to the part that has less; the second part is the smaller one.
bool assign_parts(std::vector<version>& versions) {
  std::vector<version*> order;
  for (version& one : versions) {
    order.push_back(&one);
  }
  sort(order, [](const version* a, const version* b) {
    return a->work != b->work ? a->work > b->work : a < b;
  });
  std::array<std::uint64_t, 2> work{};
  for (version* one : order) {
    one->part = work[1] < work[0] ? 1 : 0;
    work[one->part] += one->work;
  }
  if (work[1] > work[0]) {
    for (version& one : versions) {
      one.part = 1 - one.part;
    }
    std::swap(work[0], work[1]);
  }
  return work[0] + work[1] >= least_work && work[1] * least_part >= work[0] + work[1];
}

// Variables that both parts reach, or that the program names: they have one place.
void make_known(GlobalVariable& variable, unsigned number) {
  if (variable.hasLocalLinkage()) {
    if (!variable.hasName()) {
      variable.setName("sb.common");
    }
    variable.setName(variable.getName() + ".sb." + Twine(number));
    variable.setLinkage(GlobalValue::ExternalLinkage);
    variable.setVisibility(GlobalValue::HiddenVisibility);
    variable.setDSOLocal(true);
  } else if (variable.hasLinkOnceLinkage()) {
    variable.setLinkage(variable.hasLinkOnceODRLinkage() ? GlobalValue::WeakODRLinkage
                                                         : GlobalValue::WeakAnyLinkage);
  }
}

// The second part knows what the first has, and what is in it if that never changes.
void leave_to_first(GlobalVariable& variable) {
  variable.setComdat(nullptr);
  if (variable.isConstant() && variable.hasDefinitiveInitializer()) {
    variable.setLinkage(GlobalValue::AvailableExternallyLinkage);
  } else {
    variable.setInitializer(nullptr);
    variable.setLinkage(GlobalValue::ExternalLinkage);
  }
}

// Both processes' modules are the same but for this.
void keep_part(Module& module, ArrayRef<version> versions, ArrayRef<GlobalVariable*> firsts,
               unsigned part) {
  for (const version& one : versions) {
    if (one.part != part) {
      one.descriptor->setInitializer(nullptr);
    }
  }
  if (part == 1) {
    for (GlobalVariable* variable : firsts) {
      leave_to_first(*variable);
    }
  }
  drop_unreachable(module, {});
}

}  // namespace

void divide_work(Module& module, FunctionAnalysisManager& analyses) {
  const char* second_object = std::getenv("SB_SECOND_PART");
  if (!second_object || second_process != -1 || !can_be_divided(module)) {
    return;
  }
  std::vector<version> versions;
  for (GlobalVariable& variable : module.globals()) {
    if (is_descriptor(variable)) {
      versions.push_back(version_of(variable, analyses));
    }
  }
  if (!assign_parts(versions)) {
    return;
  }
  int file = open(second_object, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    return;
  }

  std::vector<GlobalVariable*> firsts;
  DenseMap<const GlobalValue*, unsigned> parts;  // of those that reach it, as bits
  for (const version& one : versions) {
    for (const GlobalValue* value : one.reached) {
      parts[value] |= 1u << one.part;
    }
  }
  for (GlobalVariable& variable : module.globals()) {
    if (variable.isDeclaration() || is_descriptor(variable)) {
      continue;
    }
    bool is_common = parts.lookup(&variable) == 3 && !variable.hasGlobalUnnamedAddr();
    if (is_common || !variable.isDiscardableIfUnused()) {
      make_known(variable, static_cast<unsigned>(firsts.size()));
      firsts.push_back(&variable);
    }
  }

  said_by_second = memfd_create("said", MFD_CLOEXEC);
  // What is in the buffers would be written twice.
  outs().flush();
  errs().flush();
  second_process = fork();
  if (second_process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // who ends the first ends both
    dup2(file, STDOUT_FILENO);
    dup2(said_by_second, STDERR_FILENO);
  } else if (second_process > 0) {
    std::atexit(wait_for_second);
  }
  close(file);
  if (second_process < 0) {
    unlink(second_object);
    return;
  }
  keep_part(module, versions, firsts, second_process == 0 ? 1 : 0);
}

}  // namespace sb::pass
