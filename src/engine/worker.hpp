// What one worker thread has at hand: its own stack to come home to, idle fibers, and what it runs
// now.
#pragma once

#include <atomic>
#include <csetjmp>
#include <cstddef>
#include <cstdint>

#include "engine/block.hpp"
#include "engine/fiber.hpp"
#include "engine/host_wait.hpp"
#include "engine/kernel_run.hpp"
#include "engine/stack_pool.hpp"

namespace sb::engine {

// The two sizes of stacks, shared by all workers.
struct stack_pools {
  stack_pool threads{thread_stack_bytes};
  stack_pool large{large_stack_bytes, {64, 1024}};  // each may have many pages
};

// Kernels that a worker runs by itself, whole, in their order.
struct small_runs {
  kernel_run* first = nullptr;
  kernel_run* last = nullptr;
  std::uint32_t count = 0;
  std::uint32_t runs = 0;       // so far; some of them are measured
  std::uint64_t unseen_ns = 0;  // what they took, about, since the worker looked at the inbox

  void push(kernel_run& run) {
    run.next_small = nullptr;
    (first == nullptr ? first : last->next_small) = &run;
    last = &run;
    ++count;
  }
  kernel_run* pop() {
    kernel_run* run = first;
    if (run == nullptr) return nullptr;
    first = run->next_small;
    --count;
    return run;
  }
  // Whether the worker looks at the inbox behind one that took so long. What the host writes there
  // and the worker reads costs both of them as much as a small kernel: in a row of such it looks
  // once in a while, and when there is none left.
  bool looks_behind(std::uint64_t ns) {
    constexpr std::uint64_t while_ns = 5'000, engine_ns = 300;
    unseen_ns += ns + engine_ns;
    if (unseen_ns < while_ns) return false;
    unseen_ns = 0;
    return true;
  }
};

enum class stack_class : std::uint8_t { thread, large };

struct worker {
  explicit worker(stack_pools& pools) : pools_(pools) {}
  ~worker();  // gives its fibers back
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  fiber home;
  device_thread* current = nullptr;             // the thread of device code that runs now
  fiber* running = nullptr;                     // its fiber; null while the worker is at home
  failure_record fault;                         // filled in by the signal handler
  std::atomic<std::uint64_t> busy_since_ns{0};  // 0: not inside device code
  small_runs smalls;
  block body;  // that loop-mode blocks use one after another
  // Looks at the engine's inbox before long: it runs small kernels, or waits for work with open
  // eyes.
  bool attends = false;
  // Of a host thread that helps: what it waits for. It attends to nothing.
  const host_wait* helps_until = nullptr;

  fiber* take(stack_class size);  // null: no memory
  // The fiber may be the one that runs: it is not handed out before the worker switched away.
  void give(fiber* f);
  // A fiber whose frames are lost; cleaned up by collect(), at home.
  void bury(fiber* f) {
    f->next = buried_;
    buried_ = f;
  }
  void collect();
  // Runs `to` until something switches back home.
  void enter(fiber& to, device_thread* t) {
    current = t;
    running = &to;
    switch_fiber(home, to);
    running = nullptr;
    current = nullptr;
  }

 private:
  struct fiber_list {
    fiber* first = nullptr;
    std::size_t count = 0;

    void push(fiber* f) {
      f->next = first;
      first = f;
      ++count;
    }
    fiber* pop() {
      fiber* f = first;
      first = f->next;
      f->next = nullptr;
      --count;
      return f;
    }
  };
  fiber_list& list(stack_class size) { return size == stack_class::thread ? idle_ : idle_large_; }
  static void keep_half(fiber_list& of, std::size_t most, stack_pool& pool);

  stack_pools& pools_;
  fiber_list idle_;
  fiber_list idle_large_;
  fiber* buried_ = nullptr;
};

// The worker of the calling thread, or null. Never inlined: a fiber may have changed its thread
// since it last asked, and a compiler may keep the address of a thread-local variable.
worker* current_worker();
void set_current_worker(worker* w);

}  // namespace sb::engine
