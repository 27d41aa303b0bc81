#include "engine/drawn_work.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <vector>

namespace sb::engine {

namespace {

constexpr double many_items = 1 << 17;
// So many standard deviations above the average is the greatest of a device's multiprocessors.
constexpr double greatest_of_many = 2.6;

// When the last of `drawers` is done, if each draws when it is done.
double last_done(const std::vector<double>& lengths, double count, double drawers) {
  if (count <= drawers) return *std::max_element(lengths.begin(), lengths.end());
  std::priority_queue<double, std::vector<double>, std::greater<>> done;
  double last = 0;
  for (std::size_t i = 0; static_cast<double>(i) < count; ++i) {
    double begin = 0;
    if (static_cast<double>(done.size()) >= drawers) {
      begin = done.top();
      done.pop();
    }
    done.push(begin + lengths[i % lengths.size()]);
    last = std::max(last, begin + lengths[i % lengths.size()]);
  }
  return last;
}

// Of the others each thread that draws did so once in vain.
double times_counted(const drawn_items& items, const resident_blocks& there) {
  const double in_vain = static_cast<double>(items.threads) * static_cast<double>(there.blocks);
  const double own = std::max(1.0, items.draws - items.threads);
  return std::max(1.0, (items.moved - in_vain) / own);
}

}  // namespace

unevenness uneven_draws(const drawn_items& items, double times, const resident_blocks& there) {
  if (items.lengths.empty()) return {};
  const double sum = std::accumulate(items.lengths.begin(), items.lengths.end(), 0.0) * times;
  const double count = static_cast<double>(items.lengths.size()) * times;
  const double of_block = static_cast<double>(items.drawers);
  const double drawers = of_block * static_cast<double>(there.blocks);
  const double places = static_cast<double>(std::min(there.blocks, there.multiprocessors));
  if (!(sum > 0) || count > many_items) return {};
  unevenness result;
  result.drawer = last_done(items.lengths, count, drawers) / (sum / drawers);
  if (count >= drawers) {
    result.multiprocessor = last_done(items.lengths, count, places) / (sum / places);
    return result;
  }
  // Who comes first draws, wherever it is, and the drawers of a block come together: the sum of
  // some blocks, of which each has items or none.
  const double blocks = static_cast<double>(there.blocks) / places, share = count / drawers;
  const double average = sum / count, greatest = *std::ranges::max_element(items.lengths);
  double square = 0;
  for (const double one : items.lengths) square += (one - average) * (one - average);
  square /= static_cast<double>(items.lengths.size());
  const double all = of_block * average;
  const double deviation =
      std::sqrt(blocks * share * (of_block * square + all * all * (1 - share)));
  const double most = sum / places + greatest_of_many * deviation;
  const double whole = std::ceil(most / greatest - 1e-9) * greatest;
  const double room = blocks * of_block * greatest;
  result.multiprocessor = std::max(1.0, std::min(whole, room) / (sum / places));
  return result;
}

bool is_left_out(const drawn_items& items, const resident_blocks& there) {
  const double count = static_cast<double>(items.lengths.size()) * times_counted(items, there);
  return count < static_cast<double>(items.drawers) * static_cast<double>(there.blocks);
}

block_work spread_draws(const block_work& all, const block_work& rest, const drawn_items& items,
                        const resident_blocks& there) {
  const double times = times_counted(items, there);
  const unevenness uneven = uneven_draws(items, times, there);
  const double each = times / static_cast<double>(std::max<std::uint64_t>(1, there.blocks));
  block_work w = all;
  const auto spread = [&](double block_work::* what, double more) {
    w.*what = rest.*what + std::max(0.0, all.*what - rest.*what) * each * more;
  };
  for (const auto what :
       {&block_work::issued, &block_work::fp32, &block_work::fp64, &block_work::fp16,
        &block_work::logic, &block_work::special, &block_work::lines, &block_work::shared_turns})
    spread(what, uneven.multiprocessor);
  for (const auto what : {&block_work::longest_issued, &block_work::steps, &block_work::loads,
                          &block_work::barriers, &block_work::shared_retries})
    spread(what, uneven.drawer / items.longest);
  for (const auto what :
       {&block_work::l2_requests, &block_work::l2_bytes, &block_work::memory_bytes,
        &block_work::host_read, &block_work::host_written, &block_work::host_requests,
        &block_work::atomics, &block_work::float_atomics})
    spread(what, 1);
  return w;
}

}  // namespace sb::engine
