// Loops that draw their work from a counter: `while ((i = atomicAdd(&next, 1)) < n) ...`.
//
// Such a loop ends by itself, whatever others do meanwhile: each draw moves the counter in one
// direction, nothing else in the loop moves it back, and what was drawn is compared with an end on
// that side before the next draw. Nothing else in the kernel takes the counter to its end. It may
// come to the comparison by a shuffle: then one lane draws for its warp, whose lanes go round
// together. Whoever adds nothing, or a number whose sign nobody knows, may wait for others to move
// the counter.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>

#include <optional>

namespace sb::pass {

class drawn_work {
 public:
  explicit drawn_work(const llvm::Loop& loop) : loop_(loop) {}

  // The loop leaves after a number of these, if nobody else ever writes.
  bool ends_by(const llvm::AtomicRMWInst& draw);
  // As far as is known, without a look at the comparison: the counter moves, and not back.
  bool may_end_by(const llvm::AtomicRMWInst& draw);

 private:
  enum class way { up, down };
  using edge = std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>;

  static way back_from(way which) { return which == way::up ? way::down : way::up; }
  static std::optional<way> way_of(const llvm::Value* step, unsigned depth = 0);
  static std::optional<way> way_of(const llvm::AtomicRMWInst& update);

  bool begin(const llvm::AtomicRMWInst& draw);
  bool may_write_counter(const llvm::Instruction& inst) const;
  bool moves_back(const llvm::Instruction& inst) const;
  bool moves_to_end(const llvm::Instruction& inst) const;
  bool is_written(const llvm::LoadInst& load) const;
  bool is_fixed(const llvm::Value* value, unsigned depth = 0) const;

  bool meets_before_next_draw(const llvm::BasicBlock* block);
  bool keeps_step(const llvm::Instruction& cast) const;
  bool depends_on_draw(const llvm::Value* value) const;
  bool is_drawn(const llvm::Value* value);
  bool is_drawn_in_all_ways(const llvm::PHINode& phi);
  bool leaves(const llvm::BasicBlock* from, const llvm::BasicBlock* to, unsigned depth = 0) const;
  bool is_past_end(llvm::Value* condition, bool holds);

  const llvm::Loop& loop_;
  const llvm::AtomicRMWInst* draw_ = nullptr;
  way way_ = way::up;
  // From the draw to the comparison that is looked at.
  llvm::DenseSet<edge> ways_;
  llvm::DenseSet<const llvm::Value*> followed_;
};

}  // namespace sb::pass
