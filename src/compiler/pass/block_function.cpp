#include "compiler/pass/block_function.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/pass/entry_builder.hpp"
#include "compiler/pass/region_function.hpp"
#include "compiler/pass/region_preparation.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/thread_loops.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// Of the worker's stack, which has 8 MiB.
constexpr std::uint64_t most_context_bytes = 4u << 20;

class block_function_builder {
 public:
  block_function_builder(kernel& kernel, Function& function)
      : kernel_(kernel),
        body_(*kernel.body),
        function_(function),
        builder_(function.getContext()),
        entry_(BasicBlock::Create(function.getContext(), "entry", &function)) {
    builder_.SetInsertPoint(entry_);
    builder_.SetCurrentDebugLocation(attach_debug_info(function_, kernel_));
  }

  // One loop around the body as it is.
  void build_one_loop() {
    bind_thread(body_);
    call(body_, {});
    builder_.CreateRetVoid();
    inline_calls();
  }

  // Threads that only wait: the first one stands for all.
  void build_only_thread() {
    bind_thread(body_);
    Value* zero = builder_.getInt32(0);
    calls_.push_back(
        builder_.CreateCall(&body_, {function_.getArg(0), function_.getArg(1), zero, zero, zero}));
    builder_.CreateRetVoid();
    inline_calls();
  }

  void build_regions(const region_plan& plan, const uniformity& uniform, const live_values& live,
                     ArrayRef<counted_barrier> counted) {
    plan_ = &plan;
    uniform_ = &uniform;
    live_ = &live;
    counted_ = counted;
    for (const counted_barrier& one : counted) {
      tallies_[one.tally] = builder_.CreateAlloca(builder_.getInt32Ty(), nullptr, "tally");
    }
    for (Instruction* scalar : live.scalars()) {
      scalar_slot({scalar, slot_kind::value});
    }
    for (PHINode* phi : live.leading_phis()) {
      if (uniform.is_uniform(phi)) {
        scalar_slot({phi, slot_kind::value});
        scalar_slot({phi, slot_kind::incoming});
      }
    }
    threads_ = thread_count();
    for (auto [tally, count] : tallies_) {
      builder_.CreateStore(builder_.getInt32(0), count);
    }
    slot_sharing sharing(plan, uniform, live);
    std::vector<region_function> functions;
    for (unsigned r = 0; r < plan.regions().size(); ++r) {
      functions.push_back(outline_region(body_, plan, uniform, live, sharing, r));
      blocks_.push_back(
          BasicBlock::Create(function_.getContext(), "region." + Twine(r), &function_));
    }
    builder_.CreateBr(blocks_[0]);
    for (unsigned r = 0; r < functions.size(); ++r) {
      builder_.SetInsertPoint(blocks_[r]);
      build_region(r, functions[r]);
    }
    inline_calls();
    for (region_function& one : functions) {
      one.function->eraseFromParent();
    }
  }

 private:
  using slot_map = DenseMap<std::pair<Instruction*, unsigned>, Value*>;

  static std::pair<Instruction*, unsigned> key_of(slot_key key) {
    return {key.value, static_cast<unsigned>(key.kind)};
  }

  void call(Function& function, ArrayRef<Value*> more) {
    Value* nobody = PoisonValue::get(builder_.getInt32Ty());
    SmallVector<Value*, 16> args = {function_.getArg(0), function_.getArg(1), nobody, nobody,
                                    nobody};
    args.append(more.begin(), more.end());
    calls_.push_back(call_for_threads(builder_, kernel_, function, args));
  }

  void inline_calls() {
    for (CallInst* one : calls_) {
      InlineFunctionInfo info;
      InlineFunction(*one, info);
    }
  }

  Value* scalar_slot(slot_key key) {
    Value*& slot = slots_[key_of(key)];
    if (!slot) {
      IRBuilder<> at(entry_, entry_->begin());
      slot = at.CreateAlloca(key.value->getType(), nullptr, key.value->getName());
    }
    return slot;
  }

