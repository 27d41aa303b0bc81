#include "compiler/pass/lockstep.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/pass/region_preparation.hpp"
#include "compiler/pass/thread_loops.hpp"

namespace sb::pass {

using namespace llvm;

lockstep_builder::lockstep_builder(Function& body, Function& function, team team, DebugLoc location)
    : body_(body),
      function_(function),
      team_(team),
      builder_(function.getContext()),
      entry_(BasicBlock::Create(function.getContext(), "entry", &function)) {
  builder_.SetInsertPoint(entry_);
  builder_.SetCurrentDebugLocation(location);
}

bool lockstep_builder::plan(std::vector<meeting> meetings, std::vector<BasicBlock*> cuts,
                            std::uint64_t most_bytes, std::uint64_t most_frame_bytes) {
  meetings_ = std::move(meetings);
  for (const meeting& one : meetings_) {
    cuts.push_back(one.place->getParent());
  }
  prepare_regions(body_, team_, cuts);
  uniform_.emplace(body_, team_);
  plan_ = region_plan::make(body_, *uniform_, cuts);
  if (!plan_) {
    return false;
  }
  live_.emplace(body_, *plan_, *uniform_);
  std::uint64_t frames = live_->frame_bytes();
  return live_->context_bytes() - frames <= most_bytes && frames <= most_frame_bytes;
}

bool lockstep_builder::build() {
  slot_sharing sharing(*plan_, *uniform_, *live_);
  std::vector<region_function> functions;
  bool good = true;
  for (unsigned r = 0; good && r < plan_->regions().size(); ++r) {
    functions.push_back(outline_region(body_, team_, *plan_, *uniform_, *live_, sharing, r));
    blocks_.push_back(BasicBlock::Create(function_.getContext(), "region." + Twine(r), &function_));
    good = prepare(*functions.back().function);
  }
  if (good) {
    set_up();
    builder_.CreateBr(blocks_[0]);
    for (unsigned r = 0; r < functions.size(); ++r) {
      builder_.SetInsertPoint(blocks_[r]);
      build_region(r, functions[r]);
    }
    inline_all(calls_);
  }
  for (region_function& one : functions) {
    one.function->eraseFromParent();
  }
  return good;
}

// The variables that exist from the start.
void lockstep_builder::set_up() {
  count_members();
  for (const meeting& one : meetings_) {
    if (one.tally) {
      Value* total = builder_.CreateAlloca(builder_.getInt32Ty(), nullptr, "total");
      builder_.CreateStore(start_of_tally(builder_, *one.tally), total);
      totals_[one.tally] = total;
    }
    for (AllocaInst* memory : {one.from, one.to}) {
      if (memory) {
        auto* own = builder_.CreateAlloca(memory->getAllocatedType(), nullptr, memory->getName());
        own->setAlignment(memory->getAlign());
        memory_[memory] = own;
        builder_.CreateStore(own, scalar_slot({memory, slot_kind::value}));
      }
    }
  }
}

Value* lockstep_builder::scalar_slot(slot_key key) {
  Value*& slot = slots_[{key.value, static_cast<unsigned>(key.kind)}];
  if (!slot) {
    IRBuilder<> at(entry_, entry_->begin());
    slot = at.CreateAlloca(key.value->getType(), nullptr, key.value->getName());
  }
  return slot;
}

Value* lockstep_builder::array_slot(slot_key key) {
  Value*& slot = slots_[{key.value, static_cast<unsigned>(key.kind)}];
  if (!slot) {
    if (auto* frame = dyn_cast<AllocaInst>(key.value)) {
      auto* piece = ArrayType::get(builder_.getInt8Ty(), frame_stride(*frame));
      slot = frames(piece, key.value->getName());
    } else {
      slot = array(stored_type(key.value->getType()), key.value->getName());
    }
  }
  return slot;
}

// What the code between the regions starts from.
Value* lockstep_builder::leaf(Value* value) {
  if (auto* argument = dyn_cast<Argument>(value)) {
    return function_.getArg(argument->getArgNo());
  }
  auto* inst = dyn_cast<Instruction>(value);
  return inst ? builder_.CreateLoad(inst->getType(), scalar_slot({inst, slot_kind::value})) : value;
}

void lockstep_builder::build_region(unsigned index, region_function& one) {
  const region& region = plan_->regions()[index];
  arrive(region);
  if (one.has_effects) {
    SmallVector<Value*, 16> args;
    for (unsigned i = 0; i < body_.arg_size(); ++i) {
      args.push_back(i < function_.arg_size() ? static_cast<Value*>(function_.getArg(i))
                                              : PoisonValue::get(body_.getArg(i)->getType()));
    }
    for (Instruction* scalar : one.scalars) {
      args.push_back(
          builder_.CreateLoad(scalar->getType(), scalar_slot({scalar, slot_kind::value})));
    }
    for (const slot_key& key : one.slots) {
      args.push_back(uniform_->is_uniform(key.value) ? scalar_slot(key) : array_slot(key));
    }
    for (CallInst* tally : one.tallies) {
      args.push_back(totals_[tally]);
    }
    args.append(2, PoisonValue::get(builder_.getInt32Ty()));
    run(*one.function, args);
  }
  leave(index, region);
}

// What the team finds at a leader: the values that the way here brought, the meeting's result.
void lockstep_builder::arrive(const region& region) {
  for (PHINode& phi : region.leader->phis()) {
    if (live_->leading_phis().contains(&phi) && uniform_->is_uniform(&phi)) {
      Value* value = builder_.CreateLoad(phi.getType(), scalar_slot({&phi, slot_kind::incoming}));
      builder_.CreateStore(value, scalar_slot({&phi, slot_kind::value}));
    }
  }
  for (const meeting& one : meetings_) {
    if (one.place->getParent() != region.leader) {
      continue;
    }
    create_told(builder_, one);
    if (one.from && !one.order.empty()) {
      put_in_order(one);
    } else if (one.from) {
      const DataLayout& layout = function_.getParent()->getDataLayout();
      Value* to =
          builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), memory_[one.to], one.to_offset);
      builder_.CreateMemCpy(to, commonAlignment(one.to->getAlign(), one.to_offset),
                            memory_[one.from], one.from->getAlign(),
                            layout.getTypeAllocSize(one.from->getAllocatedType()));
    }
    if (!one.tally) {
      continue;
    }
    Value* total = builder_.CreateLoad(builder_.getInt32Ty(), totals_[one.tally]);
    builder_.CreateStore(start_of_tally(builder_, *one.tally), totals_[one.tally]);
    if (one.result == meeting::result::all) {
      total = builder_.CreateZExt(builder_.CreateIsNull(total), builder_.getInt32Ty());
    } else if (one.result == meeting::result::any) {
      total = builder_.CreateZExt(builder_.CreateIsNotNull(total), builder_.getInt32Ty());
    }
    if (live_->scalars().contains(one.place)) {
      builder_.CreateStore(total, scalar_slot({one.place, slot_kind::value}));
    }
  }
}

