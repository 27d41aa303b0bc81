#include "compiler/pass/region_function.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/pass/meetings.hpp"
#include "compiler/pass/part_leader.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

Type* stored_type(Type* type) {
  return type->isIntegerTy(1) ? Type::getInt8Ty(type->getContext()) : type;
}

Value* again_builder::make(IRBuilderBase& builder, Value* value) {
  auto* inst = dyn_cast<Instruction>(value);
  if (!inst || !live_.is_again(*inst)) {
    return leaf_(value);
  }
  if (auto found = made_.find(inst); found != made_.end()) {
    return found->second;
  }
  SmallVector<Value*, 4> operands;
  for (Value* operand : inst->operands()) {
    operands.push_back(make(builder, operand));
  }
  Instruction* fresh = inst->clone();
  for (unsigned i = 0; i < operands.size(); ++i) {
    fresh->setOperand(i, operands[i]);
  }
  fresh->dropDbgRecords();
  builder.Insert(fresh, inst->getName());
  fresh->setDebugLoc(builder.getCurrentDebugLocation());
  return made_[inst] = fresh;
}

namespace {

class outliner {
 public:
  outliner(Function& body, team team, const region_plan& plan, const uniformity& uniform,
           const live_values& live, const slot_sharing& sharing, unsigned index)
      : body_(body),
        team_(team),
        plan_(plan),
        uniform_(uniform),
        live_(live),
        sharing_(sharing),
        index_(index),
        region_(plan.regions()[index]),
        needs_(live.of(index)) {}

  region_function build() {
    collect_outgoing();
    create_function();
    test_masks();
    map_inputs();
    clone_blocks();
    close_exits();
    remap();
    store_outgoing();
    lower_tallies();
    entry_->getTerminator()->setSuccessor(0, cast<BasicBlock>(map_[region_.leader]));
    for (Instruction& inst : instructions(*result_.function)) {
      result_.has_effects |= inst.mayHaveSideEffects();
    }
    return std::move(result_);
  }

 private:
  bool is_here(const Instruction& inst) const {
    return plan_.region_of(inst.getParent()) == index_;
  }

  unsigned slot_argument(slot_key key) {
    auto found = find(result_.slots, key);
    if (found == result_.slots.end()) {
      result_.slots.push_back(key);
      found = result_.slots.end() - 1;
    }
    return static_cast<unsigned>(found - result_.slots.begin());
  }

  // Which slots the region writes, before the function's type is fixed.
  void collect_outgoing() {
    result_.scalars.assign(needs_.scalars.begin(), needs_.scalars.end());
    for (Instruction* array : needs_.arrays) {
      slot_argument(value_slot(array));
    }
    for (PHINode* phi : needs_.phis) {
      slot_argument(incoming_slot(phi));
    }
    for (Instruction* frame : needs_.frames) {
      if (live_.frames().contains(frame)) {
        slot_argument({frame, slot_kind::value});
      }
    }
    for (const auto* set : {&live_.scalars(), &live_.arrays()}) {
      for (Instruction* value : *set) {
        if (!is_here(*value) || live_.is_outer(*value)) {
          continue;
        }
        // A phi that came in by the slot in which others look for it is there.
        auto* phi = dyn_cast<PHINode>(value);
        if (!phi || !is_leading_here(phi) || value_slot(phi) != incoming_slot(phi)) {
          slot_argument(value_slot(value));
          stores_.push_back(value);
        }
      }
    }
    for (BasicBlock* next : region_.next) {
      for (PHINode& phi : next->phis()) {
        if (!live_.leading_phis().contains(&phi)) {
          continue;
        }
        bool by_caller = uniform_.is_uniform(&phi) && live_.only_incoming(phi, index_);
        if (!by_caller) {
          slot_argument(incoming_slot(&phi));
          arriving_.push_back(&phi);
        }
      }
    }
    for (BasicBlock* block : region_.blocks) {
      for (Instruction& inst : *block) {
        auto* call = dyn_cast<CallInst>(&inst);
        if (call && is_tally(*call)) {
          result_.tallies.push_back(call);
        }
      }
    }
  }

