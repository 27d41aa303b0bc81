#include "engine/memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <thread>
#include <vector>

#include "helpers.hpp"

namespace sb::engine::test {
namespace {

char* bytes(const result<void*>& r) { return static_cast<char*>(*r); }

TEST(memory, an_interior_address_belongs_to_its_allocation) {
  memory m(small_devices());
  char* a = bytes(m.allocate_device(first, 1000));
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{999}}) {
    const auto found = m.find(a + i);
    ASSERT_TRUE(found) << i;
    EXPECT_EQ(found->base, a);
    EXPECT_EQ(found->bytes, 1000u);
    EXPECT_EQ(found->kind, memory_kind::device);
    EXPECT_EQ(found->device, first);
  }
  EXPECT_FALSE(m.find(a + 1000));  // between allocations nobody owns it
  EXPECT_FALSE(m.find(nullptr));
  int local = 0;
  EXPECT_FALSE(m.find(&local));
}

TEST(memory, only_the_exact_base_is_freed_and_only_once) {
  memory m(small_devices());
  char* a = bytes(m.allocate_device(first, 1000));
  EXPECT_EQ(m.free_device(a + 256), status::invalid_value);
  EXPECT_EQ(m.free_device(nullptr), status::invalid_value);
  EXPECT_EQ(m.free_device(a), status::success);
  EXPECT_EQ(m.free_device(a), status::invalid_value);
  EXPECT_FALSE(m.find(a));
}

TEST(memory, each_kind_is_freed_by_its_own_call) {
  memory m(small_devices());
  char* device = bytes(m.allocate_device(first, 64));
  char* pinned = bytes(m.allocate_pinned(first, 64, 3));
  char* managed = bytes(m.allocate_managed(first, 64, 1));
  EXPECT_EQ(m.find(pinned)->flags, 3u);
  EXPECT_EQ(m.free_pinned(device), status::invalid_value);
  EXPECT_EQ(m.free_pinned(managed), status::invalid_value);
  EXPECT_EQ(m.free_device(pinned), status::invalid_value);
  EXPECT_EQ(m.free_device(device), status::success);
  EXPECT_EQ(m.free_device(managed), status::success);
  EXPECT_EQ(m.free_pinned(pinned), status::success);
}

TEST(memory, pinned_memory_begins_with_a_page) {
  memory m(small_devices());
  for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, std::size_t{64}}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes(m.allocate_pinned(first, size, 0))) % 4096,
              0u);
  }
}

TEST(memory, info_counts_granules_of_the_device_alone) {
  memory m({[](device_id) { return memory_capacity{gib, 100 * mib}; }, heap_check::none});
  EXPECT_EQ(m.info(first).total_bytes, gib);
  EXPECT_EQ(m.info(first).free_bytes, gib - 100 * mib);
  ASSERT_TRUE(m.allocate_device(first, 3 * mib).ok());
  ASSERT_TRUE(m.allocate_pinned(first, 3 * mib, 0).ok());
  EXPECT_EQ(m.info(first).free_bytes, gib - 104 * mib);
  EXPECT_EQ(m.info(second).free_bytes, gib - 100 * mib);
  EXPECT_EQ(m.allocate_device(first, gib - 100 * mib).error(), status::memory_allocation);
}

TEST(memory, registered_ranges_must_not_overlap) {
  memory m(small_devices());
  std::vector<char> host(64 * kib);
  char* h = host.data();
  EXPECT_EQ(m.register_host(first, h + 100, 1000, 0), status::success);
  EXPECT_EQ(m.register_host(first, h + 100, 1000, 0), status::host_memory_already_registered);
  EXPECT_EQ(m.register_host(first, h, 101, 0), status::host_memory_already_registered);
  EXPECT_EQ(m.register_host(first, h + 1099, 1, 0), status::host_memory_already_registered);
  EXPECT_EQ(m.register_host(first, h, 64 * kib, 0), status::host_memory_already_registered);
  EXPECT_EQ(m.register_host(first, h + 1100, 10, 0), status::success);  // in the same page
  EXPECT_EQ(m.register_host(first, h, 100, 0), status::success);
  EXPECT_EQ(m.find(h + 1105)->kind, memory_kind::registered);
}

