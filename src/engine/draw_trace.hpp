// What the threads of a counted block drew from counters, and what each item took.
//
// After each draw the others of the block have a turn, so that they draw as lanes and warps of a
// device do. A warp goes round together: its k-th item takes as long as that of its longest lane.
// Where one thread draws for its block, the same holds for all warps.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sb::engine {

struct thread_spent {
  std::uint64_t issued = 0, steps = 0, loads = 0;
};

// Of a counter that all blocks have in common.
struct drawn_items {
  std::vector<double> lengths;  // instructions, in the order of the draws
  std::uint32_t drawers = 0;    // of the block: warps that draw, or 1 if one thread does for all
  std::uint32_t threads = 0;    // that drew
  double longest = 1;           // of the drawers, how many times the average the most have
  double waits = 0;             // of warps, for what they drew
  double draws = 0;             // of all threads of the block, in vain once each
  double moved = 0;             // the same as the counter has it: others draw as well
  [[nodiscard]] bool any() const { return drawers != 0; }
};

class draw_trace {
 public:
  struct draw {
    const void* counter = nullptr;
    std::uint64_t value = 0;  // before it
    std::int64_t step = 0;
  };
  enum class outcome : std::uint8_t { more, enough };

  void begin(std::uint32_t threads);
  void went_round(std::uint32_t thread, const thread_spent& so_far);
  // `enough`, once: what was counted is enough to know the rest by.
  outcome note(std::uint32_t thread, bool shared, const draw& draw);
  // What the warp of these lanes did, from `first` on, whose threads spent so much in all.
  [[nodiscard]] thread_spent warp(std::uint32_t first, std::span<const thread_spent> lanes) const;
  // The same of a block whose warps wait for each other in each round; nothing if they do not.
  [[nodiscard]] thread_spent block(std::span<const thread_spent> all) const;
  [[nodiscard]] drawn_items items(std::span<const thread_spent> all) const;

 private:
  struct state {
    thread_spent at;  // when its present round began
    std::uint32_t rounds = 0, draws = 0;
  };
  using rounds = std::vector<thread_spent>;  // the first: what comes before them
  [[nodiscard]] rounds rounds_of(std::uint32_t first, std::span<const thread_spent> lanes) const;
  [[nodiscard]] rounds rounds_of_block(std::span<const thread_spent> all) const;

  std::vector<state> threads_;
  std::vector<rounds> warps_;
  std::uint32_t drawing_ = 0;      // threads
  const void* counter_ = nullptr;  // the first one
  std::uint64_t first_value_ = 0;
  double moved_ = 0;
  std::uint64_t counted_ = 0;  // instructions
  bool told_ = false;
};

}  // namespace sb::engine
