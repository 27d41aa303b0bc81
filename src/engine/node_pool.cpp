#include "engine/node_pool.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/fork.hpp"

namespace sb::engine {

struct node_slab {
  node_slab* next;
  std::array<node, node_pool::batch_size> nodes{};
};

struct node_pool::cache {
  std::shared_ptr<node_pool> owner;
  node_batch nodes;

  void leave() {
    if (owner && nodes.first != nullptr) owner->put(std::exchange(nodes, {}));
    owner.reset();
  }
  ~cache();
};

namespace {

// A plain flag, so that it can still be read after the thread's cache is gone.
constinit thread_local bool cache_ended = false;

// The next one is wanted soon, and its last user was another core.
void fetch_for_writing(const node& n) {
  const auto* begin = reinterpret_cast<const char*>(static_cast<const submission*>(&n));
  for (std::size_t at = 0; at < sizeof(submission); at += 64) __builtin_prefetch(begin + at, 1);
  __builtin_prefetch(reinterpret_cast<const char*>(&n) + sizeof(node) - 1, 1);
}

node_pool::cache& own_cache() {
  thread_local node_pool::cache cache;
  return cache;
}

}  // namespace

node_pool::cache::~cache() {
  // A child has the parent's locks as they were, taken perhaps by threads that it does not have.
  if (!forked_away()) leave();
  cache_ended = true;
}

node_pool::~node_pool() {
  while (slabs_ != nullptr) delete std::exchange(slabs_, slabs_->next);
}

node_batch node_pool::refill() {
  const std::lock_guard lock(lock_);
  node_batch batch;
  if (batches_ != nullptr) {
    batch = {batches_, batches_->batch_count()};
    batches_ = batches_->next_batch();
    return batch;
  }
  slabs_ = new node_slab{slabs_};
  for (std::size_t i = batch_size; i-- != 0;) {
    node* n = &slabs_->nodes[i];
    n->next_idle() = batch.first;
    batch.first = n;
  }
  batch.count = batch_size;
  return batch;
}

void node_pool::put(node_batch batch) {
  const std::lock_guard lock(lock_);
  batch.first->batch_count() = batch.count;
  batch.first->next_batch() = batches_;
  batches_ = batch.first;
}

node* node_pool::take() {
  node* n = nullptr;
  if (cache_ended) {
    node_batch batch = refill();
    n = batch.first;
    batch.first = n->next_idle();
    if (--batch.count != 0) put(batch);
  } else {
    cache& own = own_cache();
    if (own.owner.get() != this) {
      own.leave();
      own.owner = shared_from_this();
    }
    if (own.nodes.first == nullptr) own.nodes = refill();
    n = own.nodes.first;
    own.nodes.first = n->next_idle();
    --own.nodes.count;
    if (own.nodes.first != nullptr) fetch_for_writing(*own.nodes.first);
  }
  submission& fresh = *n;
  fresh.as = {};
  fresh.id = {};
  return n;
}

void node_pool::give(node* n) {
  n->what.emplace<marker_operation>();
  n->next_idle() = returning_.first;
  returning_.first = n;
  if (++returning_.count == batch_size) put(std::exchange(returning_, {}));
}

}  // namespace sb::engine
