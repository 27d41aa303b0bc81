// Work that is done by the thread that submits it: only when nothing is before it, and with the
// same outcome.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

using ::testing::HasSubstr;

struct noted {
  std::atomic<int> runs{0};
  std::atomic<std::thread::id> on{};
};

abi::kernel_info straight(abi::kernel_entry entry, const char* name) {
  abi::kernel_info info = loop_kernel(entry, name);
  info.is_straight = 1;
  return info;
}

const abi::kernel_info note_kernel = straight(
    [](const char* p, thread_context*) {
      noted& n = *params_of<noted*>(p);
      n.on = std::this_thread::get_id();
      ++n.runs;
    },
    "note");

engine_options patient_options() {
  engine_options o = options_for_tests();
  o.at_once_ns = o.at_once_graph_ns = 1'000'000'000;  // whatever a sanitizer makes of them
  return o;
}

struct at_once_test : ::testing::Test {
  engine_test t{patient_options()};
  noted seen;

  kernel_operation note() { return launch(note_kernel, {2}, {32}, &seen); }
  // What a kernel takes is known once it has run.
  void get_to_know() {
    t.e.submit(t.stream(), note());
    EXPECT_EQ(t.sync(), status::success);
    seen.runs = 0;
    seen.on = std::thread::id{};
  }
  // A worker may still hold the engine's lock for what was before.
  bool in_the_call(stream_id s, const kernel_operation& what) {
    constexpr int tries = 1'000'000;
    for (int i = 0; i < tries; ++i) {
      if (t.e.launch_at_once(s, what)) return true;
      std::this_thread::yield();
    }
    return false;
  }
  stream_id blocking() { return t.e.create_stream(first_device, stream_kind::blocking, 0); }
};

TEST_F(at_once_test, a_kernel_that_is_not_known_is_handed_over) {
  EXPECT_FALSE(t.e.launch_at_once(t.stream(), note()));
  EXPECT_EQ(seen.runs, 0);
}

TEST_F(at_once_test, a_small_kernel_runs_whole_in_the_call_on_the_thread_that_calls) {
  get_to_know();
  EXPECT_TRUE(in_the_call(t.stream(), note()));
  EXPECT_EQ(seen.runs, 2);
  EXPECT_EQ(seen.on.load(), std::this_thread::get_id());
}

TEST_F(at_once_test, a_kernel_with_loops_is_handed_over_however_short_it_was) {
  static const abi::kernel_info looping = loop_kernel(note_kernel.entry, "looping");
  const stream_id s = t.stream();
  t.e.submit(s, launch(looping, {1}, {1}, &seen));
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_FALSE(t.e.launch_at_once(s, launch(looping, {1}, {1}, &seen)));
}

TEST_F(at_once_test, one_that_is_not_quick_enough_is_handed_over) {
  engine_options o = options_for_tests();
  o.at_once_ns = 1;
  engine_test strict(o);
  strict.e.submit(strict.stream(), note());
  EXPECT_EQ(strict.sync(), status::success);
  EXPECT_FALSE(strict.e.launch_at_once(strict.stream(), note()));
}

TEST_F(at_once_test, nothing_overtakes_what_is_in_its_stream) {
  get_to_know();
  gate g;
  const stream_id s = t.stream();
  t.e.submit(s, g.operation());
  EXPECT_FALSE(t.e.launch_at_once(s, note()));  // also before anybody took the gate in
  g.wait_until_reached();
  EXPECT_FALSE(t.e.launch_at_once(s, note()));
  EXPECT_TRUE(in_the_call(t.stream(), note()));  // beside it
  g.open();
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_TRUE(in_the_call(s, note()));
}

TEST_F(at_once_test, the_legacy_stream_and_blocking_streams_wait_for_each_other) {
  get_to_know();
  const stream_id legacy = t.e.legacy_stream(first_device);
  const stream_id b = blocking();
  const stream_id free = t.stream();
  {
    gate g;
    t.e.submit(legacy, g.operation());
    g.wait_until_reached();
    EXPECT_FALSE(t.e.launch_at_once(b, note()));
    EXPECT_TRUE(in_the_call(free, note()));
    g.open();
    EXPECT_EQ(t.sync(), status::success);
  }
  gate g;
  t.e.submit(b, g.operation());
  g.wait_until_reached();
  EXPECT_FALSE(t.e.launch_at_once(legacy, note()));
  EXPECT_TRUE(in_the_call(blocking(), note()));
  g.open();
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_TRUE(in_the_call(legacy, note()));
}

TEST_F(at_once_test, a_full_device_lets_nobody_in) {
  get_to_know();
  std::vector<std::unique_ptr<gate>> gates;
  const auto most = static_cast<std::size_t>(h200_profile().resident_kernels);
  for (std::size_t i = 0; i < most; ++i) {
    gates.push_back(std::make_unique<gate>());
    t.e.submit(t.stream(), gates.back()->operation());
  }
  for (const auto& g : gates) g->wait_until_reached();
  EXPECT_FALSE(t.e.launch_at_once(t.stream(), note()));
  for (const auto& g : gates) g->open();
  EXPECT_EQ(t.sync(), status::success);
}

