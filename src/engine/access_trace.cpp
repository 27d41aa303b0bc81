#include "engine/access_trace.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/vague_rounds.hpp"

namespace sb::engine {

namespace {

constexpr std::uint32_t lanes = 32;
constexpr std::uint64_t sector_bytes = 32, line_sectors = 4, banks = 32, word_bytes = 4;
// What memory hands over at once.
constexpr std::uint64_t chunk_sectors = 2;
// Of each place.
constexpr std::uint32_t least_looked_at = 8, most_addresses = 4096;
// What 8 bytes of shared memory take where 4 take one; h200/atomics.tsv double.shared
constexpr double wide_retry = 1.6;

bool is_atomic(abi::access_kind kind) {
  return kind != abi::access_kind::load && kind != abi::access_kind::store;
}

}  // namespace

void access_trace::begin(std::uint32_t threads) {
  threads_ = threads;
  looked_at_ = std::max(least_looked_at, most_addresses / threads);
  known_.clear();
  sites_.clear();
  spent_.assign(threads, {});
  draws_.begin(threads);
  locks_.begin(threads);
  is_vague_ = false;
}

void access_trace::touch(std::uint32_t thread, std::uint64_t address, std::uint32_t bytes,
                         abi::access_kind kind, bool shared, std::uint32_t place) {
  if (kind == abi::vague_round) {
    is_vague_ = true;
    return;
  }
  if (place >= known_.size()) known_.resize(place + 1, 0);
  if (known_[place] == 0) {
    sites_.push_back({kind, shared, bytes, place, 0, std::vector<std::uint32_t>(threads_),
                      std::vector<std::uint64_t>(std::size_t{threads_} * looked_at_)});
    known_[place] = static_cast<std::uint32_t>(sites_.size());
  }
  site& s = sites_[known_[place] - 1];
  ++s.total;
  const std::uint32_t time = s.times[thread]++;
  if (time < looked_at_) s.addresses[std::size_t{time} * threads_ + thread] = address;
}

void access_trace::went_round(std::uint32_t thread, const thread_spent& so_far) {
  draws_.went_round(thread, in_all(thread, so_far));
}

void access_trace::lock_step(std::uint32_t thread, std::uint64_t lock, abi::lock_event event,
                             const thread_spent& so_far) {
  locks_.note(thread, lock, event, in_all(thread, so_far));
}

// With what it did in functions that it called.
thread_spent access_trace::in_all(std::uint32_t thread, const thread_spent& here) const {
  const thread_spent& before = spent_[thread];
  return {before.issued + here.issued, before.steps + here.steps, before.loads + here.loads};
}

void access_trace::spent(std::uint32_t thread, std::uint64_t issued, std::uint64_t steps,
                         std::uint64_t loads) {
  thread_spent& t = spent_[thread];
  t.issued += issued;
  t.steps += steps;
  t.loads += loads;
}

// Goes through the requests in the order of places, times and warps.
class access_trace::reader {
 public:
  reader(access_summary& to, std::uint32_t looked_at, range_of memory)
      : to_(to), looked_at_(looked_at), range_of_(memory) {}

  void read(const site& s, std::uint32_t threads) {
    double sampled = 0;
    const std::uint32_t longest = *std::max_element(s.times.begin(), s.times.end());
    for (const std::uint32_t times : s.times) sampled += std::min(times, looked_at_);
    weight_ = sampled == 0 ? 0 : static_cast<double>(s.total) / sampled;
    now_ = {};
    for (std::uint32_t time = 0; time < std::min(looked_at_, longest); ++time) {
      for (std::uint32_t first = 0; first < threads; first += lanes) {
        count_ = 0;
        for (std::uint32_t t = first; t < std::min(first + lanes, threads); ++t)
          if (s.times[t] > time)
            addresses_[count_++] = s.addresses[std::size_t{time} * threads + t];
        if (s.kind == abi::access_kind::joined_atomic) count_ = std::min(count_, 1u);
        if (count_ != 0) request(s);
      }
      if (s.shared) retry(s);
    }
    if (now_.sectors.empty()) return;
    std::sort(now_.sectors.begin(), now_.sectors.end());
    now_.id = s.place;
    for (std::size_t i = 0; i < now_.sectors.size(); ++i)
      if (i == 0 || now_.sectors[i] / line_sectors != now_.sectors[i - 1] / line_sectors)
        ++now_.lines;
    now_.weight = weight_;
    to_.places.push_back(std::move(now_));
  }