  // Memory for all threads; arrays begin on cache lines.
  Value* thread_slot(slot_key key) {
    Value*& slot = slots_[key_of(key)];
    if (!slot) {
      IRBuilder<> at(entry_->getTerminator());
      Type* type = stored_type(key.value->getType());
      if (auto* frame = dyn_cast<AllocaInst>(key.value)) {
        const DataLayout& layout = function_.getParent()->getDataLayout();
        type = ArrayType::get(at.getInt8Ty(),
                              alignTo(frame->getAllocationSize(layout)->getFixedValue(), 16));
      }
      auto* memory = at.CreateAlloca(type, threads_, key.value->getName());
      memory->setAlignment(Align(64));
      slot = memory;
    }
    return slot;
  }

  Value* thread_count() {
    Value* count = builder_.getInt64(1);
    for (const char* name : {"__sb_ntid_x", "__sb_ntid_y", "__sb_ntid_z"}) {
      auto size = builtin_function(*function_.getParent(), name, builder_.getInt32Ty());
      Value* wide = builder_.CreateZExt(builder_.CreateCall(size), builder_.getInt64Ty());
      count = builder_.CreateNUWMul(count, wide);
    }
    return count;
  }

  // A value that is the same for all threads, here between the regions.
  Value* outer_value(again_builder& again, Value* value) { return again.make(builder_, value); }

  Value* outer_leaf(Value* value) {
    if (auto* argument = dyn_cast<Argument>(value)) {
      return function_.getArg(argument->getArgNo());
    }
    auto* inst = dyn_cast<Instruction>(value);
    if (!inst) {
      return value;
    }
    return builder_.CreateLoad(inst->getType(), scalar_slot({inst, slot_kind::value}));
  }

  void build_region(unsigned r, region_function& one) {
    const region& region = plan_->regions()[r];
    arrive(region);
    if (one.has_effects) {
      SmallVector<Value*, 16> more;
      for (Instruction* scalar : one.scalars) {
        more.push_back(
            builder_.CreateLoad(scalar->getType(), scalar_slot({scalar, slot_kind::value})));
      }
      for (const slot_key& key : one.slots) {
        bool uniform = uniform_->is_uniform(key.value);
        more.push_back(uniform ? scalar_slot(key) : thread_slot(key));
      }
      for (CallInst* tally : one.tallies) {
        more.push_back(tallies_[tally]);
      }
      bind_thread(*one.function);
      call(*one.function, more);
    }
    leave(r, region);
  }

  // What the block finds at a leader: the values that the way here brought, the barrier's result.
  void arrive(const region& region) {
    for (PHINode& phi : region.leader->phis()) {
      if (live_->leading_phis().contains(&phi) && uniform_->is_uniform(&phi)) {
        Value* value = builder_.CreateLoad(phi.getType(), scalar_slot({&phi, slot_kind::incoming}));
        builder_.CreateStore(value, scalar_slot({&phi, slot_kind::value}));
      }
    }
    for (const counted_barrier& one : counted_) {
      if (one.barrier->getParent() != region.leader) {
        continue;
      }
      Value* count = builder_.CreateLoad(builder_.getInt32Ty(), tallies_[one.tally]);
      builder_.CreateStore(builder_.getInt32(0), tallies_[one.tally]);
      Value* result = count;
      if (one.kind == abi::barrier_kind::and_) {
        Value* all = builder_.CreateTrunc(threads_, builder_.getInt32Ty());
        result = builder_.CreateZExt(builder_.CreateICmpEQ(count, all), builder_.getInt32Ty());
      } else if (one.kind == abi::barrier_kind::or_) {
        result = builder_.CreateZExt(builder_.CreateIsNotNull(count), builder_.getInt32Ty());
      }
      if (live_->scalars().contains(one.barrier)) {
        builder_.CreateStore(result, scalar_slot({one.barrier, slot_kind::value}));
      }
    }
  }