  // Where other regions find the value, and where the way into a region leaves a phi's.
  slot_key value_slot(Instruction* value) {
    slot_key key = {value, slot_kind::value};
    return uniform_.is_uniform(value) ? key : sharing_.of(key);
  }
  slot_key incoming_slot(PHINode* phi) {
    slot_key key = {phi, slot_kind::incoming};
    return uniform_.is_uniform(phi) ? key : sharing_.of(key);
  }
  // The phi's slot holds this value already, or will by its own store.
  bool is_in_place(PHINode* phi, Value* value) {
    auto* inst = dyn_cast<Instruction>(value);
    bool has_slot = inst && (live_.arrays().contains(inst) || is_leading_here(inst));
    return has_slot && !uniform_.is_uniform(phi) && !uniform_.is_uniform(inst) &&
           (is_leading_here(inst) && !live_.arrays().contains(inst)
                ? incoming_slot(cast<PHINode>(inst)) == incoming_slot(phi)
                : value_slot(inst) == incoming_slot(phi));
  }
  bool is_leading_here(Instruction* inst) {
    auto* phi = dyn_cast<PHINode>(inst);
    return phi && is_contained(needs_.phis, phi);
  }

  void create_function() {
    LLVMContext& context = body_.getContext();
    SmallVector<Type*, 16> types(body_.getFunctionType()->params());
    for (Instruction* scalar : result_.scalars) {
      types.push_back(scalar->getType());
    }
    types.append(result_.slots.size() + result_.tallies.size(), PointerType::getUnqual(context));
    types.append(2, Type::getInt32Ty(context));  // lane, lanes
    result_.function = Function::Create(
        FunctionType::get(Type::getVoidTy(context), types, false), GlobalValue::InternalLinkage,
        body_.getName() + ".region." + Twine(index_), body_.getParent());
    result_.function->copyAttributesFrom(&body_);
    result_.function->setLinkage(GlobalValue::InternalLinkage);
    first_scalar_ = static_cast<unsigned>(body_.arg_size());
    first_slot_ = first_scalar_ + static_cast<unsigned>(result_.scalars.size());
    for (unsigned i = 0; i < body_.arg_size(); ++i) {
      result_.function->getArg(i)->setName(body_.getArg(i)->getName());
      map_[body_.getArg(i)] = result_.function->getArg(i);
    }
    entry_ = BasicBlock::Create(context, "in", result_.function);
    exit_ = BasicBlock::Create(context, "out", result_.function);
    // Its target is set when the blocks are there.
    BranchInst::Create(exit_, entry_);
    ReturnInst::Create(context, exit_);
  }

  Value* slot_pointer(slot_key key) {
    return result_.function->getArg(first_slot_ + slot_argument(key));
  }

  Value* element(IRBuilder<>& builder, slot_key key, Type* type) {
    StringRef name = team_ == team::block ? context_index_name : context_lane_name;
    auto index = builtin_function(*body_.getParent(), name, builder.getInt64Ty());
    return builder.CreateInBoundsGEP(type, slot_pointer(key), builder.CreateCall(index),
                                     key.value->getName());
  }

  Value* load_element(IRBuilder<>& builder, slot_key key) {
    Type* type = key.value->getType();
    Value* value = builder.CreateLoad(stored_type(type), element(builder, key, stored_type(type)));
    return stored_type(type) == type ? value : builder.CreateTrunc(value, type);
  }

  void store(IRBuilder<>& builder, slot_key key, Value* value) {
    Type* type = stored_type(value->getType());
    if (type != value->getType()) {
      value = builder.CreateZExt(value, type);
    }
    bool uniform = uniform_.is_uniform(key.value);
    builder.CreateStore(value, uniform ? slot_pointer(key) : element(builder, key, type));
  }

  // A lane that is not there leaves at once.
  void test_masks() {
    std::vector<AllocaInst*> masks = masks_of(*region_.leader);
    if (masks.empty()) {
      return;
    }
    auto* skip = BasicBlock::Create(body_.getContext(), "skip", result_.function, exit_);
    ReturnInst::Create(body_.getContext(), skip);
    for (AllocaInst* mask : masks) {
      auto* here = BasicBlock::Create(body_.getContext(), "here", result_.function, exit_);
      IRBuilder<> builder(entry_->getTerminator());
      Value* flag = builder.CreateLoad(builder.getInt8Ty(), frame(builder, *mask));
      builder.CreateCondBr(builder.CreateIsNotNull(flag), here, skip);
      entry_->getTerminator()->eraseFromParent();
      BranchInst::Create(exit_, here);
      entry_ = here;
    }
  }

