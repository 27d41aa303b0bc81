// The parts of a kernel between the places where its threads meet.
//
// A region is entered at its leader only. Its threads run it independently of each other and leave
// it together: all to the same next leader, or by one branch that goes the same way for all.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>

#include <optional>
#include <vector>

#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

struct region {
  llvm::BasicBlock* leader = nullptr;
  llvm::SmallVector<llvm::BasicBlock*, 8> blocks;  // the leader first
  // Leaders of the regions that may follow; none where the kernel ends.
  llvm::SmallVector<llvm::BasicBlock*, 2> next;
  llvm::BasicBlock* decides = nullptr;  // whose terminator chooses, where there is a choice
};

class region_plan {
 public:
  // Nothing when threads would have to part at a place where they must go together.
  static std::optional<region_plan> make(llvm::Function& function, const uniformity& uniform,
                                         llvm::ArrayRef<llvm::BasicBlock*> cuts);

  const std::vector<region>& regions() const { return regions_; }  // that of the entry first
  unsigned region_of(const llvm::BasicBlock* block) const { return owner_.lookup(block); }
  unsigned led_by(const llvm::BasicBlock* leader) const { return owner_.lookup(leader); }
  bool is_leader(const llvm::BasicBlock* block) const {
    return regions_[owner_.lookup(block)].leader == block;
  }

 private:
  std::vector<region> regions_;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> owner_;
};

// Makes each of the instructions the first of its block and gives back the blocks.
std::vector<llvm::BasicBlock*> split_before(llvm::ArrayRef<llvm::Instruction*> cuts);

}  // namespace sb::pass
