#include "engine/worker.hpp"

#include "engine/races.hpp"

namespace sb::engine {

namespace {

// A worker keeps the stacks of one full block; what lies beyond goes back to the others.
constexpr std::size_t kept_fibers = 4096;
constexpr std::size_t kept_large = 128;  // those of blocks
constexpr std::size_t taken_at_once = 32;

thread_local worker* this_worker = nullptr;

}  // namespace

[[gnu::noinline]] worker* current_worker() {
  asm volatile("");
  return this_worker;
}

[[gnu::noinline]] void set_current_worker(worker* w) {
  asm volatile("");
  this_worker = w;
}

worker::~worker() {
  collect();
  pools_.threads.give(idle_.first);
  pools_.large.give(idle_large_.first);
}

fiber* worker::take(stack_class size) {
  fiber_list& idle = list(size);
  if (idle.first == nullptr) {
    idle.first =
        size == stack_class::thread ? pools_.threads.take(taken_at_once) : pools_.large.take(1);
    for (const fiber* f = idle.first; f != nullptr; f = f->next) ++idle.count;
    if (idle.first == nullptr) return nullptr;
  }
  fiber* f = idle.pop();
  if (races_checked()) forget_accesses(f->stack, f->stack_bytes);
  return f;
}

void worker::give(fiber* f) {
  const bool large = f->stack_bytes > thread_stack_bytes;
  list(large ? stack_class::large : stack_class::thread).push(f);
}

void worker::collect() {
  while (buried_ != nullptr) {
    fiber* f = buried_;
    buried_ = f->next;
    forget_frames(*f);
    give(f);
  }
  if (idle_.count > kept_fibers) keep_half(idle_, kept_fibers, pools_.threads);
  if (idle_large_.count > kept_large) keep_half(idle_large_, kept_large, pools_.large);
}

void worker::keep_half(fiber_list& of, std::size_t most, stack_pool& pool) {
  fiber_list rest;
  while (of.count > most / 2) rest.push(of.pop());
  pool.give(rest.first);
}

}  // namespace sb::engine