  // The thread's piece of the memory for a private variable.
  Value* frame(IRBuilder<>& builder, AllocaInst& slot) {
    auto* piece = ArrayType::get(builder.getInt8Ty(), frame_stride(slot));
    return element(builder, {&slot, slot_kind::value}, piece);
  }

  void map_inputs() {
    IRBuilder<> builder(entry_->getTerminator());
    for (unsigned i = 0; i < result_.scalars.size(); ++i) {
      map_[result_.scalars[i]] = result_.function->getArg(first_scalar_ + i);
    }
    for (Instruction* inst : needs_.frames) {
      auto* slot = cast<AllocaInst>(inst);
      if (!live_.frames().contains(inst)) {
        auto* own = cast<AllocaInst>(slot->clone());
        own->dropDbgRecords();
        builder.Insert(own, slot->getName());
        own->setDebugLoc({});
        map_[inst] = own;
        continue;
      }
      map_[inst] = frame(builder, *slot);
    }
    for (PHINode* phi : needs_.phis) {
      map_[phi] = load_element(builder, incoming_slot(phi));
    }
    for (Instruction* array : needs_.arrays) {
      map_[array] = load_element(builder, value_slot(array));
    }
    // Values that are computed again come when something asks for them.
    for (BasicBlock* block : region_.blocks) {
      for (Instruction& inst : *block) {
        auto* phi = dyn_cast<PHINode>(&inst);
        if ((phi && block == region_.leader) || is_decision(inst) || live_.is_meeting(inst)) {
          continue;
        }
        for (Value* operand : inst.operands()) {
          bring(builder, operand);
        }
      }
    }
    for (BasicBlock* next : region_.next) {
      for (PHINode& phi : next->phis()) {
        for (unsigned i = 0; is_contained(arriving_, &phi) && i < phi.getNumIncomingValues(); ++i) {
          if (plan_.region_of(phi.getIncomingBlock(i)) == index_) {
            bring(builder, phi.getIncomingValue(i));
          }
        }
      }
    }
  }

  bool is_decision(const Instruction& inst) const {
    return inst.isTerminator() && inst.getParent() == region_.decides;
  }

  void bring(IRBuilder<>& builder, Value* value) {
    auto* inst = dyn_cast<Instruction>(value);
    if (!inst || map_.count(inst) || (is_here(*inst) && !live_.is_outer(*inst))) {
      return;
    }
    auto leaf = [&](Value* one) -> Value* {
      auto found = map_.find(one);
      return found != map_.end() ? static_cast<Value*>(found->second) : one;
    };
    again_builder again(live_, leaf);
    map_[inst] = again.make(builder, inst);
  }

  void clone_blocks() {
    for (BasicBlock* block : region_.blocks) {
      auto* copy =
          BasicBlock::Create(body_.getContext(), block->getName(), result_.function, exit_);
      map_[block] = copy;
      for (Instruction& inst : *block) {
        auto* mark = dyn_cast<IntrinsicInst>(&inst);
        bool dropped = (isa<PHINode>(inst) && block == region_.leader) || isa<AllocaInst>(inst) ||
                       live_.is_meeting(inst) || (mark && is_frame_mark(*mark)) ||
                       isa<DbgInfoIntrinsic>(inst) || is_mask_test(inst);
        if (dropped) {
          continue;
        }
        Instruction* fresh = inst.clone();
        fresh->dropDbgRecords();
        fresh->insertInto(copy, copy->end());
        if (!inst.getType()->isVoidTy()) {
          fresh->setName(inst.getName());
          map_[&inst] = fresh;
        }
        if (auto* call = dyn_cast<CallInst>(&inst)) {
          copies_[call] = cast_or_null<CallInst>(fresh);
        }
      }
    }
  }

  // Lifetimes of variables that outlive the region mean nothing in the threads' arrays.
  bool is_frame_mark(const IntrinsicInst& mark) const {
    if (!mark.isLifetimeStartOrEnd()) {
      return false;
    }
    auto* slot = dyn_cast<Instruction>(mark.getArgOperand(1)->stripPointerCasts());
    return !slot || !isa<AllocaInst>(slot) || live_.frames().contains(slot);
  }

