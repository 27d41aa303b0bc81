#include "compiler/pass/repeated_guards.hpp"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <vector>

#include "compiler/pass/guarded_piece.hpp"
#include "compiler/pass/joined_blocks.hpp"
#include "compiler/pass/warp_function.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr unsigned most_guards = 8;        // of a kernel
constexpr std::size_t largest_body = 800;  // instructions

class guard_repeater {
 public:
  guard_repeater(guarded_piece& piece, const uniformity& uniform)
      : piece_(piece), uniform_(uniform) {}

  // Whether it was divided.
  bool run() {
    if (!is_forward() || !find_links()) {
      return false;
    }
    for (Instruction* place : candidates()) {
      if (is_good(*place)) {
        places_.push_back(place);
      }
    }
    if (places_.empty()) {
      return false;
    }
    hoist();
    divide();
    return true;
  }

 private:
  // No loops in it.
  bool is_forward() {
    DenseMap<BasicBlock*, bool> left;  // done with
    SmallVector<std::pair<BasicBlock*, succ_iterator>, 8> way;
    auto enter = [&](BasicBlock* block) {
      left[block] = false;
      way.emplace_back(block, succ_begin(block));
    };
    enter(piece_.blocks.front());
    while (!way.empty()) {
      auto& [block, next] = way.back();
      if (next == succ_end(block)) {
        left[block] = true;
        way.pop_back();
        continue;
      }
      BasicBlock* to = *next++;
      if (to == piece_.behind) {
        continue;
      }
      auto found = left.find(to);
      if (found == left.end()) {
        enter(to);
      } else if (!found->second) {
        return false;
      }
    }
    return true;
  }

  // The blocks that all threads of the piece come through, in order, and for each other block the
  // last of them before it.
  bool find_links() {
    for (auto* block = static_cast<const BasicBlock*>(piece_.blocks.front());
         block != piece_.behind; block = uniform_.meeting_of(block)) {
      if (!block || !piece_.blocks.contains(const_cast<BasicBlock*>(block))) {
        return false;
      }
      links_.push_back(const_cast<BasicBlock*>(block));
    }
    for (unsigned i = 0; i < links_.size(); ++i) {
      BasicBlock* next = i + 1 < links_.size() ? links_[i + 1] : piece_.behind;
      SmallSetVector<BasicBlock*, 8> here;
      here.insert(links_[i]);
      for (unsigned k = 0; k < here.size(); ++k) {
        link_of_[here[k]] = i;
        for (BasicBlock* to : successors(here[k])) {
          if (to != next) {
            here.insert(to);
          }
        }
      }
    }
    return link_of_.size() == piece_.blocks.size();
  }

  bool stores_between(unsigned from, unsigned to) const {
    return any_of(link_of_, [&](const auto& one) {
      return one.second >= from && one.second < to && stores_something(*one.first);
    });
  }

  static bool stores_before(const Instruction& place) {
    for (const Instruction* inst = place.getPrevNode(); inst; inst = inst->getPrevNode()) {
      if (isa<StoreInst>(inst)) {
        return true;
      }
    }
    return false;
  }

  // With stores before and behind each, and before and behind conditions.
  std::vector<Instruction*> candidates() {
    std::vector<Instruction*> found;
    auto last = static_cast<unsigned>(links_.size());
    for (unsigned i = 0; i < last; ++i) {
      Instruction* first = &*links_[i]->getFirstNonPHIOrDbg();
      bool stores = stores_between(0, i);
      if (stores && stores_between(i, last)) {
        found.push_back(first);
      }
      between_rows(*links_[i], found);
      bool parts = links_[i]->getTerminator()->getNumSuccessors() > 1;
      Instruction* asks = before_condition(*links_[i]);
      if (parts && asks != first && stores_before(*asks) && !is_contained(found, asks)) {
        found.push_back(asks);
      }
    }
    return found;
  }

