#include "compiler/pass/count_insertion.hpp"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "base/vague_rounds.hpp"
#include "compiler/pass/block_costs.hpp"
#include "compiler/pass/counted_version.hpp"
#include "compiler/pass/draw_marks.hpp"
#include "compiler/pass/lock_steps.hpp"
#include "compiler/pass/look_loops.hpp"
#include "compiler/pass/operation_counts.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// The description is where the object's number says, and says where the texels are.
bool is_of_texels(const Value* pointer) {
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(pointer, objects, nullptr, 0);
  return any_of(objects, [](const Value* object) { return isa<LoadInst>(object); });
}

abi::access_kind atomic_kind(const Instruction& atomic) {
  auto* update = dyn_cast<AtomicRMWInst>(&atomic);
  if (update && update->isFloatingPointOperation()) {
    return abi::access_kind::float_atomic;
  }
  return is_joined(atomic) ? abi::access_kind::joined_atomic : abi::access_kind::atomic;
}

// The function's own counters, kept in registers and added to the block's where it returns. What a
// thread did before it fails is lost, with the launch.
class counters {
 public:
  // `places` numbers the module's accesses.
  counters(Function& function, std::uint32_t& places) : function_(function), places_(places) {}

  // What a texture's instruction loads, but not its description.
  void insert_touches() {
    SmallVector<access, 16> accesses;
    for (Instruction& inst : instructions(function_)) {
      note_accesses(inst, 0, accesses);
    }
    for (const access& one : accesses) {
      if (one.kind == abi::access_kind::load && is_of_texels(one.pointer)) {
        tell(one);
      }
    }
  }

  void insert() {
    // First all that is to be counted, then what counts.
    MapVector<BasicBlock*, operation_counts> blocks;
    SmallVector<access, 16> accesses;
    const SmallVector<lock_step, 8> locks = lock_steps_of(function_);
    const look_loops looks(function_);
    for (BasicBlock& block : function_) {
      BasicBlock* counted_in = looks.counted_in(block);
      if (!counted_in) {
        continue;
      }
      operation_counts& sum = blocks[counted_in];
      const joined_accesses joined(block);
      const std::size_t first = accesses.size();
      for (Instruction& inst : block) {
        sum.add(inst);
        if (!joined.done.contains(&inst)) {
          note_accesses(inst, joined.bytes.lookup(&inst), accesses);
        }
      }
      sum.add(cost_of(block, joined));
      if (counted_in != &block) {
        move_accesses(*counted_in, first, accesses);
      }
    }
    for (const access& one : accesses) {
      tell(one);
    }
    for (Instruction* round : looks.vague_rounds()) {
      tell({round, ConstantPointerNull::get(PointerType::get(round->getContext(), 0)), 0,
            abi::vague_round});
    }
    for (auto& [block, sum] : blocks) {
      IRBuilder<> builder(block->getTerminator());
      builder.SetCurrentDebugLocation(DebugLoc());
      for (std::size_t kind = 0; kind < sum.fixed.size(); ++kind) {
        if (sum.fixed[kind] != 0) {
          increase(builder, kind, builder.getInt64(sum.fixed[kind]));
        }
      }
      for (const operation_counts::length& one : sum.lengths) {
        increase(builder, one.kind, builder.CreateZExtOrTrunc(one.bytes, builder.getInt64Ty()));
      }
    }
    tell_draws();
    tell_locks(locks);
    for (auto& [block, sum] : blocks) {
      if (auto* leave = dyn_cast<ReturnInst>(block->getTerminator())) {
        hand_over(*leave);
      }
    }
    SmallVector<AllocaInst*, 16> used;
    for (AllocaInst* one : values_) {
      if (one) {
        used.push_back(one);
      }
    }
    if (!used.empty()) {
      DominatorTree tree(function_);
      PromoteMemToReg(used, tree);
    }
  }

 private:
  struct access {
    Instruction* before;
    Value* pointer;
    std::uint64_t bytes;
    abi::access_kind kind;
  };