TEST_F(at_once_test, a_record_with_nothing_before_it_is_reached_in_the_call) {
  const auto event = std::make_shared<event_state>();
  const command_id record = t.e.submit(t.stream(), record_operation{event});
  EXPECT_TRUE(record.valid());
  EXPECT_EQ(event->last_record, record.value);
  EXPECT_EQ(event->reached_record, record.value);
  EXPECT_TRUE(t.e.done(record));
}

TEST_F(at_once_test, a_record_behind_work_waits_for_it) {
  gate g;
  const stream_id s = t.stream();
  const auto event = std::make_shared<event_state>();
  t.e.submit(s, g.operation());
  const command_id record = t.e.submit(s, record_operation{event});
  EXPECT_FALSE(t.e.done(record));
  EXPECT_NE(event->reached_record, record.value);
  g.open();
  EXPECT_EQ(t.e.synchronize(one_command(record), first_device), status::success);
}

copy_operation row(int& to, const int& from) {
  copy_operation c;
  c.destination = &to;
  c.source = &from;
  c.width = sizeof to;
  return c;
}

TEST_F(at_once_test, a_small_copy_with_nothing_before_it_is_done_in_the_call) {
  int to = 0;
  const int from = 7;
  const command_id copy = t.e.submit(t.stream(), row(to, from));
  EXPECT_EQ(to, 7);
  EXPECT_TRUE(t.e.done(copy));
}

TEST_F(at_once_test, a_copy_waits_for_what_is_before_it_in_its_stream) {
  gate g;
  const stream_id s = t.stream();
  int to = 0;
  const int from = 7;
  t.e.submit(s, g.operation());
  const command_id copy = t.e.submit(s, row(to, from));
  EXPECT_FALSE(t.e.done(copy));
  g.wait_until_reached();
  EXPECT_FALSE(t.e.done(copy));
  EXPECT_EQ(to, 0);
  g.open();
  EXPECT_EQ(t.e.synchronize(one_command(copy), first_device), status::success);
  EXPECT_EQ(to, 7);
}

// Looks at memory that another thread may be writing.
__attribute__((no_sanitize("thread"))) char peek(const volatile char* at) { return *at; }

