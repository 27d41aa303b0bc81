// Stacks for fibers: mapped in slabs, with a guard page below each, reused last in first out.
//
// Idle stacks keep their pages, so that the next block has them without asking the system: as many
// as were in use at once lately, but no more than a share of the machine's memory holds. A pool
// whose stacks were handed out several times over without that many being in use gives the rest
// back.
//
// Thread safety: every member may be called from any thread. Whoever needs many fibers takes and
// gives them in lists (fiber::next), one lock for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/fiber.hpp"

namespace sb::engine {

// Only touched pages count, so the sizes are what recursion may need, not what most threads use.
inline constexpr std::size_t thread_stack_bytes = 256 << 10;
inline constexpr std::size_t large_stack_bytes = 8 << 20;  // loop-mode blocks, large private arrays

class stack_pool {
 public:
  struct limits {
    std::size_t always;  // idle stacks that keep their pages in any case
    std::size_t most;
  };
  explicit stack_pool(std::size_t stack_bytes) : stack_pool(stack_bytes, machine_limits()) {}
  stack_pool(std::size_t stack_bytes, limits warm);
  ~stack_pool();  // every fiber has been given back
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;

  // A list of up to `count` fibers, at least one; null when the system has no memory left.
  fiber* take(std::size_t count);
  void give(fiber* list);
  // How often a stack gave its pages back to the system.
  [[nodiscard]] std::uint64_t cooled();

 private:
  static limits machine_limits();
  bool grow();
  void cool(fiber& f);
  void end_of_period();

  const std::size_t stack_bytes_;
  const limits warm_;
  std::mutex mutex_;
  // Guarded by mutex_.
  fiber* idle_ = nullptr;
  std::size_t idle_touched_ = 0;
  std::size_t in_use_ = 0;
  // A period ends when as many stacks were handed out as are kept, several times.
  std::size_t handed_out_ = 0, most_in_use_ = 0;  // in the present period
  std::size_t keep_;                              // the most that were in use in the last one
  std::uint64_t cooled_ = 0;
  std::vector<void*> slabs_;
  std::vector<fiber*> headers_;  // one array per slab
};

}  // namespace sb::engine
