#include "engine/fiber.hpp"

#include <pthread.h>

#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define SB_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SB_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SB_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SB_TSAN 1
#endif
#endif

#if SB_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if SB_TSAN
#include <sanitizer/tsan_interface.h>
#endif

extern "C" {
void sb_fiber_switch(void** save, void* load);
void sb_fiber_entry();
}

namespace sb::engine {

namespace {

#if defined(__aarch64__)
struct frame {
  std::uint64_t main, argument;  // x19, x20
  std::uint64_t x21_to_x28[8];
  std::uint64_t frame_pointer, return_address;
  std::uint64_t d8_to_d15[8];
  std::uint64_t control;
  std::uint64_t unused;
};
static_assert(sizeof(frame) == 176);

void read_control(frame& f) { asm volatile("mrs %0, fpcr" : "=r"(f.control)); }
#else
struct frame {
  std::uint32_t mxcsr;
  std::uint16_t x87, unused;
  std::uint64_t r15, r14, r13;
  std::uint64_t argument, main;  // r12, rbx
  std::uint64_t frame_pointer, return_address;
};
static_assert(sizeof(frame) == 64);

void read_control(frame& f) {
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(f.mxcsr), "=m"(f.x87));
}
#endif

// Stacks lie a power of two apart: without this, the hot top of every stack of a block would fall
// into the same few sets of the cache.
std::size_t colour(const fiber& f) {
  return (reinterpret_cast<std::uintptr_t>(f.stack) >> 18) % 16 * 192;
}

}  // namespace

void adopt_thread([[maybe_unused]] fiber& f) {
#if SB_ASAN
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* base = nullptr;
    std::size_t bytes = 0;
    pthread_attr_getstack(&attributes, &base, &bytes);
    pthread_attr_destroy(&attributes);
    f.stack = static_cast<char*>(base);
    f.stack_bytes = bytes;
  }
#endif
#if SB_TSAN
  f.shadow = __tsan_get_current_fiber();
#endif
}

namespace {

// Where a fiber begins: the sanitizer hears that the switch is over, then the caller's main runs.
struct beginning {
  fiber_main main;
  void* argument;
};

void begin([[maybe_unused]] void* argument) {
  const beginning what = *static_cast<beginning*>(argument);
#if SB_ASAN
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  what.main(what.argument);
  __builtin_trap();
}

}  // namespace

void prepare_fiber(fiber& f, fiber_main main, void* argument) {
  std::uintptr_t top = reinterpret_cast<std::uintptr_t>(f.stack) + f.stack_bytes - colour(f);
  top &= ~std::uintptr_t{15};
  top -= sizeof(beginning);
  const beginning what{main, argument};
  std::memcpy(reinterpret_cast<void*>(top), &what, sizeof what);
  frame first{};
  read_control(first);
  first.main = reinterpret_cast<std::uintptr_t>(&begin);
  first.argument = top;
  first.return_address = reinterpret_cast<std::uintptr_t>(&sb_fiber_entry);
  std::memcpy(reinterpret_cast<void*>(top - sizeof first), &first, sizeof first);
  f.stack_pointer = reinterpret_cast<void*>(top - sizeof first);
  f.touched = true;
#if SB_ASAN
  f.fake_stack = nullptr;
#endif
#if SB_TSAN
  // A fresh one each time: fibers are left without returning, and the shadow call stack would keep
  // those frames.
  if (f.shadow != nullptr) __tsan_destroy_fiber(f.shadow);
  f.shadow = __tsan_create_fiber(0);
#endif
}

void switch_fiber(fiber& from, fiber& to) {
#if SB_ASAN
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
#endif
#if SB_TSAN
  __tsan_switch_to_fiber(to.shadow, 0);
#endif
  sb_fiber_switch(&from.stack_pointer, to.stack_pointer);
#if SB_ASAN
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

void leave_fiber(fiber& from, fiber& to) {
#if SB_ASAN
  __sanitizer_start_switch_fiber(nullptr, to.stack, to.stack_bytes);
#endif
#if SB_TSAN
  __tsan_switch_to_fiber(to.shadow, 0);
#endif
  sb_fiber_switch(&from.stack_pointer, to.stack_pointer);
  __builtin_trap();
}

void forget_own_frames([[maybe_unused]] fiber& f) {
#if SB_ASAN
  __asan_unpoison_memory_region(f.stack, f.stack_bytes);
#endif
}

void forget_frames(fiber& f) {
  forget_own_frames(f);
  f.fake_stack = nullptr;
#if SB_TSAN
  if (f.shadow != nullptr) __tsan_destroy_fiber(f.shadow);
  f.shadow = nullptr;
#endif
}

}  // namespace sb::engine