// In pieces as large as the vectors in which the threads write and read: LLVM keeps these in
// registers.
void lockstep_builder::put_in_order(const meeting& one) {
  constexpr unsigned piece_bytes = 16;
  const DataLayout& layout = function_.getParent()->getDataLayout();
  Type* element = one.from->getAllocatedType()->getArrayElementType();
  unsigned count = piece_bytes / static_cast<unsigned>(layout.getTypeAllocSize(element));
  auto* piece = FixedVectorType::get(element, count);
  unsigned pieces = static_cast<unsigned>(one.order.size()) / count;
  auto place = [&](Value* memory, unsigned index) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), memory,
                                               std::uint64_t{index} * piece_bytes);
  };
  SmallVector<Value*, 16> written;
  for (unsigned i = 0; i < pieces; ++i) {
    written.push_back(
        builder_.CreateAlignedLoad(piece, place(memory_[one.from], i), Align(piece_bytes)));
  }
  for (unsigned i = 0; i < pieces; ++i) {
    ArrayRef<int> wanted = ArrayRef(one.order).slice(std::size_t{i} * count, count);
    // From two neighbours mostly.
    SmallVector<unsigned, 4> sources;
    for (int from : wanted) {
      if (!is_contained(sources, unsigned(from) / count)) {
        sources.push_back(unsigned(from) / count);
      }
    }
    Value* made = nullptr;
    if (sources.size() <= 2) {
      SmallVector<int, 4> mask;
      for (int from : wanted) {
        bool second = unsigned(from) / count != sources[0];
        mask.push_back(from % int(count) + (second ? int(count) : 0));
      }
      made = builder_.CreateShuffleVector(written[sources[0]], written[sources.back()], mask);
    } else {
      made = PoisonValue::get(piece);
      for (unsigned at = 0; at < count; ++at) {
        unsigned from = unsigned(wanted[at]);
        made = builder_.CreateInsertElement(
            made, builder_.CreateExtractElement(written[from / count], from % count), at);
      }
    }
    builder_.CreateAlignedStore(made, place(memory_[one.to], i), Align(piece_bytes));
  }
}

void lockstep_builder::leave(unsigned index, const region& region) {
  if (region.next.empty()) {
    builder_.CreateRetVoid();
    return;
  }
  if (!region.decides) {
    bring(index, region.next[0]);
    builder_.CreateBr(blocks_[plan_->led_by(region.next[0])]);
    return;
  }
  auto from_slots = [&](Value* value) { return leaf(value); };
  again_builder again(*live_, from_slots);
  Instruction* choice = region.decides->getTerminator()->clone();
  choice->dropDbgRecords();
  for (Use& operand : choice->operands()) {
    if (!isa<BasicBlock>(operand)) {
      operand.set(again.make(builder_, operand));
    }
  }
  BasicBlock* from = builder_.GetInsertBlock();
  for (unsigned i = 0; i < choice->getNumSuccessors(); ++i) {
    BasicBlock* next = region.decides->getTerminator()->getSuccessor(i);
    auto* edge = BasicBlock::Create(function_.getContext(), "to", &function_);
    choice->setSuccessor(i, edge);
    builder_.SetInsertPoint(edge);
    bring(index, next);
    builder_.CreateBr(blocks_[plan_->led_by(next)]);
  }
  builder_.SetInsertPoint(from);
  builder_.Insert(choice);
  choice->setDebugLoc(builder_.getCurrentDebugLocation());
}

// Sets what the next region's phis take, all of them before any changes.
void lockstep_builder::bring(unsigned index, BasicBlock* leader) {
  auto from_slots = [&](Value* value) { return leaf(value); };
  again_builder again(*live_, from_slots);
  for (PHINode& phi : leader->phis()) {
    if (!live_->leading_phis().contains(&phi) || !uniform_->is_uniform(&phi)) {
      continue;
    }
    Value* incoming = live_->only_incoming(phi, index);
    if (incoming && !isa<UndefValue>(incoming)) {
      builder_.CreateStore(again.make(builder_, incoming),
                           scalar_slot({&phi, slot_kind::incoming}));
    }
  }
}

}  // namespace sb::pass
