#include "engine/worker.hpp"

#include "engine/races.hpp"

namespace sb::engine {

namespace {

// A worker keeps the stacks of one full block; what lies beyond goes back to the others.
constexpr std::size_t kept_fibers = 4096;
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
  pools_.threads.give(idle_);
  pools_.large.give(idle_large_);
}

fiber* worker::take(stack_class size) {
  fiber*& idle = list(size);
  if (idle == nullptr) {
    if (size == stack_class::thread) {
      idle = pools_.threads.take(taken_at_once);
      for (fiber* f = idle; f != nullptr; f = f->next) ++idle_count_;
    } else {
      idle = pools_.large.take(1);
    }
    if (idle == nullptr) return nullptr;
  }
  fiber* f = idle;
  idle = f->next;
  f->next = nullptr;
  if (races_checked()) forget_accesses(f->stack, f->stack_bytes);
  if (size == stack_class::thread) --idle_count_;
  return f;
}

void worker::give(fiber* f) {
  const bool large = f->stack_bytes > thread_stack_bytes;
  fiber*& idle = list(large ? stack_class::large : stack_class::thread);
  f->next = idle;
  idle = f;
  if (!large) ++idle_count_;
}

void worker::collect() {
  while (buried_ != nullptr) {
    fiber* f = buried_;
    buried_ = f->next;
    forget_frames(*f);
    give(f);
  }
  if (idle_count_ <= kept_fibers) return;
  fiber* rest = nullptr;
  for (; idle_count_ > kept_fibers / 2; --idle_count_) {
    fiber* f = idle_;
    idle_ = f->next;
    f->next = rest;
    rest = f;
  }
  pools_.threads.give(rest);
}

}  // namespace sb::engine
