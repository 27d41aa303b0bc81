// Device code that goes wrong: the error, the words, and what happens to everything else.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "engine/fault.hpp"
#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

using ::testing::HasSubstr;

// Hidden from the compiler, which may do anything with an access that it knows to be bad.
int* nowhere(std::uintptr_t address = 64) {
  asm volatile("" : "+r"(address));
  return reinterpret_cast<int*>(address);
}

#if defined(__SANITIZE_ADDRESS__)
#define SB_NO_CHECKS [[gnu::no_sanitize_address, gnu::no_sanitize_undefined]]
#else
#define SB_NO_CHECKS __attribute__((no_sanitize("address", "undefined", "thread")))
#endif

[[gnu::noinline]] SB_NO_CHECKS void store(int* p) { *p = 1; }

const abi::kernel_info bad_loop = loop_kernel(
    [](const char*, thread_context* self) {
      if (self->block->block_idx[0] == 2) store(nowhere());
    },
    "bad_loop(int)");
const abi::kernel_info bad_fibers = fiber_kernel(
    [](const char*, thread_context* self) {
      device::barrier(self);
      if (self->block->block_idx[0] == 2 && self->linear_tid == 33) store(nowhere());
      device::barrier(self);
    },
    "bad_fibers(int)");
const abi::kernel_info mark_kernel = loop_kernel(
    [](const char* p, thread_context*) { params_of<std::atomic<int>*>(p)->fetch_add(1); }, "mark");

const abi::kernel_info store_kernel =
    loop_kernel([](const char* p, thread_context*) { store(params_of<int*>(p)); }, "store");

kernel_operation mark(std::atomic<int>& m) { return launch(mark_kernel, {}, {}, &m); }

std::string text_of(const std::function<void()>& work) {
  ::testing::internal::CaptureStderr();
  work();
  return ::testing::internal::GetCapturedStderr();
}

TEST(fault, in_a_loop_kernel_is_an_illegal_address_that_sticks) {
  engine_test t;
  const std::string text = text_of([&] {
    t.e.submit(t.stream(), launch(bad_loop, {10}, {32}, 0));
    EXPECT_EQ(t.sync(), status::illegal_address);
  });
  EXPECT_THAT(text, HasSubstr("bad_loop(int)"));
  EXPECT_THAT(text, HasSubstr("block (2,0,0)"));
  EXPECT_THAT(text, HasSubstr("0x40"));
  EXPECT_EQ(t.e.sticky_error(first_device), status::illegal_address);
  EXPECT_EQ(t.sync(), status::illegal_address);
}

// As servers do which leave all signals to one thread.
TEST(fault, is_told_to_a_program_that_blocks_every_signal) {
  std::thread([] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    engine_test t;
    text_of([&] {
      t.e.submit(t.stream(), launch(bad_loop, {10}, {32}, 0));
      EXPECT_EQ(t.sync(), status::illegal_address);
    });
  }).join();
}

// A copy, or a kernel that its own thread runs in the call, has no other thread to fault on.
TEST(fault, ends_what_a_thread_does_itself_with_every_signal_blocked) {
  std::thread([] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    install_fault_handlers();
    volatile std::uintptr_t nowhere = 64;
    const failure_record fault = guarded([&] { *reinterpret_cast<volatile int*>(nowhere) = 1; });
    EXPECT_EQ(fault.error, status::illegal_address);
    EXPECT_EQ(fault.address, reinterpret_cast<void*>(64));
  }).join();
}

// The pass marks an address that is misaligned. What is accessed as one may be so in words, each of
// which has the mark.
TEST(fault, any_word_of_what_is_misaligned_tells_so) {
  alignas(16) static int words[12] = {};
  const auto begin = reinterpret_cast<std::uintptr_t>(words);
  const auto answer = [](std::uintptr_t address) {
    engine_test t;
    status told = status::success;
    text_of([&] {
      t.e.submit(t.stream(), launch(store_kernel, {1}, {1}, address));
      told = t.sync();
    });
    return told;
  };
  for (const std::uintptr_t by : {4, 8, 12}) {
    const std::uintptr_t marked = begin + by + (by << abi::misaligned_shift);
    for (const std::uintptr_t word : {0, 4, 8, 12})
      EXPECT_EQ(answer(marked + word), status::misaligned_address) << by << " " << word;
  }
  // Indices that are far too large.
  EXPECT_EQ(answer(begin + (std::uintptr_t{1} << abi::misaligned_shift)), status::illegal_address);
  EXPECT_EQ(answer(begin + (std::uintptr_t{6} << abi::misaligned_shift)), status::illegal_address);
  EXPECT_EQ(answer(begin + (std::uintptr_t{1} << 46)), status::illegal_address);
}

TEST(fault, in_a_fiber_names_the_thread) {
  engine_test t;
  const std::string text = text_of([&] {
    t.e.submit(t.stream(), launch(bad_fibers, {10}, {64}, 0));
    EXPECT_EQ(t.sync(), status::illegal_address);
  });
  EXPECT_THAT(text, HasSubstr("block (2,0,0), thread (33,0,0)"));
}

