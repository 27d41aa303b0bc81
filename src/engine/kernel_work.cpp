#include "engine/kernel_work.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

namespace sb::engine {

namespace {

constexpr double line_bytes = 128, word_bytes = 4;
constexpr std::uint64_t sector_bytes = 32;
constexpr std::uint64_t chunk_bytes = 256;  // that one unit of the cache has, for atomics

using numbers = std::vector<std::uint64_t>;

// The part of `next` that is not in `first`.
double new_share(const numbers& first, const numbers& next) {
  if (next.empty()) return 0;
  numbers more;
  std::set_difference(next.begin(), next.end(), first.begin(), first.end(),
                      std::back_inserter(more));
  return static_cast<double>(more.size()) / static_cast<double>(next.size());
}

// Of something that each block has `each` of, how many there are in all.
double in_all(double each, double share, std::uint64_t blocks) {
  return each * (1 + static_cast<double>(blocks - 1) * share);
}

// Whether `next` is where `first` is, a little further on: most of it by the same distance.
bool is_shifted(const numbers& first, const numbers& next, std::uint64_t most) {
  for (const std::size_t at : {std::size_t{0}, next.size() / 2, next.size() - 1}) {
    const std::uint64_t by = next[at] - first[std::min(at, first.size() - 1)];
    if (by > most) continue;
    std::size_t same = 0;
    for (const std::uint64_t one : next)
      same += std::binary_search(first.begin(), first.end(), one - by) ? 1 : 0;
    if (same * 4 >= next.size() * 3) return true;
  }
  return false;
}

// Pieces of memory that the addresses lie in, for each of them.
double pieces_each(const numbers& a, const numbers& b, std::uint64_t piece) {
  numbers all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  if (all.empty()) return 0;
  double pieces = 1;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i] / piece != all[i - 1] / piece) ++pieces;
  return pieces / static_cast<double>(all.size());
}

// Tiles and strides, or what is known to go here and there.
enum class patterns { any, scattered };

// Blocks that go here and there in the same range have that range in common, not where they go: the
// size of the range, or more than there can be.
double common_range(const numbers& a, const numbers& b, patterns among) {
  constexpr double none = std::numeric_limits<double>::infinity();
  if (a.empty() || b.empty()) return none;
  const auto low = std::min(a.front(), b.front()), high = std::max(a.back(), b.back());
  const auto from = std::max(a.front(), b.front()), to = std::min(a.back(), b.back());
  const std::uint64_t range = high - low + 1;
  const bool together = to > from && (to - from) > range / 4 * 3;
  if (among == patterns::any && is_shifted(a, b, range / 16)) return none;
  return together ? static_cast<double>(range) : none;
}

bool before(const work_samples::sample& s, std::uint64_t index) { return s.index < index; }

}  // namespace

block_work work_of(const abi::kernel_counts& c, const access_summary& s) {
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  block_work w;
  w.issued = s.issued;
  w.longest_issued = s.longest_issued;
  w.warps = std::ceil(number(c.threads) / 32);
  w.fp32 = number(c.fp32_issued);
  w.fp64 = number(c.fp64_issued);
  w.fp16 = number(c.fp16);
  w.logic = number(c.logic);
  w.special = number(c.special_steps);
  w.lines = s.lines + number(c.local_loaded + c.local_stored) / line_bytes;
  w.shared_turns = s.shared_turns;
  w.l2_requests = s.l2_requests;
  w.l2_bytes = s.l2_bytes;
  w.atomics = s.atomics;
  w.host_read = s.host_read;
  w.host_written = s.host_written;
  w.host_requests = s.host_requests;
  w.host_misses = s.missed_loads > 0 ? s.missed_host_loads / s.missed_loads : 0;
  w.float_atomics = s.float_atomics;
  w.shared_retries = s.shared_retries;
  w.atomic_sectors = number(s.atomic_addresses.size());
  w.atomic_chunks = w.atomic_sectors;
  w.steps = s.steps;
  w.loads = s.loads;
  // A thread that waits for several loads at once waits for the slowest. Warps that load nothing
  // make none of them quicker.
  w.load_misses = std::min(1.0, s.missed_loads / std::max(1.0, s.warp_loads));
  w.stores_beside =
      std::min(1.0, 2 * s.written_bytes / std::max(1.0, s.l2_bytes - s.written_bytes));
  w.locks = s.locks.turns;
  w.lock_threads = s.locks.threads;
  w.locked_steps = s.locks.steps;
  w.locked_loads = s.locks.loads;
  w.locked_fences = s.locks.fences;
  w.barriers = number(c.barriers) / std::max(1.0, number(c.threads));
  return w;
}

