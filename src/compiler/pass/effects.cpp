#include "compiler/pass/effects.hpp"

#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cstdlib>

#include "compiler/pass/kernel_discovery.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/spin_loops.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

enum class slot_effect { none, waits, meets, spins };

slot_effect effect_of(slot which) {
  if (is_convergent(which)) {
    return slot_effect::meets;
  }
  if (which == slot::yield || which == slot::spin) {
    return slot_effect::spins;
  }
  bool waits =
      which == slot::wait_until || which == slot::wait_until_timer || which == slot::nanosleep;
  return waits ? slot_effect::waits : slot_effect::none;
}

// Or knows it, since it waits for one.
bool asks_time(slot which) {
  return tells_time(which) || which == slot::wait_until || which == slot::wait_until_timer;
}

bool is_observable(const Instruction& inst) {
  if (auto* call = dyn_cast<CallBase>(&inst)) {
    if (isa<DbgInfoIntrinsic, LifetimeIntrinsic, AssumeInst>(call)) {
      return false;
    }
    if (auto which = called_slot(*call)) {
      switch (*which) {
        case slot::clock:
        case slot::global_timer:
        case slot::noted_clock:
        case slot::noted_timer:
        case slot::wait_is_over:
        case slot::wait_until:
        case slot::wait_until_timer:
        case slot::nanosleep:
        case slot::sm_id:
          return false;
        default:
          return true;
      }
    }
    return call->mayWriteToMemory();
  }
  if (auto* store = dyn_cast<StoreInst>(&inst)) {
    return store->isVolatile() || !isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand()));
  }
  return inst.mayWriteToMemory();
}

// Something that others could see happens after the instruction, on some path.
bool observable_after(const Instruction& wait) {
  for (const Instruction* next = wait.getNextNode(); next; next = next->getNextNode()) {
    if (is_observable(*next)) {
      return true;
    }
  }
  SmallSetVector<const BasicBlock*, 16> blocks;
  blocks.insert(succ_begin(wait.getParent()), succ_end(wait.getParent()));
  for (unsigned i = 0; i < blocks.size(); ++i) {
    for (const Instruction& inst : *blocks[i]) {
      if (is_observable(inst)) {
        return true;
      }
    }
    blocks.insert(succ_begin(blocks[i]), succ_end(blocks[i]));
  }
  return false;
}

struct summary {
  bool spins = false;
  bool gives_up = false;
  bool meets = false;  // at barriers or warp operations
  bool waits = false;
  bool asks_time = false;
  bool syncs_grid = false;
  bool calls_table = false;
};

summary summarize(const Function& function) {
  summary result;
  for (const Instruction& inst : instructions(function)) {
    auto* call = dyn_cast<CallBase>(&inst);
    auto which = call ? called_slot(*call) : std::nullopt;
    if (!which) {
      continue;
    }
    const slot_effect effect = effect_of(*which);
    result.syncs_grid |= *which == slot::grid_sync;
    result.spins |= effect == slot_effect::spins;
    result.gives_up |= effect == slot_effect::spins && gives_up(*call);
    result.meets |= effect == slot_effect::meets;
    result.waits |= effect == slot_effect::waits;
    result.asks_time |= asks_time(*which);
    // Where threads meet or spin there will be no call of one of them.
    result.calls_table |= effect == slot_effect::waits || effect == slot_effect::none;
  }
  return result;
}

bool waits_before_effects(const Function& body, const DenseSet<const Function*>& waiting,
                          bool indirect_waits) {
  for (const Instruction& inst : instructions(body)) {
    auto* call = dyn_cast<CallBase>(&inst);
    if (!call) {
      continue;
    }
    auto which = called_slot(*call);
    bool waits = which                       ? effect_of(*which) == slot_effect::waits
                 : call->getCalledFunction() ? waiting.contains(call->getCalledFunction())
                                             : indirect_waits && call->isIndirectCall();
    if (waits && observable_after(inst)) {
      return true;
    }
  }
  return false;
}

// Calls that answer the same for every thread of a block, or only let its time pass.
bool is_same_for_all(const CallBase& call) {
  if (auto which = called_slot(call)) {
    return effect_of(*which) == slot_effect::waits || tells_time(*which) ||
           *which == slot::wait_is_over;
  }
  const Function* callee = call.getCalledFunction();
  if (!callee) {
    return false;
  }
  if (callee->isIntrinsic()) {
    return call.isDebugOrPseudoInst() || call.isLifetimeStartOrEnd() ||
           (call.doesNotAccessMemory() && !call.isConvergent());
  }
  StringRef name = callee->getName();
  return name.starts_with("__sb_ntid_") || name.starts_with("__sb_ctaid_") ||
         name.starts_with("__sb_nctaid_");
}

// No thread of the block knows which one it is, and none leaves anything behind: a kernel that only
// waits. Whoever runs one of them has run all.
bool are_threads_alike(const Function& body) {
  return all_of(instructions(body), [](const Instruction& inst) {
    if (auto* call = dyn_cast<CallBase>(&inst)) {
      return is_same_for_all(*call);
    }
    if (auto* store = dyn_cast<StoreInst>(&inst)) {
      return store->isSimple() && isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand()));
    }
    if (auto* load = dyn_cast<LoadInst>(&inst)) {
      return load->isSimple();
    }
    return !inst.mayReadOrWriteMemory();
  });
}