  void leave(unsigned r, const region& region) {
    if (region.next.empty()) {
      builder_.CreateRetVoid();
      return;
    }
    if (!region.decides) {
      bring(r, region.next[0]);
      builder_.CreateBr(blocks_[plan_->led_by(region.next[0])]);
      return;
    }
    auto leaf = [&](Value* value) { return outer_leaf(value); };
    again_builder again(*live_, leaf);
    Instruction* choice = region.decides->getTerminator()->clone();
    choice->dropDbgRecords();
    for (Use& operand : choice->operands()) {
      if (!isa<BasicBlock>(operand)) {
        operand.set(outer_value(again, operand));
      }
    }
    BasicBlock* from = builder_.GetInsertBlock();
    for (unsigned i = 0; i < choice->getNumSuccessors(); ++i) {
      BasicBlock* next = region.decides->getTerminator()->getSuccessor(i);
      auto* edge = BasicBlock::Create(function_.getContext(), "to", &function_);
      choice->setSuccessor(i, edge);
      builder_.SetInsertPoint(edge);
      bring(r, next);
      builder_.CreateBr(blocks_[plan_->led_by(next)]);
    }
    builder_.SetInsertPoint(from);
    builder_.Insert(choice);
    choice->setDebugLoc(builder_.getCurrentDebugLocation());
  }

  // Sets what the next region's phis take, all of them before any changes.
  void bring(unsigned r, BasicBlock* leader) {
    auto leaf = [&](Value* value) { return outer_leaf(value); };
    again_builder again(*live_, leaf);
    for (PHINode& phi : leader->phis()) {
      if (!live_->leading_phis().contains(&phi) || !uniform_->is_uniform(&phi)) {
        continue;
      }
      Value* incoming = live_->only_incoming(phi, r);
      if (incoming && !isa<UndefValue>(incoming)) {
        builder_.CreateStore(outer_value(again, incoming),
                             scalar_slot({&phi, slot_kind::incoming}));
      }
    }
  }

  kernel& kernel_;
  Function& body_;
  Function& function_;
  IRBuilder<> builder_;
  BasicBlock* entry_;
  SmallVector<CallInst*, 8> calls_;

  const region_plan* plan_ = nullptr;
  const uniformity* uniform_ = nullptr;
  const live_values* live_ = nullptr;
  ArrayRef<counted_barrier> counted_;
  slot_map slots_;
  MapVector<CallInst*, Value*> tallies_;
  std::vector<BasicBlock*> blocks_;
  Value* threads_ = nullptr;
};

Function* replace_body(kernel& kernel, Function& function) {
  kernel.body->eraseFromParent();
  return kernel.body = &function;
}

}  // namespace

bool build_block_function(kernel& kernel) {
  Function& body = *kernel.body;
  std::vector<Instruction*> meetings = find_barriers(body);
  if (meetings.empty()) {
    Function& function = *create_entry(kernel);
    block_function_builder builder(kernel, function);
    kernel.threads_are_alike ? builder.build_only_thread() : builder.build_one_loop();
    replace_body(kernel, function);
    return true;
  }
  std::vector<BasicBlock*> cuts = prepare_regions(body, meetings);
  uniformity uniform(body, team::block);
  auto plan = region_plan::make(body, uniform, cuts);
  if (!plan) {
    return false;
  }
  std::vector<counted_barrier> counted = count_at_barriers(meetings);
  live_values live(body, *plan, uniform);
  if (live.context_bytes() * kernel.max_threads > most_context_bytes) {
    for (counted_barrier& one : counted) {
      one.tally->eraseFromParent();
    }
    return false;
  }
  Function& function = *create_entry(kernel);
  block_function_builder(kernel, function).build_regions(*plan, uniform, live, counted);
  replace_body(kernel, function);
  return true;
}

}  // namespace sb::pass
