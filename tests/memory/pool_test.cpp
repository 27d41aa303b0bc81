// Pools, with commands that complete when the test says so.
#include "engine/pool.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "helpers.hpp"

namespace sb::engine::test {
namespace {

constexpr std::size_t chunk = 32 * mib;

class pools : public ::testing::Test {
 protected:
  memory memory_{small_devices()};
  std::mutex mutex_;
  std::set<command_id> done_;
  std::uint64_t next_ = 1;
  bool idle_ = true;
  pool_set pools_{memory_,
                  [this](command_id c) {
                    const std::lock_guard lock(mutex_);
                    return done_.count(c) != 0;
                  },
                  [this](device_id) { return idle_; }};

  pool_stream s_{stream_id{1}, stream_kind::non_blocking, first};
  pool_stream t_{stream_id{2}, stream_kind::non_blocking, first};
  pool_stream u_{stream_id{3}, stream_kind::non_blocking, first};
  memory_pool* pool_ = pools_.default_pool(first);

  command_id command() {
    const std::lock_guard lock(mutex_);
    return command_id{next_++};
  }
  void complete(command_id c) {
    const std::lock_guard lock(mutex_);
    done_.insert(c);
  }

  char* get(std::size_t bytes, const pool_stream& stream, memory_pool* pool = nullptr) {
    auto place = pools_.allocate(pool != nullptr ? pool : pool_, stream, bytes);
    if (!place.ok()) return nullptr;
    EXPECT_TRUE(place->after.empty());
    return static_cast<char*>(place->base);
  }
  // The command that stands for the free.
  command_id free(void* base, const pool_stream& stream) {
    const auto pool = pools_.begin_free(base, memory_pool::counting::at_call);
    EXPECT_TRUE(pool.ok());
    const command_id c = command();
    pools_.finish_free(*pool, base, {stream, c});
    return c;
  }
  pool_usage usage(memory_pool* pool = nullptr) {
    pool_usage out;
    EXPECT_EQ(pools_.with(pool != nullptr ? pool : pool_,
                          [&](pool_attributes&, pool_usage& u) {
                            out = u;
                            return status::success;
                          }),
              status::success);
    return out;
  }
  void allow(bool events, bool opportunistic, bool internal, std::uint64_t threshold = 0) {
    EXPECT_EQ(pools_.with(pool_,
                          [&](pool_attributes& a, pool_usage&) {
                            a = {events, opportunistic, internal, threshold};
                            return status::success;
                          }),
              status::success);
  }
};

TEST_F(pools, grow_by_32_mebibytes_and_count_the_bytes_asked_for) {
  char* a = get(1, s_);
  char* b = get(1000, s_);
  EXPECT_EQ(b - a, 512);
  EXPECT_EQ(usage().reserved, chunk);
  EXPECT_EQ(usage().used, 1001u);
  get(40 * mib, s_);
  EXPECT_EQ(usage().reserved, 2 * chunk);
  EXPECT_EQ(memory_.info(first).free_bytes, gib - 2 * chunk);
}

TEST_F(pools, a_large_request_continues_the_last_chunk) {
  get(40 * mib, s_);
  EXPECT_EQ(usage().reserved, 2 * chunk);
  get(33 * mib, s_);
  EXPECT_EQ(usage().reserved, 3 * chunk);
}

TEST_F(pools, the_same_stream_reuses_at_once) {
  char* a = get(mib, s_);
  free(a, s_);
  EXPECT_EQ(usage().used, 0u);
  EXPECT_EQ(get(mib, s_), a);
}

TEST_F(pools, the_same_stream_gets_neighbours_as_one_piece_and_parts_of_a_piece) {
  char* a = get(chunk, s_);
  char* b = get(chunk, s_);
  free(a, s_);
  free(b, s_);
  EXPECT_EQ(get(2 * chunk, s_), a);
  free(a, s_);
  EXPECT_EQ(get(chunk, s_), a);
  EXPECT_EQ(get(chunk, s_), a + chunk);
}

TEST_F(pools, another_stream_gets_new_memory_while_the_free_is_pending) {
  char* a = get(chunk, s_);
  const command_id freed = free(a, s_);
  char* b = get(chunk, t_);
  EXPECT_NE(a, b);
  EXPECT_EQ(usage().reserved, 2 * chunk);
  complete(freed);
  EXPECT_EQ(get(chunk, t_), a);
}

TEST_F(pools, without_opportunism_a_complete_free_is_not_taken_before_the_host_has_waited) {
  allow(false, false, false, ~std::uint64_t{0});
  char* a = get(chunk, s_);
  complete(free(a, s_));
  char* b = get(chunk, t_);
  EXPECT_NE(a, b);
  pools_.synchronized(s_.id);
  EXPECT_EQ(get(chunk, t_), a);
}

TEST_F(pools, a_stream_that_waited_for_a_record_after_the_free_reuses) {
  char* a = get(chunk, s_);
  free(a, s_);
  const command_id record = command();
  pools_.note_record(s_, record);
  EXPECT_NE(get(chunk, t_), a);
  pools_.note_wait(t_, record);
  EXPECT_EQ(get(chunk, t_), a);
}

TEST_F(pools, a_record_before_the_free_orders_nothing) {
  char* other = get(512, u_);
  free(other, u_);  // so that records are followed at all
  char* a = get(chunk, s_);
  const command_id record = command();
  pools_.note_record(s_, record);
  free(a, s_);
  pools_.note_wait(t_, record);
  EXPECT_NE(get(chunk, t_), a);
}

TEST_F(pools, order_by_events_goes_through_other_streams) {
  char* a = get(chunk, s_);
  free(a, s_);
  const command_id one = command();
  pools_.note_record(s_, one);
  pools_.note_wait(t_, one);
  const command_id two = command();
  pools_.note_record(t_, two);
  pools_.note_wait(u_, two);
  EXPECT_EQ(get(chunk, u_), a);
}

TEST_F(pools, order_by_events_can_be_switched_off) {
  allow(false, true, true);
  char* a = get(chunk, s_);
  free(a, s_);
  const command_id record = command();
  pools_.note_record(s_, record);
  pools_.note_wait(t_, record);
  EXPECT_NE(get(chunk, t_), a);
}

TEST_F(pools, the_legacy_stream_is_ordered_with_blocking_ones) {
  const pool_stream legacy{stream_id{8}, stream_kind::legacy, first};
  const pool_stream blocking{stream_id{9}, stream_kind::blocking, first};
  char* a = get(chunk, blocking);
  free(a, blocking);
  EXPECT_EQ(get(chunk, legacy), a);
  free(a, legacy);
  EXPECT_EQ(get(chunk, blocking), a);
  free(a, blocking);
  EXPECT_NE(get(chunk, t_), a);
}

TEST_F(pools, when_the_device_is_full_an_allocation_brings_the_dependency_along) {
  char* a = get(gib, s_);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(get(1, t_), nullptr);
  const command_id freed = free(a, s_);
  const auto place = pools_.allocate(pool_, t_, gib);
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place->base, a);
  EXPECT_EQ(place->after, std::vector<command_id>{freed});
}

TEST_F(pools, without_internal_dependencies_a_full_device_is_out_of_memory) {
  allow(true, true, false);
  char* a = get(gib, s_);
  free(a, s_);
  EXPECT_EQ(pools_.allocate(pool_, t_, gib).error(), status::memory_allocation);
}

TEST_F(pools, memory_goes_back_when_the_host_waited_for_the_freeing_stream) {
  char* a = get(chunk, s_);
  char* b = get(chunk, s_);
  const command_id freed = free(b, s_);
  pools_.synchronized(s_.id);
  EXPECT_EQ(usage().reserved, 2 * chunk);  // not complete
  complete(freed);
  pools_.synchronized(t_.id);
  EXPECT_EQ(usage().reserved, 2 * chunk);  // another stream
  pools_.synchronized(s_.id);
  EXPECT_EQ(usage().reserved, chunk);
  EXPECT_EQ(usage().reserved_high, 2 * chunk);
  EXPECT_EQ(memory_.info(first).free_bytes, gib - chunk);
  EXPECT_TRUE(is_writable(a));
  EXPECT_FALSE(is_writable(b));
}

TEST_F(pools, freed_memory_stays_until_the_stream_comes_to_the_free) {
  char* a = get(chunk, s_);
  free(a, s_);
  pools_.synchronized({});
  a[100] = 1;
  EXPECT_EQ(pools_.trim(pool_, 0), status::success);
  a[100] = 2;
}

TEST_F(pools, a_release_threshold_keeps_memory) {
  allow(true, true, true, 2 * chunk);
  char* a = get(4 * chunk, s_);
  complete(free(a, s_));
  pools_.synchronized(s_.id);
  EXPECT_EQ(usage().reserved, 2 * chunk);
  EXPECT_EQ(pools_.trim(pool_, chunk + 1), status::success);
  EXPECT_EQ(usage().reserved, 2 * chunk);
  EXPECT_EQ(pools_.trim(pool_, 0), status::success);
  EXPECT_EQ(usage().reserved, 0u);
}

// runtime.tsv pool.threshold.reserved
TEST_F(pools, the_largest_threshold_keeps_everything) {
  allow(true, true, true, ~std::uint64_t{0});
  complete(free(get(4 * chunk, s_), s_));
  pools_.synchronized(s_.id);
  EXPECT_EQ(usage().reserved, 4 * chunk);
}

TEST_F(pools, the_lowest_best_fit_is_taken) {
  std::vector<char*> p;
  for (int i = 0; i < 6; ++i) p.push_back(get(mib, s_));
  free(p[1], s_);
  free(p[4], s_);
  EXPECT_EQ(get(mib, s_), p[1]);
  EXPECT_EQ(get(mib / 2, s_), p[4]);
}

TEST_F(pools, a_pointer_is_freed_once_and_by_its_base) {
  char* a = get(4096, s_);
  EXPECT_EQ(pools_.begin_free(a + 256, memory_pool::counting::at_call).error(),
            status::invalid_value);
  free(a, s_);
  EXPECT_EQ(pools_.begin_free(a, memory_pool::counting::at_call).error(), status::invalid_value);
  EXPECT_EQ(memory_.free_device(a), status::invalid_value);
  EXPECT_FALSE(memory_.find(a));
}

TEST_F(pools, a_free_outside_of_streams_waits_until_the_device_was_idle) {
  idle_ = false;
  char* a = get(chunk, s_);
  const auto pool = pools_.begin_free(a, memory_pool::counting::never);
  ASSERT_TRUE(pool.ok());
  pools_.finish_free(*pool, a, {{{}, stream_kind::legacy, first}, {}});
  EXPECT_EQ(usage().used, chunk);  // as the hardware counts
  a[0] = 1;
  EXPECT_NE(get(chunk, s_), a);
  idle_ = true;
  EXPECT_EQ(get(chunk, s_), a);
}

TEST_F(pools, of_one_s_own_have_a_limit) {
  memory_pool* own = pools_.create(first, 2 * chunk);
  EXPECT_NE(get(chunk, s_, own), nullptr);
  EXPECT_EQ(get(chunk + mib, s_, own), nullptr);
  EXPECT_NE(get(chunk, s_, own), nullptr);
}

TEST_F(pools, a_destroyed_pool_lives_until_its_last_free_is_complete) {
  memory_pool* own = pools_.create(first, 0);
  ASSERT_EQ(pools_.set_current_pool(first, own), status::success);
  char* a = get(4096, s_, own);
  EXPECT_EQ(pools_.destroy(own), status::success);
  EXPECT_EQ(pools_.destroy(own), status::invalid_value);
  EXPECT_EQ(pools_.current_pool(first), pool_);
  EXPECT_EQ(pools_.allocate(own, s_, 64).error(), status::invalid_value);
  a[1] = 1;
  const command_id freed = free(a, s_);
  a[1] = 2;
  complete(freed);
  pools_.synchronized({});
  EXPECT_FALSE(is_writable(a));
  EXPECT_EQ(memory_.info(first).free_bytes, gib);
}

TEST_F(pools, addresses_of_a_pool_are_kept_ones_whether_allocated_or_not) {
  char* a = get(4096, s_);
  EXPECT_TRUE(memory_.in_kept_range(a + 8 * mib));
  int local = 0;
  EXPECT_FALSE(memory_.in_kept_range(&local));
  pools_.release_all(first);
  EXPECT_FALSE(memory_.in_kept_range(a));
}

TEST_F(pools, the_default_pool_cannot_be_destroyed) {
  EXPECT_EQ(pools_.destroy(pool_), status::invalid_value);
  EXPECT_EQ(pools_.destroy(nullptr), status::invalid_value);
  EXPECT_EQ(pools_.set_current_pool(second, pool_), status::invalid_value);
}

TEST_F(pools, a_reset_takes_the_device_s_pools) {
  char* a = get(4096, s_);
  pools_.release_all(first);
  EXPECT_FALSE(memory_.find(a));
  EXPECT_FALSE(is_writable(a));
  EXPECT_EQ(memory_.info(first).free_bytes, gib);
  EXPECT_NE(pools_.default_pool(first), nullptr);
}

// Each allocation keeps what was written into it while streams allocate, free, complete and wait.
TEST_F(pools, many_streams_at_once_never_share_memory) {
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const pool_stream mine{stream_id{100 + i}, stream_kind::non_blocking, first};
      std::mt19937 random(i);
      std::vector<std::pair<char*, std::size_t>> live;
      for (int step = 0; step < 1500; ++step) {
        if (live.size() < 8 && random() % 3 != 0) {
          const std::size_t size = 1 + random() % (random() % 4 == 0 ? 6 * mib : 20 * kib);
          const auto place = pools_.allocate(pool_, mine, size);
          if (!place.ok() || !place->after.empty()) continue;
          auto* at = static_cast<char*>(place->base);
          at[0] = at[size - 1] = static_cast<char>(i);
          live.emplace_back(at, size);
        } else if (!live.empty()) {
          const auto [at, size] = live.back();
          live.pop_back();
          ASSERT_EQ(at[0], static_cast<char>(i));
          ASSERT_EQ(at[size - 1], static_cast<char>(i));
          complete(free(at, mine));
        }
        if (step % 64 == 0) pools_.synchronized(mine.id);
      }
      for (const auto& [at, size] : live) complete(free(at, mine));
    });
  }
  for (auto& t : threads) t.join();
  pools_.synchronized({});
  EXPECT_EQ(usage().reserved, 0u);
  EXPECT_EQ(usage().used, 0u);
}

}  // namespace
}  // namespace sb::engine::test
