// Stacks for fibers: mapped in slabs, with a guard page below each, reused last in first out.
//
// Thread safety: every member may be called from any thread. Whoever needs many fibers takes and
// gives them in lists (fiber::next), one lock for all.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "engine/fiber.hpp"

namespace sb::engine {

// Only touched pages count, so the sizes are what recursion may need, not what most threads use.
inline constexpr std::size_t thread_stack_bytes = 256 << 10;
inline constexpr std::size_t large_stack_bytes = 8 << 20;  // loop-mode blocks, large private arrays

class stack_pool {
 public:
  explicit stack_pool(std::size_t stack_bytes);
  ~stack_pool();  // every fiber has been given back
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;

  // A list of up to `count` fibers, at least one; null when the system has no memory left.
  fiber* take(std::size_t count);
  void give(fiber* list);

 private:
  bool grow();

  const std::size_t stack_bytes_;
  std::mutex mutex_;
  // Guarded by mutex_.
  fiber* idle_ = nullptr;
  std::size_t idle_touched_ = 0;
  std::vector<void*> slabs_;
  std::vector<fiber*> headers_;  // one array per slab
};

}  // namespace sb::engine