void spread(block_work& work, const access_summary& first, const access_summary& next,
            std::uint64_t blocks, double l2_bytes) {
  double moved = 0, room = 0;
  for (const access_summary::place& a : first.places) {
    const auto found = std::find_if(next.places.begin(), next.places.end(),
                                    [&](const auto& b) { return b.id == a.id; });
    const double each = static_cast<double>(a.sectors.size());
    double all = each * a.weight, bytes = line_bytes * std::min(1.0, a.lines / each);
    if (found != next.places.end()) {
      all = in_all(all, new_share(a.sectors, found->sectors), blocks);
      const double range = common_range(a.sectors, found->sectors, patterns::any);
      if (range < all) all = range, bytes = sector_bytes;
    }
    moved += all * a.bytes / each;
    if (!a.counts_again) room += all * bytes;
  }
  work.memory_share = share_of_memory(room, l2_bytes);
  work.memory_bytes = work.memory_share * moved / static_cast<double>(blocks);

  // A block that has none says nothing of where the others have theirs.
  const bool only_next = first.atomic_addresses.empty();
  const numbers &a = only_next ? next.atomic_addresses : first.atomic_addresses,
                &b = next.atomic_addresses;
  const double each = static_cast<double>(a.size());
  const double addresses = std::min(in_all(each, new_share(a, b), blocks),
                                    common_range(a, b, patterns::scattered) / word_bytes);
  work.atomic_sectors = addresses * pieces_each(a, b, sector_bytes);
  work.atomic_chunks = addresses * pieces_each(a, b, chunk_bytes);
}

void work_samples::add(std::uint64_t index, std::uint64_t blocks, const abi::kernel_counts& counts,
                       access_summary accesses, double l2_bytes) {
  block_work one = work_of(counts, accesses);
  const bool pair = index == last_index_ + 1;
  if (pair)
    spread(one, last_, accesses, blocks, l2_bytes);
  else
    spread(one, accesses, accesses, 1, l2_bytes);
  const auto place = std::lower_bound(all_.begin(), all_.end(), index, before);
  if (place != all_.end() && place->index == index)
    place->work = one;
  else
    all_.insert(place, {index, one});
  constexpr std::size_t fields = sizeof(block_work) / sizeof(double);
  using numbers_of = std::array<double, fields>;
  auto sum = std::bit_cast<numbers_of>(work_);
  const auto more = std::bit_cast<numbers_of>(one);
  ++count_;
  for (std::size_t i = 0; i < fields; ++i) sum[i] += (more[i] - sum[i]) / count_;
  const block_work before = work_;
  work_ = std::bit_cast<block_work>(sum);
  // What blocks share is known from the pair, once there is one; where only others have atomics,
  // from those.
  const block_work* shared = pair || !paired_ ? &one : &before;
  paired_ = paired_ || pair;
  work_.memory_bytes = shared->memory_bytes;
  work_.memory_share = shared->memory_share;
  if (shared->atomic_sectors == 0) shared = one.atomic_sectors > 0 ? &one : &before;
  work_.atomic_sectors = shared->atomic_sectors;
  work_.atomic_chunks = shared->atomic_chunks;
  note_atomics(index, accesses.atomic_addresses);
  locks_.note(accesses.locks.addresses);
  work_.lock_places = locks_.in_all(blocks);
  last_ = std::move(accesses);
  last_index_ = index;
}