TEST(memory, only_ordinary_mapped_memory_is_registered) {
  memory m(small_devices());
  char* pinned = bytes(m.allocate_pinned(first, 64, 0));
  char* device = bytes(m.allocate_device(first, 64));
  EXPECT_EQ(m.register_host(first, pinned, 64, 0), status::invalid_value);
  EXPECT_EQ(m.register_host(first, device, 64, 0), status::invalid_value);
  void* hole = ::mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(hole, MAP_FAILED);
  ::munmap(hole, 1 << 20);
  EXPECT_EQ(m.register_host(first, hole, 1 << 20, 0), status::invalid_value);
}

TEST(memory, unregistering_tells_unknown_memory_from_a_wrong_address) {
  memory m(small_devices());
  std::vector<char> host(4096);
  char* pinned = bytes(m.allocate_pinned(first, 64, 0));
  ASSERT_EQ(m.register_host(first, host.data(), host.size(), 0), status::success);
  EXPECT_EQ(m.unregister_host(host.data() + 8), status::invalid_value);
  EXPECT_EQ(m.unregister_host(pinned), status::invalid_value);
  EXPECT_EQ(m.unregister_host(nullptr), status::invalid_value);
  EXPECT_EQ(m.unregister_host(host.data()), status::success);
  EXPECT_EQ(m.unregister_host(host.data()), status::host_memory_not_registered);
}

TEST(memory, variables_of_images_are_known_until_the_image_goes) {
  memory m(small_devices());
  static int device_variable[4], managed_variable[4];
  m.add_image_variable(first, device_variable, sizeof device_variable);
  m.add_image_variable(first, managed_variable, sizeof managed_variable, memory_kind::managed);
  EXPECT_EQ(m.find(&device_variable[3])->kind, memory_kind::image);
  EXPECT_EQ(m.find(managed_variable)->kind, memory_kind::managed);
  EXPECT_EQ(m.free_device(device_variable), status::invalid_value);
  EXPECT_EQ(m.free_device(managed_variable), status::invalid_value);
  m.remove_image_variables(second);
  EXPECT_TRUE(m.find(device_variable));
  m.remove_image_variables(first);
  EXPECT_FALSE(m.find(device_variable));
  EXPECT_FALSE(m.find(managed_variable));
}

TEST(memory, a_reset_frees_one_device_and_no_other) {
  memory m(small_devices());
  char* a = bytes(m.allocate_device(first, 5 * mib));
  char* b = bytes(m.allocate_device(second, 5 * mib));
  char* p = bytes(m.allocate_pinned(first, 64, 0));
  m.release_all(first);
  EXPECT_FALSE(m.find(a));
  EXPECT_FALSE(m.find(p));
  EXPECT_FALSE(is_writable(a));
  EXPECT_TRUE(m.find(b));
  EXPECT_EQ(m.info(first).free_bytes, gib);
  EXPECT_EQ(m.free_device(b), status::success);
}

TEST(memory, detached_memory_stays_until_it_is_released) {
  memory m(small_devices());
  char* a = bytes(m.allocate_device(first, 4 * mib));
  const auto detached = m.detach_device(a);
  ASSERT_TRUE(detached);
  EXPECT_FALSE(m.detach_device(a));
  EXPECT_FALSE(m.find(a));
  a[5] = 1;
  m.release_detached(*detached);
  EXPECT_FALSE(is_writable(a));
}

TEST(memory, of_threads_that_free_the_same_pointer_one_wins) {
  memory m(small_devices());
  for (int round = 0; round < 200; ++round) {
    void* a = *m.allocate_device(first, 64);
    std::atomic<int> wins{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] { wins += m.free_device(a) == status::success ? 1 : 0; });
    }
    for (auto& t : threads) t.join();
    ASSERT_EQ(wins, 1);
  }
}

TEST(memory, lookups_go_on_while_others_allocate_and_free) {
  memory m(small_devices());
  char* fixed = bytes(m.allocate_device(first, 10 * kib));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      while (!stop) {
        auto a = m.allocate_device(device_id{static_cast<std::uint32_t>(t % 2)}, 1000);
        auto b = m.allocate_pinned(first, 1000, 0);
        EXPECT_EQ(m.find(static_cast<char*>(*a) + 999)->base, *a);
        EXPECT_EQ(m.free_device(*a), status::success);
        EXPECT_EQ(m.free_pinned(*b), status::success);
      }
    });
  }
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(m.find(fixed + i % (10 * kib))->base, fixed);
  stop = true;
  for (auto& t : threads) t.join();
}

}  // namespace
}  // namespace sb::engine::test
