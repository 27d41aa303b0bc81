// Workers that come while all others are stuck in long blocks, and go when one of these is through.
#include <gtest/gtest.h>

#include <vector>

#include "engine/futex.hpp"
#include "engine/worker.hpp"
#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

// A block that the test lets go, and that never yields until then.
struct door {
  std::atomic<bool> entered{false};
  std::atomic<bool> open{false};

  void wait_until_entered() const {
    while (!entered.load()) std::this_thread::yield();
  }
};

const abi::kernel_info door_kernel = loop_kernel(
    [](const char* p, thread_context*) {
      door& d = *params_of<door*>(p);
      d.entered = true;
      while (!d.open.load()) std::this_thread::yield();
    },
    "door");
const abi::kernel_info count_kernel = loop_kernel(
    [](const char* p, thread_context*) { ++*params_of<std::atomic<int>*>(p); }, "count");

// In a row of small kernels a worker looks at the inbox every five microseconds, and behind each
// that takes as long.
TEST(workers, look_at_the_inbox_once_in_a_while) {
  for (const std::uint64_t ns : {std::uint64_t{200}, std::uint64_t{1'500}, std::uint64_t{5'000}}) {
    small_runs smalls;
    std::uint64_t before = 0;
    for (int i = 0; i < 100; ++i) {
      const bool looks = smalls.looks_behind(ns);
      EXPECT_TRUE(looks || before + ns < 5'000);
      before = looks ? 0 : before + ns;
      EXPECT_TRUE(looks || ns < 4'700);
    }
  }
}

// What a block sets free is kept by the worker that ran it, when it is small. This one goes then.
TEST(workers, one_that_goes_leaves_no_small_kernel_behind) {
  engine_test t(options_for_tests(1, 1));
  const stream_id first = t.stream(), second = t.stream();
  std::atomic<int> count{0};
  for (int i = 0; i < 50; ++i) {  // what it takes is known then
    t.e.submit(second, launch(count_kernel, {1}, {1}, &count));
    EXPECT_EQ(t.sync(), status::success);
  }
  door own, extra;
  t.e.submit(first, launch(door_kernel, {1}, {1}, &own));
  own.wait_until_entered();
  t.e.submit(second, launch(door_kernel, {1}, {1}, &extra));
  t.e.submit(second, launch(count_kernel, {1}, {1}, &count));
  extra.wait_until_entered();  // on a worker that came for it
  own.open = true;
  EXPECT_EQ(t.e.synchronize(whole_stream(first), first_device), status::success);
  extra.open = true;
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(count, 51);
}

// Who does short copies takes in what was submitted meanwhile, without anybody asking the engine:
// behind each of a row, and when it was the last.
TEST(workers, work_that_comes_during_short_copies_is_taken_in) {
  engine_test t;
  const stream_id copies = t.stream(), others = t.stream();
  const std::vector<char> from(8192, 1);
  std::vector<char> to(from.size());
  copy_operation copy;
  copy.destination = to.data();
  copy.source = from.data();
  copy.width = from.size();
  std::atomic<int> count{0};
  for (int i = 1; i <= 5000; ++i) {
    for (int row = 0; row <= i % 5; ++row) t.e.submit(copies, copy);
    for (int pause = i % 97; pause > 0; --pause) relax();  // as far as any place in the row
    t.e.submit(others, host_operation{[&](status) { ++count; }});
    while (count.load() != i) std::this_thread::yield();
  }
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(to, from);
}

}  // namespace
}  // namespace sb::engine::testing