// Neighbours that differ look as if every block had its own, also where there are but a few in
// turn: at least as many as were seen, at most as many as lie between two that have the same.
void work_samples::note_atomics(std::uint64_t index, const numbers& addresses) {
  if (addresses.empty()) return;
  const auto same = std::find_if(atomics_.begin(), atomics_.end(),
                                 [&](const auto& one) { return one.second == addresses; });
  if (same == atomics_.end()) {
    atomics_.emplace_back(index, addresses);
  } else {
    period_ = std::gcd(period_, index - std::min(index, same->first));
    same->first = index;
  }
  if (period_ == 0) return;
  const double most = static_cast<double>(period_);
  const double least = std::min(most, static_cast<double>(atomics_.size()));
  const double all = static_cast<double>(addresses.size()) * std::sqrt(least * most);
  const auto limit = [&](double& pieces, std::uint64_t piece) {
    pieces = std::min(pieces, all * pieces_each(addresses, {}, piece));
  };
  limit(work_.atomic_sectors, sector_bytes);
  limit(work_.atomic_chunks, chunk_bytes);
}

std::vector<std::uint64_t> work_samples::places(std::uint64_t blocks) {
  constexpr std::uint64_t few = 8, many = 64;
  if (blocks < 2) return {0};
  if (blocks < few) return {0, 1};
  if (blocks < many) return {blocks / 8, blocks / 2, blocks / 2 + 1, blocks - 1 - blocks / 8};
  return {blocks / 32, blocks / 8, blocks / 2, blocks / 2 + 1, blocks - 1 - blocks / 8};
}

// The grid is cut into parts; of each some block, since many a grid has rows or a period.
std::uint64_t work_samples::next_place(std::uint64_t index, std::uint64_t blocks) const {
  constexpr double least_parts = 16, most_parts = 192;
  constexpr double most_counted = 1e9;  // instructions of threads
  const double parts =
      std::clamp(most_counted / std::max(1.0, work_.issued), least_parts, most_parts);
  const auto length = std::max<std::uint64_t>(1, blocks / static_cast<std::uint64_t>(parts));
  for (std::uint64_t part = index / length;; ++part) {
    const std::uint64_t scattered = part * 0x9e3779b97f4a7c15u >> 32;
    const std::uint64_t place = part * length + scattered % length;
    if (place >= index) return place;
  }
}

// Later ones tell whether they are as the first.
std::vector<std::uint64_t> usual_places(std::uint64_t first, std::uint64_t count,
                                        std::uint64_t blocks) {
  std::vector<std::uint64_t> places;
  if (first == 0) places = work_samples::places(count);
  for (const std::uint64_t eighth : {3, 5, 7}) {
    const std::uint64_t place = blocks / 8 * eighth;
    if (place >= first && place < first + count && (places.empty() || place > places.back() + 1))
      places.push_back(place);
  }
  return places;
}

bool work_samples::uneven() const {
  constexpr double alike = 1.15;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const sample& s : all_) {
    const double each = std::max(s.work.issued, s.work.l2_requests);
    least = std::min(least, each);
    most = std::max(most, each);
  }
  return most > alike * least;
}

std::vector<work_samples::sample> work_samples::all() const {
  std::vector<sample> result = all_;
  for (sample& s : result) {
    const double part = work_.l2_bytes > 0 ? s.work.l2_bytes / work_.l2_bytes : 1;
    s.work.memory_bytes = work_.memory_bytes * part;
    s.work.memory_share = work_.memory_share;
    s.work.atomic_sectors = work_.atomic_sectors;
    s.work.atomic_chunks = work_.atomic_chunks;
    s.work.lock_places = work_.lock_places;
  }
  return result;
}

}  // namespace sb::engine
