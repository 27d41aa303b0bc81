// A function that runs a team of threads (a block, or a warp) through the code of one: region by
// region, all members through each.
#pragma once

#include "compiler/pass/meetings.hpp"
#include "compiler/pass/region_function.hpp"

namespace sb::pass {

class lockstep_builder {
 public:
  // `function` is empty; its first arguments are those of `body` as far as the code needs them.
  lockstep_builder(llvm::Function& body, llvm::Function& function, team team,
                   llvm::DebugLoc location);
  virtual ~lockstep_builder() = default;

  // False: the members cannot be shown to come to the meetings together, or need more than
  // `most_bytes` each for their values, or than `most_frame_bytes` for their private variables.
  // The members also meet at the beginning of each of the blocks.
  bool plan(std::vector<meeting> meetings, std::vector<llvm::BasicBlock*> cuts,
            std::uint64_t most_bytes, std::uint64_t most_frame_bytes);
  // False: a region cannot be run. The function is useless then.
  bool build();
  // What a member keeps from region to region.
  [[nodiscard]] std::uint64_t context_bytes() const { return live_->context_bytes(); }

 protected:
  virtual bool prepare(llvm::Function& region) = 0;
  // Emits calls of the region's function for all members.
  virtual void run(llvm::Function& region, llvm::ArrayRef<llvm::Value*> args) = 0;
  // What arrays need to know, at the end of the entry.
  virtual void count_members() {}
  virtual llvm::Value* array(llvm::Type* type, const llvm::Twine& name) = 0;
  // The same for a private variable.
  virtual llvm::Value* frames(llvm::Type* type, const llvm::Twine& name) {
    return array(type, name);
  }

  llvm::Function& body_;
  llvm::Function& function_;
  team team_;
  llvm::IRBuilder<> builder_;
  llvm::BasicBlock* entry_;
  std::vector<llvm::CallInst*> calls_;  // to be inlined

 private:
  using slot_map = llvm::DenseMap<std::pair<llvm::Instruction*, unsigned>, llvm::Value*>;

  llvm::Value* scalar_slot(slot_key key);
  llvm::Value* array_slot(slot_key key);
  llvm::Value* leaf(llvm::Value* value);
  void set_up();
  void build_region(unsigned index, region_function& one);
  void arrive(const region& region);
  void put_in_order(const meeting& one);
  void leave(unsigned index, const region& region);
  void bring(unsigned index, llvm::BasicBlock* leader);

  std::vector<meeting> meetings_;
  std::optional<uniformity> uniform_;
  std::optional<region_plan> plan_;
  std::optional<live_values> live_;
  slot_map slots_;
  llvm::MapVector<llvm::CallInst*, llvm::Value*> totals_;
  llvm::DenseMap<llvm::AllocaInst*, llvm::Value*> memory_;
  std::vector<llvm::BasicBlock*> blocks_;
};

}  // namespace sb::pass
