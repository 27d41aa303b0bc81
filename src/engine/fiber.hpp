// Fibers: stacks of their own that a thread switches between in a few nanoseconds.
//
// A fiber is used by one thread at a time but may continue on another one: code that runs on fibers
// must not keep the address of a thread-local variable over a switch.
// AddressSanitizer and ThreadSanitizer are told about every switch when they are in the build.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sb::engine {

struct fiber {
  void* stack_pointer = nullptr;  // valid while it is switched out
  char* stack = nullptr;          // lowest usable byte
  std::size_t stack_bytes = 0;
  fiber* next = nullptr;       // for lists of idle fibers
  void* fake_stack = nullptr;  // AddressSanitizer's
  void* shadow = nullptr;      // ThreadSanitizer's
  bool touched = false;        // has run since its memory was given back
};

using fiber_main = void (*)(void* argument);

// Makes `f` describe the calling thread's own stack, to switch away from and back to.
void adopt_thread(fiber& f);
// The next switch to `f` calls main(argument) on its stack, whatever was there before. `main` must
// end with leave_fiber.
void prepare_fiber(fiber& f, fiber_main main, void* argument);
// Continues `to`; returns when somebody switches to `from`.
void switch_fiber(fiber& from, fiber& to);
// Continues `to`; `from` is over, and its stack may be prepared again as soon as `to` runs.
[[noreturn]] void leave_fiber(fiber& from, fiber& to);
// Makes the sanitizers forget a switched-out fiber that will never continue: its frames were left
// by a fault or dropped with their block. Call before its stack is prepared again or unmapped.
void forget_frames(fiber& f);
// The same for the fiber that runs, when a fault has put it at the top of its own stack.
void forget_own_frames(fiber& f);

}  // namespace sb::engine
