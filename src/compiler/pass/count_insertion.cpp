#include "compiler/pass/count_insertion.hpp"

#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "compiler/pass/counted_version.hpp"
#include "compiler/pass/operation_counts.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// The function's own counters, kept in registers and added to the block's where it returns. What a
// thread did before it fails is lost, with the launch.
class counters {
 public:
  explicit counters(Function& function) : function_(function) {}

  void insert() {
    // First all that is to be counted, then what counts.
    SmallVector<std::pair<BasicBlock*, operation_counts>, 16> blocks;
    for (BasicBlock& block : function_) {
      operation_counts sum;
      for (Instruction& inst : block) {
        sum.add(inst);
      }
      blocks.emplace_back(&block, std::move(sum));
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
    Value* self = entry ? static_cast<Value*>(function_.getArg(1)) : call_self(builder);
    Value* block = load_field(builder, builder.getPtrTy(), self,
                              offsetof(abi::thread_context, block), "sb.block", true);
    Value* counts = load_field(builder, builder.getPtrTy(), block,
                               offsetof(abi::block_context, counts), "sb.counts", true);
    auto add = [&](std::size_t kind, Value* amount) {
      Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), counts, kind);
      Value* sum = builder.CreateAdd(builder.CreateLoad(builder.getInt64Ty(), place), amount);
      builder.CreateStore(sum, place);
    };
    for (std::size_t kind = 0; kind < values_.size(); ++kind) {
      if (values_[kind]) {
        add(kind, builder.CreateLoad(builder.getInt64Ty(), values_[kind]));
      }
    }
    if (entry) {
      add(SB_COUNT(threads), builder.getInt64(1));
    }
  }

  Value* call_self(IRBuilder<>& builder) {
    Value* target = load_slot(builder, slot::self);
    return builder.CreateCall(FunctionType::get(builder.getPtrTy(), false), target, {}, "sb.self");
  }

  Function& function_;
  std::array<AllocaInst*, abi::kernel_count_kinds> values_{};
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
  for (Function& function : module) {
    if (!function.isDeclaration() && is_counted(function)) {
      forget_effects(function);
      counters(function).insert();
      changed = true;
    }
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

}  // namespace sb::pass