// A page, and one behind it that is not there before it is used: who copies across takes his time.
class two_pages {
 public:
  two_pages()
      : at_(static_cast<char*>(
            mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~two_pages() { munmap(at_, 2 * size); }
  two_pages(const two_pages&) = delete;
  two_pages& operator=(const two_pages&) = delete;

  // The last `bytes` of the first, with this in them.
  char* fill(std::size_t bytes, char with) {
    std::memset(at_, with, size);
    madvise(at_ + size, size, MADV_DONTNEED);
    return at_ + size - bytes;
  }

 private:
  const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char* const at_;
};

// Two threads and one stream: when the copy shows, another thread puts a gate into the stream. The
// copy is done then: it was not written before its turn.
TEST_F(at_once_test, a_copy_is_not_seen_before_its_turn) {
  two_pages source, destination;
  const stream_id s = t.stream();
  for (char round = 1; round != 100; ++round) {
    copy_operation c;
    c.source = source.fill(1024, round);
    char* to = destination.fill(2048, 0);
    c.destination = to;
    c.width = 4096;
    gate g;
    std::atomic<bool> looks{false};
    std::thread other([&] {
      looks = true;
      for (int i = 1; peek(to) != round; ++i)
        if (i % 1024 == 0) std::this_thread::yield();
      t.e.submit(s, g.operation());
    });
    while (!looks) std::this_thread::yield();
    const command_id copy = t.e.submit(s, std::move(c));
    g.wait_until_reached();
    EXPECT_TRUE(t.e.done(copy)) << "written, and behind the gate";
    g.open();
    other.join();
    EXPECT_EQ(t.sync(), status::success);
  }
}

TEST_F(at_once_test, a_small_copy_that_faults_fails_as_any_other) {
  int to = 0;
  copy_operation c = row(to, to);
  c.source = reinterpret_cast<const void*>(8);
  const command_id copy = t.e.submit(t.stream(), std::move(c));
  EXPECT_NE(t.e.synchronize(one_command(copy), first_device), status::success);
}

fill_operation elements(void* to, std::uint32_t size, std::size_t count) {
  fill_operation f;
  f.destination = to;
  f.value = 0x01020304;
  f.element_size = size;
  f.width = count;
  return f;
}

TEST_F(at_once_test, a_small_fill_with_nothing_before_it_is_done_in_the_call) {
  std::array<std::uint32_t, 3> to{};
  const command_id fill = t.e.submit(t.stream(), elements(to.data(), 4, 2));
  EXPECT_THAT(to, ::testing::ElementsAre(0x01020304, 0x01020304, 0));
  EXPECT_TRUE(t.e.done(fill));
}

TEST_F(at_once_test, a_fill_waits_for_what_is_before_it_in_its_stream) {
  gate g;
  const stream_id s = t.stream();
  std::uint32_t to = 0;
  t.e.submit(s, g.operation());
  const command_id fill = t.e.submit(s, elements(&to, 4, 1));
  EXPECT_FALSE(t.e.done(fill));
  g.wait_until_reached();
  EXPECT_FALSE(t.e.done(fill));
  EXPECT_EQ(to, 0U);
  g.open();
  EXPECT_EQ(t.e.synchronize(one_command(fill), first_device), status::success);
  EXPECT_EQ(to, 0x01020304U);
}

TEST_F(at_once_test, a_small_fill_that_faults_fails_as_any_other) {
  const command_id fill = t.e.submit(t.stream(), elements(reinterpret_cast<void*>(8), 1, 4));
  EXPECT_NE(t.e.synchronize(one_command(fill), first_device), status::success);
}

TEST_F(at_once_test, a_graph_of_small_kernels_runs_in_its_order) {
  get_to_know();
  const operation one = note();
  const operation nothing = marker_operation{};
  const std::vector<std::uint32_t> first{0}, second{1};
  const std::vector<graph_item> items{{&one, first_device, 0, {}},
                                      {&nothing, first_device, 0, first},
                                      {&one, first_device, 0, second}};
  const stream_id s = t.stream();
  int launches = 0;
  for (; seen.on.load() != std::this_thread::get_id() && launches < 1'000'000; ++launches) {
    t.e.submit_graph(s, items, {}, nullptr);
    EXPECT_EQ(t.sync(), status::success);
    EXPECT_EQ(seen.runs, 4 * (launches + 1));
  }
  EXPECT_EQ(seen.on.load(), std::this_thread::get_id());
}

TEST_F(at_once_test, a_graph_waits_for_its_own_launch_before_it) {
  get_to_know();
  gate g;
  const command_id before = t.e.submit(t.stream(), g.operation());
  const operation one = note();
  const std::vector<graph_item> items{{&one, first_device, 0, {}}};
  const std::vector<command_id> after{before};
  g.wait_until_reached();
  t.e.submit_graph(t.stream(), items, after, nullptr);
  EXPECT_EQ(seen.runs, 0);
  g.open();
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(seen.runs, 2);
}

// Hidden from the compiler, which may do anything with an access that it knows to be bad.
int* nowhere(std::uintptr_t address = 64) {
  asm volatile("" : "+r"(address));
  return reinterpret_cast<int*>(address);
}

__attribute__((no_sanitize("address", "undefined", "thread"))) void maybe_store(
    const char* p, thread_context* self) {
  if (params_of<std::atomic<bool>*>(p)->load() && self->block->block_idx[0] == 2) *nowhere() = 1;
}

TEST_F(at_once_test, a_fault_is_told_as_that_of_any_other_kernel) {
  static const abi::kernel_info bad = straight(&maybe_store, "bad(int)");
  std::atomic<bool> now{false};
  const stream_id s = t.stream();
  t.e.submit(s, launch(bad, {5}, {32}, &now));
  EXPECT_EQ(t.sync(), status::success);
  now = true;
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(in_the_call(s, launch(bad, {5}, {32}, &now)));
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("bad(int)"));
  EXPECT_THAT(text, HasSubstr("block (2,0,0)"));
  EXPECT_EQ(t.sync(), status::illegal_address);
  EXPECT_FALSE(t.e.launch_at_once(s, launch(bad, {5}, {32}, &now)));
  t.e.reset(first_device);
  EXPECT_EQ(t.sync(), status::success);
}

TEST_F(at_once_test, many_threads_lose_nothing_and_keep_the_order_of_their_streams) {
  static const abi::kernel_info next = straight(
      [](const char* p, thread_context*) {
        int* n = params_of<int*>(p);  // of one stream: no two of its kernels at a time
        *n = *n + 1;
      },
      "next");
  constexpr int threads = 4, launches = 2000;
  std::array<int, threads> counts{};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      const stream_id s = i % 2 == 0 ? t.stream() : blocking();
      for (int k = 0; k < launches; ++k) {
        const kernel_operation one = launch(next, {1}, {1}, &counts[static_cast<std::size_t>(i)]);
        if (!t.e.launch_at_once(s, one)) t.e.submit(s, one);
      }
      EXPECT_EQ(t.e.synchronize(whole_stream(s), first_device), status::success);
    });
  }
  for (std::thread& one : all) one.join();
  for (const int n : counts) EXPECT_EQ(n, launches);
}

}  // namespace
}  // namespace sb::engine::testing