  static void note_accesses(Instruction& inst, std::uint64_t joined, SmallVectorImpl<access>& to) {
    const DataLayout& layout = inst.getDataLayout();
    auto note = [&](Value* pointer, std::uint64_t bytes, abi::access_kind kind) {
      const space where = space_of(pointer);
      if (where == space::global || where == space::shared) {
        to.push_back({&inst, pointer, bytes, kind});
      }
    };
    if (Value* pointer = getLoadStorePointerOperand(&inst)) {
      const std::uint64_t own = layout.getTypeStoreSize(getLoadStoreType(&inst)).getFixedValue();
      note(pointer, joined != 0 ? joined : own,
           isa<LoadInst>(inst) ? abi::access_kind::load : abi::access_kind::store);
    } else if (isa<AtomicRMWInst, AtomicCmpXchgInst>(inst)) {
      note(inst.getOperand(0), layout.getTypeStoreSize(inst.getOperand(1)->getType()),
           atomic_kind(inst));
    } else if (auto* copy = dyn_cast<MemIntrinsic>(&inst)) {
      auto* length = dyn_cast<ConstantInt>(copy->getLength());
      if (!length) {
        return;
      }
      note(copy->getRawDest(), length->getZExtValue(), abi::access_kind::store);
      if (auto* transfer = dyn_cast<MemTransferInst>(copy)) {
        note(transfer->getRawSource(), length->getZExtValue(), abi::access_kind::load);
      }
    }
  }

  // Those from `first` on, to the end of a block that comes before them. What a loop computes
  // itself is not known there.
  static void move_accesses(BasicBlock& to, std::size_t first, SmallVectorImpl<access>& all) {
    const DominatorTree tree(*to.getParent());
    std::size_t kept = first;
    for (std::size_t i = first; i < all.size(); ++i) {
      if (tree.dominates(all[i].pointer, to.getTerminator())) {
        all[kept] = all[i];
        all[kept++].before = to.getTerminator();
      }
    }
    all.truncate(kept);
  }

  void tell(const access& one) {
    IRBuilder<> builder(one.before);
    builder.SetCurrentDebugLocation(DebugLoc());
    call(builder, slot::touch,
         {one.pointer, builder.getInt32(static_cast<std::uint32_t>(one.bytes)),
          builder.getInt32(static_cast<std::uint32_t>(one.kind)), builder.getInt32(places_++)});
  }

  // A slot that takes the running thread first and answers nothing.
  void call(IRBuilder<>& builder, slot which, ArrayRef<Value*> arguments) {
    SmallVector<Value*, 7> all{self(builder)};
    SmallVector<Type*, 7> types{builder.getPtrTy()};
    for (Value* one : arguments) {
      all.push_back(one);
      types.push_back(one->getType());
    }
    Value* target = load_slot(builder, which);
    builder.CreateCall(FunctionType::get(builder.getVoidTy(), types, false), target, all)
        ->setDoesNotThrow();
  }

  Value* self(IRBuilder<>& builder) {
    return is_counted_entry(function_) ? static_cast<Value*>(function_.getArg(1))
                                       : call_self(builder);
  }

  void increase(IRBuilder<>& builder, std::size_t kind, Value* amount) {
    AllocaInst*& value = values_[kind];
    if (!value) {
      BasicBlock& entry = function_.getEntryBlock();
      IRBuilder<> first(&entry, entry.begin());
      first.SetCurrentDebugLocation(DebugLoc());
      value = first.CreateAlloca(first.getInt64Ty());
      auto* zero = new StoreInst(first.getInt64(0), value, false, Align(8));
      zero->insertAfter(value);
    }
    Value* sum = builder.CreateAdd(builder.CreateLoad(builder.getInt64Ty(), value), amount);
    builder.CreateStore(sum, value);
  }

