// Threads of a team (a warp, or a block) that part, and meet some of the others before all are
// together again.
//
// All threads are led through such a part. Each has a mask in its private memory that says whether
// it really is there; a region of the part begins with a test of it and does nothing for the
// others. What all threads that are there agree on counts as the same for the team within the part.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/ValueHandle.h>

#include <vector>

#include "compiler/pass/meetings.hpp"
#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

// The masks that the threads of a region have to pass, in order; those of its first block.
bool is_mask_test(const llvm::Instruction& inst);
std::vector<llvm::AllocaInst*> masks_of(const llvm::BasicBlock& block);

class part_leader {
 public:
  // `all` is what counts as active where nobody has parted.
  part_leader(llvm::Function& function, team team, llvm::Value* all, std::vector<meeting>& meetings,
              std::vector<llvm::BasicBlock*>& cuts)
      : function_(function), meetings_(meetings), team_(team), all_(all), cuts_(cuts) {}
  virtual ~part_leader() = default;

  // Leads threads to the meetings that only some of them come to. Adds to the meetings, and to the
  // blocks at whose beginning regions have to begin. False if control flow is too tangled for it.
  bool lead();

 protected:
  // A call in `block` that tells all threads for whom `stays` holds, as a number that is not zero
  // when there are any. The code before it is in the block `from`.
  virtual meeting meet(llvm::BasicBlock& from, llvm::BasicBlock& block, llvm::Value* stays) = 0;
  // Of those in `outside` the ones that are not `active`; null if they have to be asked.
  virtual llvm::Value* others(llvm::IRBuilderBase& builder, llvm::Value* outside,
                              llvm::Value* active) = 0;
  // Whether threads may be led through a part behind which they are together at `behind`, and
  // through two ways of a branch that both have meetings.
  virtual bool may_lead(llvm::BasicBlock& behind) = 0;
  virtual bool may_meet_on_both_ways() = 0;

  llvm::Value* active_in(llvm::BasicBlock* block);

  llvm::Function& function_;
  std::vector<meeting>& meetings_;

 private:
  using block_set = llvm::SmallSetVector<llvm::BasicBlock*, 16>;

  bool lead_one(const uniformity& uniform);
  bool prepare();
  bool is_tangled();
  bool leave_a_loop_at_its_end();
  void leave_at_end(llvm::Loop& loop);
  block_set part_of(llvm::BasicBlock& block, const uniformity& uniform);
  bool has_meeting(const block_set& part);
  llvm::AllocaInst* memory(llvm::Type* type, const llvm::Twine& name);
  void put_beside(llvm::BasicBlock* fresh, llvm::BasicBlock* block);
  std::pair<llvm::BasicBlock*, llvm::Value*> count(llvm::BasicBlock& block, llvm::Value* stays);
  std::pair<llvm::BasicBlock*, llvm::Value*> count_others(llvm::BasicBlock& block,
                                                          llvm::Value* outside, llvm::Value* active,
                                                          llvm::Value* stay);
  void mask_blocks(const block_set& blocks, llvm::AllocaInst& mask, llvm::Value* active);
  llvm::AllocaInst* store_mask(llvm::Instruction* before, llvm::Value* flag);
  void set_mask(llvm::Instruction* before, llvm::AllocaInst* mask, llvm::Value* flag);
  bool lead_through_branch(llvm::BranchInst& branch, const uniformity& uniform);
  llvm::BasicBlock* join_of(llvm::BasicBlock* block, const block_set& one, const block_set& other,
                            llvm::BasicBlock* meeting);
  void keep_phis(llvm::BasicBlock& block);
  bool lead_through_loop(llvm::Loop& loop);

  team team_;
  llvm::Value* all_;
  std::vector<llvm::BasicBlock*>& cuts_;
  llvm::DenseMap<llvm::BasicBlock*, llvm::WeakTrackingVH> active_;  // in masked blocks
  bool is_prepared_ = false;
};

}  // namespace sb::pass