  void close_exits() {
    for (BasicBlock* block : region_.blocks) {
      auto* copy = cast<BasicBlock>(map_[block]);
      Instruction* end = copy->getTerminator();
      if (isa<ReturnInst>(end) || block == region_.decides) {
        DebugLoc location = end->getDebugLoc();
        end->eraseFromParent();
        BranchInst::Create(exit_, copy)->setDebugLoc(location);
        exits_.push_back(block);
        continue;
      }
      for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
        BasicBlock* next = block->getTerminator()->getSuccessor(i);
        if (plan_.is_leader(next)) {
          end->setSuccessor(i, exit_);
          exits_.push_back(block);
        }
      }
    }
  }

  void remap() {
    for (BasicBlock* block : region_.blocks) {
      for (Instruction& inst : *cast<BasicBlock>(map_[block])) {
        RemapInstruction(&inst, map_, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
      }
    }
  }

  Value* mapped(Value* value) {
    auto found = map_.find(value);
    return found != map_.end() ? static_cast<Value*>(found->second) : value;
  }

  void store_outgoing() {
    if (pred_empty(exit_)) {
      return;  // every way ends in a trap
    }
    DominatorTree dominators(*result_.function);
    // A way out of the region for every edge: phis join what the edges bring.
    SmallVector<std::pair<PHINode*, Value*>, 4> brought;
    for (PHINode* phi : arriving_) {
      Value* only = live_.only_incoming(*phi, index_);
      if (only && is_in_place(phi, only)) {
        continue;
      }
      std::vector<Value*> values;
      for (BasicBlock* block : exits_) {
        int at = phi->getBasicBlockIndex(block);
        values.push_back(at >= 0 ? mapped(phi->getIncomingValue(at))
                                 : PoisonValue::get(phi->getType()));
      }
      Value* value = values.front();
      if (!all_equal(values)) {
        auto* join = PHINode::Create(phi->getType(), values.size(), phi->getName(),
                                     exit_->getFirstNonPHIIt());
        for (unsigned i = 0; i < values.size(); ++i) {
          join->addIncoming(values[i], cast<BasicBlock>(map_[exits_[i]]));
        }
        value = join;
      }
      if (!isa<UndefValue>(value)) {
        brought.push_back({phi, value});
      }
    }
    IRBuilder<> builder(exit_->getTerminator());
    for (Instruction* value : stores_) {
      auto* here = cast<Instruction>(mapped(value));
      if (dominators.dominates(here->getParent(), exit_)) {
        builder.SetInsertPoint(exit_->getTerminator());
      } else if (isa<PHINode>(here)) {
        builder.SetInsertPoint(here->getParent(), here->getParent()->getFirstInsertionPt());
      } else {
        builder.SetInsertPoint(here->getNextNode());
      }
      builder.SetCurrentDebugLocation({});
      store(builder, value_slot(value), here);
    }
    builder.SetInsertPoint(exit_->getTerminator());
    for (auto [phi, value] : brought) {
      store(builder, incoming_slot(phi), value);
    }
  }

  void lower_tallies() {
    for (unsigned i = 0; i < result_.tallies.size(); ++i) {
      Value* total =
          result_.function->getArg(first_slot_ + static_cast<unsigned>(result_.slots.size()) + i);
      lower_tally(*copies_[result_.tallies[i]], total);
    }
  }

  Function& body_;
  team team_;
  const region_plan& plan_;
  const uniformity& uniform_;
  const live_values& live_;
  const slot_sharing& sharing_;
  unsigned index_;
  const region& region_;
  const live_values::needs& needs_;

  region_function result_;
  ValueToValueMapTy map_;
  DenseMap<CallInst*, CallInst*> copies_;
  SmallVector<Instruction*, 8> stores_;  // made here, needed elsewhere
  SmallVector<PHINode*, 8> arriving_;    // of the next regions, set here
  SmallVector<BasicBlock*, 4> exits_;    // one for every edge to `exit_`
  BasicBlock* entry_ = nullptr;
  BasicBlock* exit_ = nullptr;
  unsigned first_scalar_ = 0;
  unsigned first_slot_ = 0;
};

}  // namespace

region_function outline_region(Function& body, team team, const region_plan& plan,
                               const uniformity& uniform, const live_values& live,
                               const slot_sharing& sharing, unsigned index) {
  return outliner(body, team, plan, uniform, live, sharing, index).build();
}

}  // namespace sb::pass