bool is_straight(const Function& body) {
  SmallVector<std::pair<const BasicBlock*, const BasicBlock*>, 4> back_edges;
  FindFunctionBackedges(body, back_edges);
  return back_edges.empty() && none_of(instructions(body), [](const Instruction& inst) {
           auto* call = dyn_cast<CallBase>(&inst);
           return call && call->isIndirectCall();
         });
}

// Whether it neither depends on the floating-point mode nor leaves a trace in its flags.
bool computes_without_floats(const Function& body) {
  const auto is_float = [](const Value* v) { return v->getType()->isFPOrFPVectorTy(); };
  return none_of(instructions(body), [&](const Instruction& inst) {
    return is_float(&inst) || any_of(inst.operand_values(), is_float);
  });
}

bool always_fibers() {
  const char* wanted = std::getenv("STREAMBED_KERNELS");
  return wanted && StringRef(wanted) == "fibers";
}

// `sleeps`: there is something to do for a thread afterwards.
abi::thread_times times_of(const summary& all, bool sleeps) {
  if (!sleeps && !(all.spins && (all.waits || all.asks_time))) {
    return abi::thread_times::none;
  }
  return all.asks_time ? abi::thread_times::are_read : abi::thread_times::sleep;
}

}  // namespace

call_reach::call_reach(Module& module) {
  for (Function& function : module) {
    if (!function.isDeclaration() && function.hasAddressTaken()) {
      address_taken_.push_back(&function);
    }
  }
}

SmallVector<Function*, 4> call_reach::callees(const CallBase& call) const {
  SmallVector<Function*, 4> found;
  if (call.isInlineAsm()) {
    return found;
  }
  if (Function* callee = call.getCalledFunction()) {
    if (!callee->isDeclaration()) {
      found.push_back(callee);
    }
    return found;
  }
  for (Function* candidate : address_taken_) {
    if (candidate->getFunctionType() == call.getFunctionType()) {
      found.push_back(candidate);
    }
  }
  return found;
}

SetVector<Function*> call_reach::from(Function& function) const {
  SetVector<Function*> reached;
  reached.insert(&function);
  for (unsigned i = 0; i < reached.size(); ++i) {
    for (Instruction& inst : instructions(reached[i])) {
      if (auto* call = dyn_cast<CallBase>(&inst)) {
        for (Function* callee : callees(*call)) {
          reached.insert(callee);
        }
      }
    }
  }
  return reached;
}

void decide_mode(kernel& kernel, const call_reach& reach) {
  summary all;
  bool meets_in_call = false;
  DenseSet<const Function*> waiting;
  SetVector<Function*> functions = reach.from(*kernel.body);
  for (Function* function : functions) {
    summary one = summarize(*function);
    // A barrier inside a function that stays a call divides nothing, and nobody stops there.
    meets_in_call |= (one.spins || one.meets) && function != kernel.body;
    all.spins |= one.spins;
    all.gives_up |= one.gives_up;
    all.waits |= one.waits;
    all.asks_time |= one.asks_time;
    all.syncs_grid |= one.syncs_grid;
    all.meets |= one.meets;
    all.calls_table |= one.calls_table;
    if (one.waits && function != kernel.body) {
      waiting.insert(function);
    }
  }
  if (!waiting.empty()) {
    // A call of anything that may lead to a wait is a wait.
    for (Function* function : functions) {
      for (Function* reached : reach.from(*function)) {
        if (reached != kernel.body && waiting.contains(reached)) {
          waiting.insert(function);
          break;
        }
      }
    }
  }
  kernel.syncs_grid = all.syncs_grid;
  kernel.spins = all.spins;
  kernel.gives_up = all.gives_up;
  bool sleeps = all.waits && waits_before_effects(*kernel.body, waiting, !waiting.empty());
  // A wait inside a function that stays a call: what follows inside it counts as well.
  for (Function* function : functions) {
    sleeps |= function != kernel.body && waiting.contains(function) &&
              waits_before_effects(*function, waiting, true);
  }
  kernel.times = times_of(all, sleeps);
  const bool sleeps_in_call = kernel.times != abi::thread_times::none && !waiting.empty();
  const bool fibers = meets_in_call || always_fibers() || sleeps_in_call;
  kernel.mode = fibers ? abi::kernel_mode::fibers : abi::kernel_mode::loop;
  kernel.threads_are_alike = !fibers && kernel.times == abi::thread_times::none &&
                             functions.size() == 1 && are_threads_alike(*kernel.body);
  kernel.is_straight = !fibers && functions.size() == 1 && !all.calls_table && !all.meets &&
                       is_straight(*kernel.body);
  kernel.has_no_floats = kernel.is_straight && computes_without_floats(*kernel.body);
  const bool calls_others = any_of(functions, [&](const Function* function) {
    return function != kernel.body && !is_texture_instruction(*function);
  });
  kernel.stores_thread_index = all.calls_table || calls_others;
}

}  // namespace sb::pass