TEST(fault, is_told_once_with_the_kernel_the_stream_and_the_line_of_the_launch) {
  engine_test t;
  const stream_id s = t.e.create_stream(first_device, stream_kind::blocking, 0, 13);
  kernel_operation k = launch(bad_fibers, {1000}, {64}, 0);
  k.place = {"dir/a.cu", 42, nullptr};
  const std::string text = text_of([&] {
    t.e.submit(s, k);
    t.e.submit(s, k);
    EXPECT_EQ(t.sync(), status::illegal_address);
  });
  EXPECT_THAT(text, HasSubstr("on stream 13 (launched at dir/a.cu:42), block "));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(fault, of_a_launch_without_a_line_names_the_place_in_the_program) {
  engine_test t;
  kernel_operation k = launch(bad_loop, {10}, {32}, 0);
  Dl_info libc;
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&std::getenv), &libc), 0);
  k.place.caller = reinterpret_cast<const void*>(&std::getenv);
  const std::string text = text_of([&] {
    t.e.submit(t.stream(), k);
    EXPECT_EQ(t.sync(), status::illegal_address);
  });
  EXPECT_THAT(text, HasSubstr("(launched from " + std::string(libc.dli_fname) + " 0x"));
}

TEST(fault, is_told_by_nobody_when_the_environment_says_so) {
  engine_test t;
  setenv("STREAMBED_FAULT_REPORT", "0", 1);
  const std::string text = text_of([&] {
    t.e.submit(t.stream(), launch(bad_loop, {10}, {32}, 0));
    EXPECT_EQ(t.sync(), status::illegal_address);
  });
  unsetenv("STREAMBED_FAULT_REPORT");
  EXPECT_EQ(text, "");
}

// h200/faults.tsv pending.*
TEST(fault, drops_what_is_pending_and_what_spins_but_tells_callbacks) {
  engine_test t;
  const stream_id s = t.stream(), spinning = t.stream();
  gate forever, g;
  std::atomic<int> done{0};
  int from = 1, to = 0;
  status told = status::success;
  t.e.submit(spinning, forever.operation());
  t.e.submit(spinning, mark(done));
  t.e.submit(s, g.operation());
  t.e.submit(s, launch(bad_loop, {10}, {32}, 0));
  t.e.submit(s, mark(done));
  copy_operation c;
  c.destination = &to;
  c.source = &from;
  c.width = sizeof to;
  t.e.submit(s, c);
  t.e.submit(s, host_operation{[&](status error) { told = error; }});
  forever.wait_until_reached();
  text_of([&] {
    g.open();
    EXPECT_EQ(t.sync(), status::illegal_address);
  });
  EXPECT_EQ(done, 0);
  EXPECT_EQ(to, 0);
  EXPECT_EQ(told, status::illegal_address);
  // Nothing that comes later runs either, and nothing hangs.
  t.e.submit(s, mark(done));
  EXPECT_EQ(t.e.synchronize(whole_stream(s), first_device), status::illegal_address);
  EXPECT_EQ(done, 0);
}

TEST(fault, does_not_touch_other_devices) {
  engine_test t(options_for_tests(2));
  const device_id second{1};
  const stream_id other = t.e.create_stream(second, stream_kind::non_blocking, 0);
  gate g;
  std::atomic<int> done{0};
  t.e.submit(other, g.operation());
  t.e.submit(other, mark(done));
  text_of([&] {
    t.e.submit(t.stream(), launch(bad_fibers, {3}, {64}, 0));
    EXPECT_EQ(t.sync(), status::illegal_address);
  });
  EXPECT_EQ(t.e.sticky_error(second), status::success);
  g.open();
  EXPECT_EQ(t.e.synchronize(whole_device(second), second), status::success);
  EXPECT_EQ(done, 1);
}

TEST(fault, trap_is_a_launch_failure_in_both_modes) {
  static const abi::kernel_info in_fibers =
      fiber_kernel([](const char*, thread_context* self) { device::trap(self); }, "traps");
  static const abi::kernel_info in_loop =
      loop_kernel([](const char*, thread_context* self) { device::trap(self); }, "traps");
  for (const auto* info : {&in_fibers, &in_loop}) {
    engine_test t;
    text_of([&] {
      t.e.submit(t.stream(), launch(*info, {2}, {32}, 0));
      EXPECT_EQ(t.sync(), status::launch_failure);
    });
  }
}

TEST(fault, assert_prints_cudas_line_for_every_thread_of_the_block_that_fails) {
  engine_test t;
  static const abi::kernel_info asserts = fiber_kernel(
      [](const char*, thread_context* self) {
        if (self->tid[0] < 2) device::assert_fail(self, "x == 7");
      },
      "asserts");
  const std::string text = text_of([&] {
    t.e.submit(t.stream(), launch(asserts, {1}, {8}, 0));
    EXPECT_EQ(t.sync(), status::assert_triggered);
  });
  EXPECT_EQ(text,
            "program.cu:12: void kernel(int): block: [0,0,0], thread: [0,0,0] Assertion `x == 7` "
            "failed.\n"
            "program.cu:12: void kernel(int): block: [0,0,0], thread: [1,0,0] Assertion `x == 7` "
            "failed.\n"
            "streambed: kernel asserts on the default stream, block (0,0,0), thread (0,0,0): "
            "assertion failed\n");
}

