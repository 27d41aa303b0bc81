#include "engine/param_memory.hpp"

#include <atomic>
#include <new>
#include <utility>

namespace sb::engine {
namespace {

struct idle_block {
  idle_block* next;
};

struct slab {
  static constexpr std::size_t count = 63;
  slab* next;
  alignas(param_memory::alignment) char blocks[count][param_memory::block_bytes];
};

// Pushed one at a time and taken as a whole: nothing can come back between a look and an exchange.
constinit std::atomic<idle_block*> returned{nullptr};
constinit std::atomic<slab*> slabs{nullptr};  // all: what nobody refers to would look like a leak

constinit thread_local idle_block* at_hand = nullptr;
constinit thread_local bool ended = false;

void push(idle_block* first, idle_block* last) {
  last->next = returned.load(std::memory_order_relaxed);
  while (!returned.compare_exchange_weak(last->next, first, std::memory_order_release,
                                         std::memory_order_relaxed)) {
  }
}

// What a thread has at hand others can use when it is gone.
void put_back_all() {
  idle_block* first = std::exchange(at_hand, nullptr);
  if (first == nullptr) return;
  idle_block* last = first;
  while (last->next != nullptr) last = last->next;
  push(first, last);
}

struct end_of_thread {
  bool armed = false;
  ~end_of_thread() {
    ended = true;
    put_back_all();
  }
};
thread_local end_of_thread at_thread_end;

idle_block* more() {
  if (idle_block* all = returned.exchange(nullptr, std::memory_order_acquire)) return all;
  slab* fresh = new slab;
  fresh->next = slabs.load(std::memory_order_relaxed);
  while (!slabs.compare_exchange_weak(fresh->next, fresh, std::memory_order_release,
                                      std::memory_order_relaxed)) {
  }
  idle_block* list = nullptr;
  for (char(&block)[param_memory::block_bytes] : fresh->blocks) list = new (block) idle_block{list};
  return list;
}

}  // namespace

char* param_memory::take() {
  if (at_hand == nullptr) {
    at_hand = more();
    if (!ended) at_thread_end.armed = true;
  }
  idle_block* block = at_hand;
  at_hand = block->next;
  if (ended) put_back_all();
  return reinterpret_cast<char*>(block);
}

void param_memory::give(char* block) noexcept {
  idle_block* one = new (block) idle_block{nullptr};
  push(one, one);
}

}  // namespace sb::engine
