#include "engine/memory_heap.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "helpers.hpp"

namespace sb::engine::test {

// A write to a pipe reads from the address: the kernel answers EFAULT where user code would fault.
bool is_writable(const void* address) {
  int ends[2];
  if (::pipe(ends) != 0) return false;
  const bool readable = ::write(ends[1], address, 1) == 1;
  ::close(ends[0]);
  ::close(ends[1]);
  return readable;
}

namespace {

memory_heap make(heap_check check = heap_check::none) { return memory_heap({gib, 4 * gib, check}); }

char* bytes(const result<void*>& r) { return static_cast<char*>(*r); }

TEST(memory_heap, small_allocations_share_a_granule_at_multiples_of_512) {
  memory_heap heap = make();
  char* a = bytes(heap.allocate(1));
  char* b = bytes(heap.allocate(513));
  char* c = bytes(heap.allocate(1));
  EXPECT_EQ(b - a, 512);
  EXPECT_EQ(c - b, 1024);
  EXPECT_EQ(heap.used(), granule_bytes);
}

TEST(memory_heap, large_allocations_take_whole_granules) {
  memory_heap heap = make();
  char* a = bytes(heap.allocate(3 * mib));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % granule_bytes, 0u);
  EXPECT_EQ(heap.used(), 4 * mib);
  std::memset(a, 1, 3 * mib);
  heap.release(a);
  EXPECT_EQ(heap.used(), 0u);
}

TEST(memory_heap, a_granule_closes_with_its_last_allocation) {
  memory_heap heap = make();
  char* a = bytes(heap.allocate(100));
  char* b = bytes(heap.allocate(100));
  heap.release(a);
  EXPECT_TRUE(is_writable(a));
  heap.release(b);
  EXPECT_FALSE(is_writable(a));
  EXPECT_FALSE(is_writable(b));
  EXPECT_EQ(heap.used(), 0u);
}

TEST(memory_heap, memory_past_the_granule_is_closed) {
  memory_heap heap = make();
  char* a = bytes(heap.allocate(2 * mib));
  EXPECT_TRUE(is_writable(a + 2 * mib - 1));
  EXPECT_FALSE(is_writable(a + 2 * mib));
}

TEST(memory_heap, a_freed_place_is_used_again_and_comes_back_zeroed_when_it_closed) {
  memory_heap heap = make();
  char* a = bytes(heap.allocate(8 * mib));
  std::memset(a, 7, 8 * mib);
  heap.release(a);
  char* b = bytes(heap.allocate(8 * mib));
  EXPECT_EQ(a, b);
  EXPECT_EQ(b[5 * mib], 0);
}

TEST(memory_heap, nothing_beyond_the_capacity) {
  memory_heap heap = make();
  EXPECT_EQ(heap.allocate(gib + 1).error(), status::memory_allocation);
  EXPECT_EQ(heap.allocate(~std::size_t{0}).error(), status::memory_allocation);
  const auto most = heap.allocate(gib - 2 * mib);
  ASSERT_TRUE(most.ok());
  ASSERT_TRUE(heap.allocate(1).ok());
  EXPECT_EQ(heap.allocate(2 * mib).error(), status::memory_allocation);
  heap.release(*most);
  EXPECT_TRUE(heap.allocate(2 * mib).ok());
}

TEST(memory_heap, what_is_charged_counts_against_the_capacity) {
  memory_heap heap = make();
  EXPECT_TRUE(heap.charge(gib));
  EXPECT_FALSE(heap.charge(1));
  EXPECT_EQ(heap.allocate(1).error(), status::memory_allocation);
  heap.discharge(gib);
  EXPECT_TRUE(heap.allocate(1).ok());
}

TEST(memory_heap, guard_pages_stand_right_behind_every_allocation) {
  memory_heap heap = make(heap_check::guard_pages);
  for (const std::size_t size : {std::size_t{4}, std::size_t{4096}, 3 * mib, std::size_t{1008}}) {
    char* a = bytes(heap.allocate(size));
    const std::size_t slack = (16 - size % 16) % 16;
    EXPECT_TRUE(is_writable(a + size - 1)) << size;
    EXPECT_FALSE(is_writable(a + size + slack)) << size;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 16, 0u) << size;
  }
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes(heap.allocate(64 * kib))) % 256, 0u);
}

TEST(memory_heap, with_guard_pages_a_freed_address_rests) {
  memory_heap heap = make(heap_check::guard_pages);
  char* a = bytes(heap.allocate(4096));
  heap.release(a);
  EXPECT_FALSE(is_writable(a));
  EXPECT_NE(bytes(heap.allocate(4096)), a);
}

TEST(memory_heap, clear_closes_everything) {
  memory_heap heap = make();
  char* a = bytes(heap.allocate(100));
  char* b = bytes(heap.allocate(5 * mib));
  heap.clear();
  EXPECT_FALSE(is_writable(a));
  EXPECT_FALSE(is_writable(b));
  EXPECT_EQ(heap.used(), 0u);
  EXPECT_TRUE(heap.allocate(100).ok());
}

// Every allocation keeps what was written into it: no two overlap, none is closed early.
void churn(memory_heap& heap, unsigned seed, int steps) {
  struct live {
    char* at;
    std::size_t size;
    char value;
  };
  std::mt19937 random(seed);
  std::vector<live> mine;
  for (int i = 0; i < steps; ++i) {
    if (mine.size() < 20 || random() % 2 == 0) {
      const std::size_t size = random() % 8 == 0 ? 1 + random() % (5 * mib) : 1 + random() % 9000;
      const auto a = heap.allocate(size);
      if (!a.ok()) continue;
      const char value = static_cast<char>(random());
      char* at = static_cast<char*>(*a);
      at[0] = at[size / 2] = at[size - 1] = value;
      mine.push_back({at, size, value});
    } else {
      const std::size_t which = random() % mine.size();
      const live gone = mine[which];
      EXPECT_EQ(gone.at[0], gone.value);
      EXPECT_EQ(gone.at[gone.size / 2], gone.value);
      EXPECT_EQ(gone.at[gone.size - 1], gone.value);
      heap.release(gone.at);
      mine[which] = mine.back();
      mine.pop_back();
    }
  }
  for (const live& l : mine) heap.release(l.at);
}

TEST(memory_heap, many_threads_allocate_and_free_at_once) {
  for (const heap_check check : {heap_check::none, heap_check::guard_pages}) {
    memory_heap heap = make(check);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t) threads.emplace_back([&, t] { churn(heap, t, 600); });
    for (auto& t : threads) t.join();
    EXPECT_EQ(heap.used(), 0u);
  }
}

}  // namespace
}  // namespace sb::engine::test