// h200/faults.tsv shared.far.*
SB_NO_CHECKS void store_far(const char* params, thread_context* self) {
  reinterpret_cast<volatile int*>(self->block->shared)[params_of<std::ptrdiff_t>(params)] = 1;
}
const abi::kernel_info far_loop = kernel(abi::kernel_mode::loop, &store_far, "far_loop", 128);
const abi::kernel_info far_fibers = kernel(abi::kernel_mode::fibers, &store_far, "far_fibers", 128);

TEST(fault, far_out_of_shared_memory_is_an_illegal_instruction) {
  for (const abi::kernel_info* info : {&far_loop, &far_fibers}) {
    for (const std::ptrdiff_t index : {1 << 22, -(1 << 22)}) {
      engine_test t;
      const std::string text = text_of([&] {
        t.e.submit(t.stream(), launch(*info, {1}, {32}, index));
        EXPECT_EQ(t.sync(), status::illegal_instruction);
      });
      EXPECT_THAT(text, HasSubstr("address outside of shared memory 0x"));
    }
  }
}

[[gnu::noinline]] SB_NO_CHECKS int deep(int n) {
  volatile char frame[1024];
  frame[n & 1023] = static_cast<char>(n);
  return n == 0 ? frame[5] : deep(n - 1) + frame[(n + 1) & 1023];
}

TEST(fault, endless_recursion_hits_the_guard_page) {
  static const abi::kernel_info recurses = fiber_kernel(
      [](const char* p, thread_context*) { *params_of<int*>(p) = deep(1 << 24); }, "recurses");
  static const abi::kernel_info recurses_in_loop = loop_kernel(
      [](const char* p, thread_context*) { *params_of<int*>(p) = deep(1 << 24); }, "recurses");
  for (const auto* info : {&recurses, &recurses_in_loop}) {
    engine_test t;
    int sink = 0;
    text_of([&] {
      t.e.submit(t.stream(), launch(*info, {1}, {1}, &sink));
      EXPECT_EQ(t.sync(), status::illegal_address);
    });
  }
}

TEST(fault, some_recursion_is_fine) {
  static const abi::kernel_info recurses = fiber_kernel(
      [](const char* p, thread_context*) { params_of<std::atomic<int>*>(p)->store(deep(60)); },
      "recurses");
  engine_test t;
  std::atomic<int> sink{0};
  t.e.submit(t.stream(), launch(recurses, {20}, {1}, &sink));
  EXPECT_EQ(t.sync(), status::success);
}

TEST(fault, in_a_copy_fails_the_device) {
  engine_test t;
  copy_operation c;
  int from = 1;
  c.destination = nowhere();
  c.source = &from;
  c.width = sizeof from;
  const std::string text = text_of([&] {
    t.e.submit(t.stream(), c);
    EXPECT_EQ(t.sync(), status::illegal_address);
  });
  EXPECT_THAT(text, HasSubstr("copy"));
}

TEST(fault, is_over_after_a_reset) {
  engine_test t;
  std::atomic<int> done{0};
  text_of([&] {
    t.e.submit(t.stream(), launch(bad_loop, {10}, {32}, 0));
    EXPECT_EQ(t.sync(), status::illegal_address);
  });
  t.e.reset(first_device);
  EXPECT_EQ(t.e.sticky_error(first_device), status::success);
  t.e.submit(t.stream(), mark(done));
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(done, 1);
}

TEST(fault, many_times_over_leaks_nothing_and_hangs_nothing) {
  engine_test t;
  std::atomic<int> done{0};
  text_of([&] {
    for (int i = 0; i < 20; ++i) {
      gate spinning;
      t.e.submit(t.stream(), spinning.operation());
      t.e.submit(t.stream(), launch(i % 2 == 0 ? bad_loop : bad_fibers, {10}, {64}, 0));
      EXPECT_EQ(t.sync(), status::illegal_address);
      t.e.reset(first_device);
      t.e.submit(t.stream(), mark(done));
      EXPECT_EQ(t.sync(), status::success);
    }
  });
  EXPECT_EQ(done, 20);
}

// --- outside device code

using fault_death = ::testing::Test;

TEST(fault_death, outside_device_code_stays_the_programs_own) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        engine_test t;
        std::atomic<int> done{0};
        t.e.submit(t.stream(), mark(done));
        t.sync();
        store(nowhere());
      },
      "");
}

TEST(fault_death, an_exception_that_leaves_a_host_function_ends_the_process_with_a_message) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        engine_test t;
        t.e.submit(t.stream(), host_operation{[](status) { throw std::runtime_error("oh"); }});
        t.sync();
      },
      "host function threw oh");
}

}  // namespace
}  // namespace sb::engine::testing
