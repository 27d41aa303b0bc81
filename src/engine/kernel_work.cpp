#include "engine/kernel_work.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

namespace sb::engine {

namespace {

constexpr double sector_bytes = 32, line_bytes = 128, word_bytes = 4;
constexpr unsigned page_bits = 12;

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
  w.atomic_addresses = number(s.atomic_addresses.size());
  w.atomic_pages = w.atomic_addresses;
  w.steps = s.steps;
  w.loads = s.loads;
  // A thread that waits for several loads at once waits for the slowest.
  w.load_misses = std::min(1.0, s.missed_loads / std::max(1.0, w.warps * s.loads));
  w.stores_beside =
      std::min(1.0, 2 * s.written_bytes / std::max(1.0, s.l2_bytes - s.written_bytes));
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
  numbers pages;
  for (const std::uint64_t address : a)
    if (pages.empty() || pages.back() != address >> page_bits)
      pages.push_back(address >> page_bits);
  const double each = static_cast<double>(a.size());
  work.atomic_addresses = in_all(each, new_share(a, b), blocks);
  work.atomic_addresses =
      std::min(work.atomic_addresses, common_range(a, b, patterns::scattered) / word_bytes);
  work.atomic_pages = std::max(static_cast<double>(pages.size()),
                               work.atomic_addresses * word_bytes / (1 << page_bits));
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
  if (shared->atomic_addresses == 0) shared = one.atomic_addresses > 0 ? &one : &before;
  work_.atomic_addresses = shared->atomic_addresses;
  work_.atomic_pages = shared->atomic_pages;
  last_ = std::move(accesses);
  last_index_ = index;
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
    s.work.atomic_addresses = work_.atomic_addresses;
    s.work.atomic_pages = work_.atomic_pages;
  }
  return result;
}

}  // namespace sb::engine
