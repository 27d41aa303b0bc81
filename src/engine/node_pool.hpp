// Nodes that are not in use. Each thread keeps some at hand; the rest travel in batches.
//
// Thread safety: take() from any thread; give() from one at a time. A pool lives as long as its
// engine or a thread that has nodes of it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/node.hpp"
#include "engine/short_lock.hpp"

namespace sb::engine {

// Nodes linked by next_idle().
struct node_batch {
  node* first = nullptr;
  std::size_t count = 0;
};

class node_pool : public std::enable_shared_from_this<node_pool> {
 public:
  // A node whose submission is as if just constructed; its progress is not.
  [[nodiscard]] node* take();
  // What the node does is destroyed now.
  void give(node* n);

  // A thread's own.
  struct cache;

 private:
  node_batch refill();
  void put(node_batch batch);

  static constexpr std::size_t batch_size = 64;

  node_batch returning_;  // for give()
  short_lock lock_;
  // Guarded by lock_.
  std::vector<node_batch> batches_;
  std::vector<std::unique_ptr<node[]>> slabs_;
};

}  // namespace sb::engine
