// What work on a device does to work beside it.
#include "model/shared_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace sb {
namespace {

constexpr std::uint32_t multiprocessors = 4;

// Runs pieces to their ends; each owner is a number of its own.
class device_run {
 public:
  explicit device_run(double older_first = 0.5) : device_(multiprocessors, older_first) {}

  void add(int owner, std::uint64_t blocks, block_demand demand, double alone,
           std::uint64_t from = 0) {
    const auto id = device_.add({.owner = &owners_[owner],
                                 .blocks = blocks,
                                 .threads = 256,
                                 .demand = demand,
                                 .from = from,
                                 .alone = alone});
    end_[id] = from + static_cast<std::uint64_t>(alone);
    owner_[id] = owner;
  }
  // By owner: when its last piece ended.
  std::map<int, std::uint64_t> go() {
    std::map<int, std::uint64_t> ended;
    std::uint64_t now = 0;
    for (;;) {
      for (const auto& m : device_.update(now)) end_[m.id] = m.end;
      if (end_.empty()) return ended;
      const auto next =
          std::min_element(end_.begin(), end_.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      if (device_.next_begin() < next->second) {
        now = device_.next_begin();
        continue;
      }
      now = next->second;
      ended[owner_[next->first]] = now;
      device_.remove(next->first);
      end_.erase(next);
    }
  }

 private:
  shared_device device_;
  int owners_[32] = {};
  std::map<shared_device::piece_id, std::uint64_t> end_;
  std::map<shared_device::piece_id, int> owner_;
};

constexpr block_demand computes{.arithmetic = 1, .memory = 0};

TEST(shared_device, what_is_alone_takes_its_own_time_whatever_it_asks_for) {
  device_run run;
  run.add(0, 8, {.arithmetic = 3, .memory = 7}, 1000);
  run.add(0, 3, {.arithmetic = 3, .memory = 7}, 1500, 20);
  EXPECT_EQ(run.go()[0], 1520u);
}

TEST(shared_device, two_that_fill_the_pipes_take_as_long_together_as_in_turn) {
  device_run run;
  run.add(0, multiprocessors, computes, 1000);
  run.add(1, multiprocessors, computes, 1000);
  const auto ended = run.go();
  EXPECT_NEAR(ended.at(1), 2000, 2);
  EXPECT_NEAR(ended.at(0), 1333,
              2);  // three quarters of the pipes: the older half, and its part of the rest
}

TEST(shared_device, blocks_on_different_multiprocessors_do_not_notice_each_other) {
  device_run run;
  run.add(0, 2, computes, 1000);
  run.add(1, 2, computes, 1000);
  auto ended = run.go();
  EXPECT_EQ(ended[0], 1000u);
  EXPECT_EQ(ended[1], 1000u);
  device_run more;
  more.add(0, 2, computes, 1000);
  more.add(1, 3, computes, 1000);
  EXPECT_NEAR(more.go()[1], 2000, 2);
}

TEST(shared_device, memory_goes_to_all_alike_and_to_nobody_more_than_it_asks_for) {
  device_run run;
  run.add(0, 1, {.memory = 0.9}, 1000);
  run.add(1, 1, {.memory = 0.9}, 1000);
  run.add(2, 1, {.memory = 0.1}, 1000);
  const auto ended = run.go();
  EXPECT_EQ(ended.at(2), 1000u);
  EXPECT_NEAR(ended.at(0), 1900, 2);  // 0.45 for each for 1000 ns, then half of it all
  EXPECT_EQ(ended.at(0), ended.at(1));
}

TEST(shared_device, who_computes_does_not_slow_who_moves) {
  device_run run;
  run.add(0, multiprocessors, {.arithmetic = 0.9, .memory = 0.01}, 1000);
  run.add(1, multiprocessors, {.arithmetic = 0.1, .memory = 0.9 / multiprocessors}, 1000);
  const auto ended = run.go();
  EXPECT_NEAR(ended.at(0), 1000, 110);
  EXPECT_NEAR(ended.at(1), 1000, 110);
}

TEST(shared_device, work_counts_from_when_it_begins_and_until_it_ends) {
  device_run run;
  run.add(0, multiprocessors, computes, 1000);
  run.add(1, multiprocessors, computes, 300, 900);
  const auto ended = run.go();
  EXPECT_NEAR(ended.at(0), 1033, 2);  // 100 ns of it at three quarters of its speed
  EXPECT_NEAR(ended.at(1), 1300, 2);
}

TEST(shared_device, a_copy_is_on_no_multiprocessor) {
  device_run run;
  run.add(0, multiprocessors, {.arithmetic = 1, .memory = 0.1}, 1000);
  run.add(1, 0, {.memory = 0.5}, 1000);
  const auto ended = run.go();
  EXPECT_EQ(ended.at(0), 1000u);
  EXPECT_EQ(ended.at(1), 1000u);
}

TEST(shared_device, the_rest_of_a_piece_can_be_stretched) {
  shared_device device(4, 0.5);
  const int owner = 0;
  const auto id = device.add(
      {.owner = &owner, .blocks = 4, .threads = 32, .demand = {}, .from = 0, .alone = 1000});
  device.update(0);
  EXPECT_EQ(device.stretch(id, 400, 0.5), 700u);
  EXPECT_EQ(device.stretch(id, 500, 2), 900u);
}

// Whatever comes together: nothing is faster than alone, the pipes and the memory give no more than
// they have, and all of it takes no longer than in turn.
TEST(shared_device, any_mix_takes_no_less_than_it_needs_and_no_more_than_in_turn) {
  std::mt19937 random(7);
  const auto number = [&](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
  };
  for (int round = 0; round < 300; ++round) {
    device_run run(number(0, 1));
    const int count = 2 + static_cast<int>(random() % 12);
    double in_turn = 0, pipes = 0, memory = 0;
    std::vector<double> alone(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const std::uint64_t blocks = 1 + random() % 12;
      const double each = static_cast<double>((blocks + multiprocessors - 1) / multiprocessors);
      const block_demand demand{.arithmetic = number(0, 1) / each,
                                .memory = number(0, 1) / static_cast<double>(blocks)};
      const double length = std::floor(number(100, 5000));
      run.add(i, blocks, demand, length);
      alone[static_cast<std::size_t>(i)] = length;
      in_turn += length;
      pipes += demand.arithmetic * static_cast<double>(blocks) * length / multiprocessors;
      memory += demand.memory * static_cast<double>(blocks) * length;
    }
    double last = 0;
    for (const auto& [owner, ns] : run.go()) {
      EXPECT_GE(static_cast<double>(ns), alone[static_cast<std::size_t>(owner)]);
      last = std::max(last, static_cast<double>(ns));
    }
    EXPECT_GE(last + 2 * count, std::max(pipes, memory)) << "round " << round;
    EXPECT_LE(last, in_turn + 2 * count) << "round " << round;
  }
}

}  // namespace
}  // namespace sb