  void end() {
    to_.atomic_addresses.assign(atomics_.begin(), atomics_.end());
    std::sort(to_.atomic_addresses.begin(), to_.atomic_addresses.end());
  }

 private:
  void request(const site& s) {
    if (s.shared)
      shared(s);
    else if (s.kind == abi::access_kind::load)
      load(s);
    else
      write(s);
  }

  // Where there is no instruction, threads of all warps read, compute and try to write, of which
  // one at each address succeeds.
  void retry(const site& s) {
    const bool wide = s.bytes > word_bytes;
    if (is_atomic(s.kind) && (wide || s.kind == abi::access_kind::float_atomic) &&
        !tried_.empty()) {
      std::sort(tried_.begin(), tried_.end());
      std::uint32_t most = 0, same = 0;
      for (std::size_t i = 0; i < tried_.size(); ++i) {
        same = i != 0 && tried_[i] == tried_[i - 1] ? same + 1 : 1;
        most = std::max(most, same);
      }
      to_.shared_retries += weight_ * most * (wide ? wide_retry : 1);
    }
    tried_.clear();
  }

  // Lanes that want the same word get it together; other words of its bank have to wait.
  void shared(const site& s) {
    tried_.insert(tried_.end(), addresses_.begin(), addresses_.begin() + count_);
    words_.clear();
    for (std::uint32_t i = 0; i < count_; ++i)
      for (std::uint64_t w = addresses_[i] / word_bytes;
           w <= (addresses_[i] + s.bytes - 1) / word_bytes; ++w)
        words_.push_back(w);
    std::sort(words_.begin(), words_.end());
    std::array<std::uint32_t, banks> at{};
    for (std::size_t i = 0; i < words_.size(); ++i)
      if (i == 0 || words_[i] != words_[i - 1]) ++at[words_[i] % banks];
    // 16 bytes for each lane are three turns, also when all of them want the same.
    to_.shared_turns +=
        weight_ * std::max(*std::max_element(at.begin(), at.end()), s.bytes * 3 / 16);
  }

  // Sorted and with what of each is covered.
  void find_sectors(const site& s) {
    sectors_.clear();
    for (std::uint32_t i = 0; i < count_; ++i)
      for (std::uint64_t at = addresses_[i], end = at + s.bytes; at < end;) {
        const std::uint64_t sector = at / sector_bytes;
        const std::uint64_t to = std::min(end, (sector + 1) * sector_bytes);
        const std::uint64_t bits = ((std::uint64_t{1} << (to - at)) - 1) << at % sector_bytes;
        if (sectors_.empty() || sectors_.back().first != sector) sectors_.push_back({sector, 0});
        sectors_.back().second |= static_cast<std::uint32_t>(bits);
        at = to;
      }
    std::sort(sectors_.begin(), sectors_.end());
    std::size_t n = 0;
    for (const auto& one : sectors_) {
      if (n != 0 && sectors_[n - 1].first == one.first)
        sectors_[n - 1].second |= one.second;
      else
        sectors_[n++] = one;
    }
    sectors_.resize(n);
  }

  void load(const site& s) {
    find_sectors(s);
    std::uint64_t line = ~std::uint64_t{0}, missed_line = line, host_line = line;
    const double before = to_.l2_requests, before_host = to_.host_requests;
    for (const auto& [sector, bits] : sectors_) {
      if (sector / line_sectors != line) to_.lines += weight_;
      line = sector / line_sectors;
      if (!loads_.insert(sector).second) continue;
      if (is_host(sector)) {
        to_.host_read += weight_ * sector_bytes;
        if (line != host_line) to_.host_requests += weight_;
        host_line = line;
        continue;
      }
      to_.l2_bytes += weight_ * sector_bytes;
      if (line != missed_line) to_.l2_requests += weight_;
      missed_line = line;
      note(sector, chunk_bytes(loaded_chunks_, sector));
    }
    const bool host = to_.host_requests != before_host;
    if (host || to_.l2_requests != before) to_.missed_loads += weight_;
    if (host) to_.missed_host_loads += weight_;
  }