  void hand_over(ReturnInst& leave) {
    // A return behind a call that must be the last stays that.
    Instruction* before = leave.getParent()->getTerminatingMustTailCall();
    IRBuilder<> builder(before ? before : &leave);
    builder.SetCurrentDebugLocation(DebugLoc());
    bool entry = is_counted_entry(function_);
    Value* block = load_field(builder, builder.getPtrTy(), self(builder),
                              offsetof(abi::thread_context, block), "sb.block", true);
    Value* counts = load_field(builder, builder.getPtrTy(), block,
                               offsetof(abi::block_context, counts), "sb.counts", true);
    auto add = [&](std::size_t kind, Value* amount) {
      Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), counts, kind);
      Value* sum = builder.CreateAdd(builder.CreateLoad(builder.getInt64Ty(), place), amount);
      builder.CreateStore(sum, place);
    };
    for (std::size_t kind = 0; kind < abi::kernel_count_kinds; ++kind) {
      if (values_[kind]) {
        add(kind, builder.CreateLoad(builder.getInt64Ty(), values_[kind]));
      }
    }
    if (entry) {
      add(SB_COUNT(threads), builder.getInt64(1));
    }
    call(builder, slot::spent, spent(builder));
  }

  // Instructions, dependent steps and dependent loads, as far as they are counted here.
  SmallVector<Value*, 6> spent(IRBuilder<>& builder) {
    SmallVector<Value*, 6> now;
    for (std::size_t kind = abi::kernel_count_kinds; kind < values_.size(); ++kind) {
      now.push_back(values_[kind] ? builder.CreateLoad(builder.getInt64Ty(), values_[kind])
                                  : static_cast<Value*>(builder.getInt64(0)));
    }
    return now;
  }

  void tell_draws() {
    SmallVector<AtomicRMWInst*, 4> draws;
    SmallVector<CallBase*, 2> rounds;
    for (Instruction& inst : instructions(function_)) {
      if (is_draw(inst)) {
        draws.push_back(cast<AtomicRMWInst>(&inst));
      } else if (is_round(inst)) {
        rounds.push_back(cast<CallBase>(&inst));
      }
    }
    for (CallBase* round : rounds) {
      IRBuilder<> builder(round);
      builder.SetCurrentDebugLocation(DebugLoc());
      unsigned argument = round->arg_size();
      for (Value* one : reverse(spent(builder))) {
        round->setArgOperand(--argument, one);
      }
    }
    for (AtomicRMWInst* draw : draws) {
      IRBuilder<> builder(draw->getNextNode());
      builder.SetCurrentDebugLocation(DebugLoc());
      Value* step = builder.CreateSExtOrTrunc(draw->getValOperand(), builder.getInt64Ty());
      if (draw->getOperation() == AtomicRMWInst::Sub) {
        step = builder.CreateNeg(step);
      }
      SmallVector<Value*, 6> arguments{draw->getPointerOperand(),
                                       builder.CreateZExtOrTrunc(draw, builder.getInt64Ty()), step};
      append_range(arguments, spent(builder));
      call(builder, slot::drew, arguments);
    }
  }

  // At the end of their blocks, where all that these do is counted.
  void tell_locks(ArrayRef<lock_step> locks) {
    for (const lock_step& one : locks) {
      IRBuilder<> builder(one.at->getParent()->getTerminator());
      builder.SetCurrentDebugLocation(DebugLoc());
      Value* lock = one.lock ? one.lock : ConstantPointerNull::get(builder.getPtrTy());
      SmallVector<Value*, 6> arguments{lock, event_of(one, builder)};
      append_range(arguments, spent(builder));
      call(builder, slot::lock_step, arguments);
    }
  }

  Value* call_self(IRBuilder<>& builder) {
    Value* target = load_slot(builder, slot::self);
    return builder.CreateCall(FunctionType::get(builder.getPtrTy(), false), target, {}, "sb.self");
  }

  Function& function_;
  std::uint32_t& places_;
  std::array<AllocaInst*, operation_counts::kinds> values_{};
};

// What was found out about a function that did not count yet.
void forget_effects(Function& function) {
  auto forget = [](auto& of) {
    of.removeFnAttr(Attribute::Memory);
    of.removeFnAttr(Attribute::Speculatable);
    of.removeFnAttr(Attribute::NoSync);
  };
  forget(function);
  if (is_counted_entry(function)) {
    for (Attribute::AttrKind kind : {Attribute::ReadNone, Attribute::ReadOnly, Attribute::Writable,
                                     Attribute::NoAlias, Attribute::NoCapture}) {
      function.removeParamAttr(1, kind);
    }
  }
  for (User* user : function.users()) {
    if (auto* call = dyn_cast<CallBase>(user)) {
      forget(*call);
    }
  }
}

}  // namespace

PreservedAnalyses insert_counters::run(Module& module, ModuleAnalysisManager&) {
  bool changed = false;
  std::uint32_t places = 0;
  for (Function& function : module) {
    if (!function.isDeclaration() && is_counted(function)) {
      forget_effects(function);
      // From here on speed matters less than the time to compile it.
      function.removeFnAttr(Attribute::MinSize);
      function.removeFnAttr(Attribute::OptimizeForSize);
      function.addFnAttr(Attribute::NoInline);
      function.addFnAttr(Attribute::OptimizeNone);
      function.addFnAttr("nooutline");
      counters inserted(function, places);
      if (is_texture_instruction(function)) {
        inserted.insert_touches();
      } else {
        inserted.insert();
      }
      changed = true;
    }
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

}  // namespace sb::pass
