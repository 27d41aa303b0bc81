// Nodes that are not in use. Each thread keeps some at hand; the rest travel in batches.
//
// Thread safety: take() from any thread; give() from one at a time. A pool lives as long as its
// engine or a thread that has nodes of it.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/node.hpp"
#include "engine/short_lock.hpp"

namespace sb::engine {

// Nodes linked by next_idle().
struct node_batch {
  node* first = nullptr;
  std::size_t count = 0;
};

// Nodes that were made together.
struct node_slab;

class node_pool : public std::enable_shared_from_this<node_pool> {
 public:
  node_pool() = default;
  ~node_pool();
  node_pool(const node_pool&) = delete;
  node_pool& operator=(const node_pool&) = delete;

  // A node whose submission is as if just constructed; its progress is not.
  [[nodiscard]] node* take();
  // What the node does is destroyed now.
  void give(node* n);

  static constexpr std::size_t batch_size = 64;

  // A thread's own.
  struct cache;

 private:
  node_batch refill();
  void put(node_batch batch);

  node_batch returning_;  // for give()
  short_lock lock_;
  // Guarded by lock_. Lists that need no memory of their own: what one thread allocates and another
  // frees under a lock of ours looks like a race to whoever does not know the lock.
  node* batches_ = nullptr;  // the first of each, by next_batch()
  node_slab* slabs_ = nullptr;
};

}  // namespace sb::engine