  // Atomics go there and back, one by one.
  void write_to_host(bool atomic) {
    to_.host_written += weight_ * static_cast<double>(sectors_.size()) * sector_bytes;
    if (atomic) to_.host_requests += weight_ * count_;
  }

  bool is_host(std::uint64_t sector) {
    if (range_of_ == nullptr) return false;
    const std::uint64_t address = sector * sector_bytes;
    if (address < range_.begin || address >= range_.end) range_ = range_of_(address);
    return range_.host;
  }

  // Threads at one address go one after the other; a sector's others go beside them.
  void meet(const site& s) {
    std::sort(addresses_.begin(), addresses_.begin() + count_);
    std::uint32_t turns = 0, same = 0, most = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const std::uint64_t before = i == 0 ? ~addresses_[0] : addresses_[i - 1];
      same = addresses_[i] == before ? same + 1 : 1;
      if (addresses_[i] / sector_bytes != before / sector_bytes) turns += std::exchange(most, 0);
      most = std::max(most, same);
      atomics_.insert(addresses_[i]);
    }
    to_.atomics += weight_ * (turns + most);
    if (s.kind == abi::access_kind::float_atomic) to_.float_atomics += weight_ * (turns + most);
  }

  void write(const site& s) {
    find_sectors(s);
    std::uint64_t line = ~std::uint64_t{0};
    const bool atomic = is_atomic(s.kind);
    if (is_host(sectors_.front().first)) {
      write_to_host(atomic);
      return;
    }
    if (atomic) meet(s);
    for (const auto& [sector, bits] : sectors_) {
      const double times = bits == ~0u || atomic ? 1 : 2;
      if (sector / line_sectors != line || atomic) {
        to_.lines += weight_;
        to_.l2_requests += weight_ * times;
      }
      line = sector / line_sectors;
      to_.l2_bytes += weight_ * times * sector_bytes;
      to_.written_bytes += weight_ * times * sector_bytes;
      if (writes_.insert(sector).second) note(sector, times * chunk_bytes(written_chunks_, sector));
    }
  }

  // A sector of a chunk that was there already moves nothing.
  static double chunk_bytes(std::unordered_set<std::uint64_t>& chunks, std::uint64_t sector) {
    return chunks.insert(sector / chunk_sectors).second ? chunk_sectors * sector_bytes : 0;
  }

  void note(std::uint64_t sector, double bytes) {
    now_.sectors.push_back(sector);
    now_.bytes += bytes;
    now_.counts_again = !any_.insert(sector).second;
  }

  access_summary& to_;
  std::uint32_t looked_at_;
  range_of range_of_;
  memory_range range_;  // that was asked for last
  access_summary::place now_;
  double weight_ = 1;
  std::array<std::uint64_t, lanes> addresses_{};
  std::uint32_t count_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sectors_;
  std::vector<std::uint64_t> words_, tried_;
  std::unordered_set<std::uint64_t> loads_, writes_, any_, loaded_chunks_, written_chunks_,
      atomics_;
};

access_summary access_trace::summary(range_of memory) const {
  access_summary result;
  reader all(result, looked_at_, memory);
  for (const site& s : sites_) all.read(s, threads_);
  all.end();
  const auto number = [](std::uint64_t n) { return static_cast<double>(n) / abi::spent_unit; };
  thread_spent longest = draws_.block(spent_);
  for (std::uint32_t first = 0; first < threads_; first += lanes) {
    const std::uint32_t count = std::min(lanes, threads_ - first);
    const thread_spent warp = draws_.warp(first, std::span(spent_).subspan(first, count));
    result.issued += number(warp.issued) * lanes;
    result.warp_loads += number(warp.loads);
    longest.issued = std::max(longest.issued, warp.issued);
    longest.steps = std::max(longest.steps, warp.steps);
    longest.loads = std::max(longest.loads, warp.loads);
  }
  result.longest_issued = number(longest.issued) * lanes;
  result.steps = number(longest.steps);
  result.loads = number(longest.loads);
  result.drawn = draws_.items(spent_);
  result.locks = locks_.locks();
  result.missed_loads += result.drawn.waits;
  return result;
}

}  // namespace sb::engine