  // Between stores to different places of one array, thread beside thread.
  void between_rows(BasicBlock& block, std::vector<Instruction*>& found) const {
    SmallVector<StoreInst*, 8> rows;
    for (Instruction& inst : block) {
      if (stores_row(inst, uniform_)) {
        rows.push_back(cast<StoreInst>(&inst));
      }
    }
    for (unsigned i = 0; i + 1 < rows.size(); ++i) {
      if (getUnderlyingObject(rows[i]->getPointerOperand(), 0) ==
          getUnderlyingObject(rows[i + 1]->getPointerOperand(), 0)) {
        found.push_back(rows[i]->getNextNode());
      }
    }
  }

  bool is_before(const Instruction& inst, const Instruction& place) const {
    const BasicBlock* here = place.getParent();
    if (inst.getParent() == here) {
      return inst.comesBefore(&place);
    }
    return link_of_.lookup(inst.getParent()) < link_of_.lookup(here);
  }

  // Whether nothing that cannot be computed before the guard has to get over the place, except into
  // phis behind the piece.
  bool is_good(const Instruction& place) {
    for (auto [block, link] : link_of_) {
      for (Instruction& inst : *const_cast<BasicBlock*>(block)) {
        if (!is_before(inst, place) || can_hoist(inst)) {
          continue;
        }
        for (User* user : inst.users()) {
          auto* needs = cast<Instruction>(user);
          auto* phi = dyn_cast<PHINode>(needs);
          bool leaves = phi && phi->getParent() == piece_.behind;
          if (leaves ? !is_only_way(*phi, inst) : !is_before(*needs, place)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  // The phi has this value if the thread went through the piece, and there is no third way to it.
  bool is_only_way(const PHINode& phi, const Instruction& value) const {
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      bool good = piece_.blocks.contains(phi.getIncomingBlock(i))
                      ? phi.getIncomingValue(i) == &value
                      : phi.getIncomingBlock(i) == piece_.asks;
      if (!good) {
        return false;
      }
    }
    return true;
  }

  bool can_hoist(Instruction& inst) {
    auto [found, fresh] = hoisted_.try_emplace(&inst, false);
    if (!fresh) {
      return found->second;
    }
    auto* load = dyn_cast<LoadInst>(&inst);
    bool good = load ? reads_parameter(*load)
                     : !isa<PHINode, FreezeInst>(inst) && !inst.isTerminator() &&
                           !inst.mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(&inst);
    for (Value* operand : inst.operands()) {
      auto* made = dyn_cast<Instruction>(operand);
      good = good && (!made || !link_of_.contains(made->getParent()) || can_hoist(*made));
    }
    hoisted_[&inst] = good;
    return good;
  }

  // What is needed beyond one of the places.
  void hoist() {
    SetVector<Instruction*> wanted;
    for (Instruction* place : places_) {
      for (auto [block, link] : link_of_) {
        for (Instruction& inst : *const_cast<BasicBlock*>(block)) {
          if (is_before(inst, *place) && can_hoist(inst) && any_of(inst.users(), [&](User* user) {
                auto* needs = cast<Instruction>(user);
                return !link_of_.contains(needs->getParent()) || !is_before(*needs, *place);
              })) {
            wanted.insert(&inst);
          }
        }
      }
    }
    for (Instruction* inst : wanted) {
      move_up(*inst);
    }
  }

  void move_up(Instruction& inst) {
    if (!link_of_.contains(inst.getParent())) {
      return;
    }
    for (Value* operand : inst.operands()) {
      if (auto* made = dyn_cast<Instruction>(operand)) {
        move_up(*made);
      }
    }
    for (Instruction*& place : places_) {
      place = place == &inst ? inst.getNextNode() : place;
    }
    inst.dropUBImplyingAttrsAndMetadata();
    inst.moveBefore(piece_.asks->getTerminator());
  }

  // The phis behind the piece whose value is made before the place, but not before an earlier one.
  SmallVector<PHINode*, 2> made_before(const Instruction& place, const Instruction* earlier) const {
    SmallVector<PHINode*, 2> found;
    for (PHINode& phi : piece_.behind->phis()) {
      for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
        auto* made = dyn_cast<Instruction>(phi.getIncomingValue(i));
        if (made && link_of_.contains(made->getParent()) && is_before(*made, place) &&
            !(earlier && is_before(*made, *earlier))) {
          found.push_back(&phi);
          break;
        }
      }
    }
    return found;
  }

  void divide() {
    auto* guard = cast<BranchInst>(piece_.asks->getTerminator());
    const bool when = piece_.way() == 0;
    std::vector<SmallVector<PHINode*, 2>> brought;
    for (unsigned i = 0; i < places_.size(); ++i) {
      brought.push_back(made_before(*places_[i], i == 0 ? nullptr : places_[i - 1]));
    }
    BasicBlock* asks = piece_.asks;
    for (unsigned i = 0; i < places_.size(); ++i) {
      BasicBlock* before = places_[i]->getParent();
      BasicBlock* piece = SplitBlock(before, places_[i]);
      auto* again = BasicBlock::Create(before->getContext(), "again", before->getParent(), piece);
      before->getTerminator()->setSuccessor(0, again);
      asks->getTerminator()->replaceSuccessorWith(piece_.behind, again);
      IRBuilder<> builder(again);
      builder.SetCurrentDebugLocation(guard->getDebugLoc());
      for (PHINode* phi : brought[i]) {
        bring(builder, *phi, before, asks);
      }
      builder.CreateCondBr(guard->getCondition(), when ? piece : piece_.behind,
                           when ? piece_.behind : piece);
      for (PHINode& phi : piece_.behind->phis()) {
        phi.replaceIncomingBlockWith(asks, again);
      }
      asks = again;
    }
  }

  // The phi where its value is known for all threads already.
  static void bring(IRBuilder<>& builder, PHINode& phi, BasicBlock* before, BasicBlock* asks) {
    Value* other = phi.getIncomingValueForBlock(asks);
    Value* own = nullptr;
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      own = phi.getIncomingBlock(i) == asks ? own : phi.getIncomingValue(i);
    }
    PHINode* early = builder.CreatePHI(phi.getType(), 2);
    early->takeName(&phi);
    early->addIncoming(own, before);
    early->addIncoming(other, asks);
    phi.replaceAllUsesWith(early);
    phi.eraseFromParent();
  }

  guarded_piece& piece_;
  const uniformity& uniform_;
  std::vector<BasicBlock*> links_;
  MapVector<const BasicBlock*, unsigned> link_of_;
  DenseMap<const Instruction*, bool> hoisted_;
  std::vector<Instruction*> places_;
};

// Whether the guard's condition follows from the thread's place and parameters in a few steps, so
// that each piece can ask again.
bool is_cheap(const Value* value, unsigned depth = 0) {
  constexpr unsigned deepest = 8;
  auto* inst = dyn_cast<Instruction>(value);
  if (!inst) {
    return true;
  }
  auto* load = dyn_cast<LoadInst>(inst);
  if (depth == deepest || isa<PHINode, FreezeInst>(inst) || (load && !reads_parameter(*load)) ||
      (!load && inst->mayReadOrWriteMemory())) {
    return false;
  }
  return all_of(inst->operands(), [&](const Use& operand) { return is_cheap(operand, depth + 1); });
}

bool repeat_one(Function& body) {
  uniformity uniform(body, team::block);
  for (BasicBlock& block : body) {
    auto piece = piece_at(block, uniform);
    if (piece && is_cheap(cast<BranchInst>(block.getTerminator())->getCondition()) &&
        any_of(piece->blocks, [&](BasicBlock* one) { return stores_rows(*one, uniform); }) &&
        guard_repeater(*piece, uniform).run()) {
      return true;
    }
  }
  return false;
}

}  // namespace

void repeat_guards(Function& body) {
  // A long row of joined blocks is divided where its one guard changes.
  if (has_warp_meetings(body) || is_joined(body) || body.getInstructionCount() > largest_body) {
    return;
  }
  for (unsigned i = 0; i < most_guards && repeat_one(body); ++i) {
  }
}

}  // namespace sb::pass
