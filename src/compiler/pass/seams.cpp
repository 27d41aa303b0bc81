#include "compiler/pass/seams.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>

#include <map>
#include <optional>

#include "compiler/pass/guarded_piece.hpp"
#include "compiler/pass/joined_blocks.hpp"
#include "compiler/pass/live_values.hpp"
#include "compiler/pass/meetings.hpp"
#include "compiler/pass/region_preparation.hpp"
#include "compiler/pass/regions.hpp"
#include "compiler/pass/warp_function.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr std::size_t most_seams = 24;     // of a kernel
constexpr std::size_t largest_body = 800;  // instructions

class seam_finder {
 public:
  seam_finder(Function& body, ArrayRef<meeting> barriers, ArrayRef<BasicBlock*> cuts)
      : body_(body),
        uniform_(body, team::block),
        dominators_(body),
        loops_(dominators_),
        cuts_(cuts) {
    for (const meeting& one : barriers) {
      cuts_.push_back(one.place->getParent());
    }
  }

  std::vector<BasicBlock*> find() {
    plan_ = region_plan::make(body_, uniform_, cuts_);
    if (!plan_) {
      return {};
    }
    std::map<unsigned, std::vector<guarded_piece>> pieces;  // by region
    for (BasicBlock& block : body_) {
      if (auto found = piece_at(block, uniform_)) {
        pieces[plan_->region_of(&block)].push_back(*found);
      }
    }
    SetVector<BasicBlock*> seams;
    for (auto& [region, all] : pieces) {
      if (is_worth_it(plan_->regions()[region], all)) {
        for (const guarded_piece& one : all) {
          add(one, seams);
        }
      }
    }
    return seams.size() <= most_seams ? those_for_nothing({seams.begin(), seams.end()})
                                      : std::vector<BasicBlock*>();
  }

 private:
  bool is_worth_it(const region& around, ArrayRef<guarded_piece> pieces) const {
    bool rows = false, others = false, again = false;
    for (BasicBlock* block : around.blocks) {
      const Loop* loop = loops_.getLoopFor(block);
      bool is_piece = false;
      for (const guarded_piece& one : pieces) {
        is_piece |= one.blocks.contains(block);
        again |= one.blocks.contains(block) && loop && loop->contains(one.behind);
      }
      rows |= stores_rows(*block, uniform_);
      others |= !is_piece && stores_something(*block);
    }
    // A row of joined blocks is long, and what one piece leaves in the cache the next may need.
    std::size_t least = again ? 1 : is_joined(body_) ? 3 : 2;
    return rows && pieces.size() + (others ? 1 : 0) >= least;
  }

  void add(const guarded_piece& one, SetVector<BasicBlock*>& seams) {
    Instruction* first = before_condition(*one.asks);
    bool stores_before = false;
    for (Instruction* inst = first->getPrevNode(); inst; inst = inst->getPrevNode()) {
      stores_before |= isa<StoreInst>(inst);
    }
    if (stores_before) {
      seams.insert(split_before({first}).front());
    }
    // What the threads bring there is the piece's own.
    seams.insert(one.behind->phis().empty()
                     ? one.behind
                     : split_before({&*one.behind->getFirstNonPHIOrDbg()}).front());
  }

  // What threads would keep in arrays if they met at the seams as well.
  std::size_t kept_with(ArrayRef<BasicBlock*> seams) {
    std::vector<BasicBlock*> cuts = cuts_;
    append_range(cuts, seams);
    uniformity uniform(body_, team::block);
    auto plan = region_plan::make(body_, uniform, cuts);
    if (!plan) {
      return ~std::size_t{0};
    }
    live_values live(body_, *plan, uniform);
    return live.arrays().size() + live.frames().size() +
           count_if(live.leading_phis(), [&](PHINode* phi) {
             return !uniform.is_uniform(phi) && !has_common_step(*phi, uniform);
           });
  }

  std::vector<BasicBlock*> those_for_nothing(std::vector<BasicBlock*> seams) {
    if (seams.empty()) {
      return seams;
    }
    std::size_t least = kept_with({});
    if (kept_with(seams) <= least) {
      return seams;
    }
    std::vector<BasicBlock*> good;
    for (BasicBlock* one : seams) {
      good.push_back(one);
      if (kept_with(good) > least) {
        good.pop_back();
      }
    }
    return good;
  }

  Function& body_;
  uniformity uniform_;
  DominatorTree dominators_;
  LoopInfo loops_;
  std::vector<BasicBlock*> cuts_;
  std::optional<region_plan> plan_;
};

}  // namespace

std::vector<BasicBlock*> find_seams(Function& body, ArrayRef<BasicBlock*> cuts) {
  if (has_warp_meetings(body) || body.getInstructionCount() > largest_body) {
    return {};
  }
  return seam_finder(body, find_barriers(body), cuts).find();
}

}  // namespace sb::pass
