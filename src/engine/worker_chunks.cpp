// The part of the worker pool that says how many blocks a worker takes, and which.
//
// The scheduler grants as many blocks as are resident at once. A worker that is through with its
// blocks goes ahead with others that were not granted, in their places, and the scheduler hears of
// all of them together. Meanwhile it may grant them itself: then the pool notes how many, and if
// the worker stops before it came to them, that many become granted blocks after all.
#include <algorithm>

#include "engine/worker_pool.hpp"

namespace sb::engine {

namespace {

using block_range = kernel_run::block_range;

std::uint64_t blocks_in(const std::vector<block_range>& ranges) {
  std::uint64_t sum = 0;
  for (const block_range& range : ranges) sum += range.count;
  return sum;
}

// Up to `most` blocks of the last range, from its beginning.
block_range take_from(std::vector<block_range>& ranges, std::uint64_t most) {
  block_range& last = ranges.back();
  const block_range taken{last.first, std::min(most, last.count)};
  last.first += taken.count;
  last.count -= taken.count;
  if (last.count == 0) ranges.pop_back();
  return taken;
}

// The blocks of one row.
std::uint64_t row_of(const kernel_run& run) {
  return std::max<std::uint64_t>(1, run.info().row_threads / run.threads);
}

// The last row of a chunk should not be a short one.
std::uint64_t whole_rows(const kernel_run& run, std::uint64_t n) {
  const std::uint64_t row = row_of(run);
  return n > row ? n - n % row : n;
}

}  // namespace

// Answers how many blocks there are for the `n` that the scheduler grants.
std::uint64_t worker_pool::grant_blocks(kernel_run& run, std::uint64_t n) {
  std::uint64_t left = n;
  while (left != 0 && !run.put_back.empty()) {
    run.returned.push_back(take_from(run.put_back, left));
    left -= run.returned.back().count;
  }
  const std::uint64_t fresh =
      std::min(left, run.blocks - run.granted.load(std::memory_order_relaxed));
  run.granted.fetch_add(fresh, std::memory_order_release);
  run.wave = std::max(run.wave, run.unclaimed());
  run.overtaken += left - fresh;
  return n - (left - fresh);
}

// Blocks that were given back go before new ones.
std::uint64_t worker_pool::take_blocks(kernel_run& run, std::uint64_t& first) {
  const std::uint64_t most = chunk_size(run);
  if (run.returned.empty()) return run.claim(most, first);
  const block_range taken = take_from(run.returned, most);
  first = taken.first;
  return taken.count;
}

// As long as a wave of blocks lasts, each worker has its part of the wave and gets as much again
// when it is through; what is left in the end is divided more and more finely.
std::uint64_t worker_pool::chunk_size(const kernel_run& run) const {
  // What blocks of other launches took is a hint for the first chunk, and no more.
  constexpr std::uint64_t first_chunk_ns = 20'000;
  // To hand out a chunk takes one or two microseconds.
  constexpr std::uint64_t least_chunk_ns = 20'000;
  std::uint64_t cost = run.block_ns.load(std::memory_order_relaxed);
  const bool begun = cost != 0;
  if (!begun) cost = run.cost->block_ns();
  if (!begun && (cost == kernel_cost::unknown || cost == kernel_cost::waits)) return 1;
  const std::uint64_t most = (begun ? chunk_ns_of(run) : first_chunk_ns) / cost + 1;
  const std::uint64_t left = run.blocks - run.claimed.load(std::memory_order_relaxed) +
                             blocks_in(run.returned) + blocks_in(run.put_back);
  const std::uint64_t share = std::max(std::min(left / (2 * target_), run.wave / target_),
                                       std::min(left, least_chunk_ns / cost));
  return whole_rows(run, std::clamp<std::uint64_t>(share, 1, most));
}

// A worker that is through with blocks takes others that were not granted in the places of the
// `places` that were. The scheduler would grant them one after another as soon as it hears of those
// that are over: nobody overtakes a kernel that has blocks left, but a higher priority. So it is
// told later, of more blocks at once. Answers how many, none if there is a reason to tell it now.
// Samples that are counted have a way of their own.
std::uint64_t worker_pool::go_ahead(kernel_run& run, std::uint64_t places, std::uint64_t in_ns,
                                    std::uint64_t& first) {
  if (run.is_counted() || run.cancelled.load(std::memory_order_relaxed) || outranked(run) ||
      sink_.has_mail())
    return 0;
  const auto lock = take_lock();
  if (stopping_ || !run.returned.empty() || !resumable_.empty() || next_deadline() != never)
    return 0;
  for (const auto& [priority, runs] : ready_)
    if (runs.size() > (run.queued && priority == run.priority ? 1u : 0u)) return 0;
  if (places < row_of(run) && run.unclaimed() > places) return 0;  // it gets more places
  const std::uint64_t ungranted = run.blocks - run.granted.load(std::memory_order_relaxed);
  const std::uint64_t left = ungranted + run.unclaimed() + blocks_in(run.put_back);
  const std::uint64_t share = 2 * left / (3 * target_);
  const std::uint64_t in_time = in_ns / std::max<std::uint64_t>(1, run.block_ns);
  if (share < places || in_time < places) return 0;
  // The more at once, the less a core writes between two rows that streams its results to memory.
  // What waits for its time after all has to find a place.
  std::uint64_t n = std::min(share, in_time);
  n = places < row_of(run) ? places : whole_rows(run, n);
  arrived_.store(nullptr, std::memory_order_relaxed);
  if (!run.put_back.empty()) {
    const block_range taken = take_from(run.put_back, n);
    first = taken.first;
    return taken.count;
  }
  n = std::min(n, ungranted);
  run.granted.fetch_add(n, std::memory_order_release);
  return run.claim(n, first);
}

// Blocks of a chunk that did not begin are for anybody again: `granted` of them as they are, the
// others as far as the scheduler has granted them meanwhile, or when it does. False when the run is
// cancelled: then the references of the granted ones are the caller's to release.
bool worker_pool::give_back(kernel_run& run, block_range blocks, std::uint64_t granted) {
  const auto lock = take_lock();
  if (run.cancelled.load(std::memory_order_relaxed)) return false;
  const std::uint64_t more = std::min(blocks.count - granted, run.overtaken);
  run.overtaken -= more;
  if (more != 0) sink_.hold(run, more);
  granted += more;
  if (blocks.count != granted)
    run.put_back.push_back({blocks.first + granted, blocks.count - granted});
  if (granted == 0) return true;
  run.returned.push_back({blocks.first, granted});
  if (!run.queued) {
    run.queued = true;
    ready_[run.priority].push_front(&run);
    note_urgent();
    arrived_.store(&run, std::memory_order_relaxed);
  }
  return true;
}

}  // namespace sb::engine
