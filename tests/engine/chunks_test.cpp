// How many blocks a worker takes at a time: by what they cost, as far as the launch itself has
// shown. The sink hears of each chunk once.
#include <gtest/gtest.h>

#include "engine/worker_pool.hpp"
#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

class chunk_list final : public kernel_sink {
 public:
  bool has_mail() const override { return false; }
  void attend() override {}
  void small_done(kernel_run&, std::uint64_t, mail) override {}
  void blocks_done(kernel_run& run, std::uint64_t n, std::uint64_t) override {
    const std::lock_guard lock(mutex_);
    chunks_.push_back(n + run.passed.exchange(0));
  }
  void block_failed(kernel_run&, const block&) override {}
  bool puts_off(kernel_run&, const block&, std::uint64_t&) override { return false; }
  void hold(kernel_run&, std::uint64_t n) override { change(static_cast<std::int64_t>(n)); }
  void release(kernel_run&, std::uint64_t n) override { change(-static_cast<std::int64_t>(n)); }

  // The pool has given up all its references.
  std::vector<std::uint64_t> wait_until_over() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_ == 0; });
    return chunks_;
  }

 private:
  void change(std::int64_t by) {
    const std::lock_guard lock(mutex_);
    held_ += by;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t held_ = 0;
  std::vector<std::uint64_t> chunks_;
};

// Blocks from `first` to `last` take a millisecond at least, the others `usual`.
struct costly {
  std::uint64_t first, last;
  std::chrono::nanoseconds usual;
  std::atomic<std::uint64_t>* begun;
};
const abi::kernel_info some_are_costly = loop_kernel(
    [](const char* p, thread_context*) {
      const auto& q = params_of<costly>(p);
      const std::uint64_t at = (*q.begun)++;
      const bool much = at >= q.first && at < q.last;
      if (!much && q.usual.count() == 0) return;
      const auto end =
          std::chrono::steady_clock::now() + (much ? std::chrono::milliseconds(1) : q.usual);
      while (std::chrono::steady_clock::now() < end) {
      }
    },
    "some_are_costly");

std::vector<std::uint64_t> chunks_of(std::uint32_t blocks, std::uint64_t first, std::uint64_t last,
                                     std::chrono::nanoseconds usual = {}) {
  std::atomic<std::uint64_t> begun{0};
  const kernel_operation what =
      launch(some_are_costly, {blocks}, {1}, costly{first, last, usual, &begun});
  device_runtime device;
  kernel_cost cost;
  kernel_run run;
  run.launch = &what;
  run.device = &device;
  run.blocks = blocks;
  run.threads = 1;
  run.cost = &cost;
  chunk_list list;
  worker_pool pool(2, {}, list);
  list.hold(run, blocks);
  EXPECT_EQ(pool.grant(run, blocks), blocks);
  std::vector<std::uint64_t> chunks = list.wait_until_over();
  EXPECT_EQ(begun, blocks);
  std::uint64_t sum = 0;
  for (const std::uint64_t n : chunks) sum += n;
  EXPECT_EQ(sum, blocks);
  return chunks;
}

TEST(chunks, blocks_that_cost_much_go_one_by_one) {
  constexpr std::uint32_t blocks = 64;
  EXPECT_EQ(chunks_of(blocks, 0, blocks).size(), blocks);
}

// To begin a chunk takes AddressSanitizer longer than a large chunk should take.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SB_SLOW_CHUNKS
#endif
#endif
#ifndef SB_SLOW_CHUNKS

constexpr std::uint32_t many = 4096;

TEST(chunks, blocks_that_cost_little_go_in_large_ones) {
  EXPECT_LT(chunks_of(many, 0, 0).size(), many / 8);
}

TEST(chunks, become_small_when_blocks_begin_to_cost_much) {
  // Of blocks that take 2 us, 26 at most go together: 50 us of them.
  const std::vector<std::uint64_t> chunks =
      chunks_of(many, many - 128, many, std::chrono::microseconds(2));
  EXPECT_LT(chunks.size(), many / 2);
  EXPECT_LE(*std::max_element(chunks.begin(), chunks.end()), 26u);
  EXPECT_GE(std::count(chunks.begin(), chunks.end(), 1u), 32);
}

TEST(chunks, become_large_when_blocks_cost_little_after_all) {
  const std::vector<std::uint64_t> chunks = chunks_of(many, 0, 16);
  EXPECT_GE(std::count(chunks.begin(), chunks.end(), 1u), 16);
  EXPECT_LT(chunks.size(), many / 8);
}

#endif

}  // namespace
}  // namespace sb::engine::testing
