#include "engine/pool.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sb::engine {

namespace {

constexpr std::uint64_t chunk_bytes = pool_chunk_bytes;
// Addresses only; a process limit may make it less.
constexpr std::uint64_t largest_range = std::uint64_t{256} << 30;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::size_t range_bytes(memory& memory, device_id device, std::uint64_t max_bytes) {
  const std::uint64_t most = max_bytes != 0 ? max_bytes : memory.info(device).total_bytes;
  return std::min(round_up(std::max(most, chunk_bytes), chunk_bytes), largest_range);
}

}  // namespace

memory_pool::memory_pool(memory& memory, device_id device, std::uint64_t max_bytes,
                         pool_sharing sharing)
    : memory_(memory),
      device_(device),
      max_bytes_(max_bytes),
      file_(sharing == pool_sharing::by_file
                ? shared_pool_file(device, range_bytes(memory, device, max_bytes))
                : shared_pool_file()),
      range_(range_bytes(memory, device, max_bytes),
             file_.valid() ? range_bytes(memory, device, max_bytes) : chunk_bytes) {
  if (file_.valid()) range_.back_with(file_.descriptor());
  mapped_.resize(range_.bytes() / chunk_bytes, false);
  memory_.keep_range(range_);
}

memory_pool::memory_pool(memory& memory, const shared_pool_file& file)
    : memory_(memory),
      device_(file.device()),
      max_bytes_(file.bytes()),
      imported_(true),
      file_(file),
      range_(reserved_range::of_file(file_.descriptor(), file_.bytes())) {
  memory_.keep_range(range_);
}

int memory_pool::share() const { return imported_ ? -1 : file_.duplicate(); }

result<exported_piece> memory_pool::export_piece(void* base) const {
  const auto offset = static_cast<std::uint64_t>(static_cast<char*>(base) - range_.begin());
  const auto found = live_.find(offset);
  if (imported_ || !file_.valid() || found == live_.end()) return status::invalid_value;
  return exported_piece{file_.inode(), offset, found->second.bytes};
}

result<void*> memory_pool::import_piece(const exported_piece& piece) {
  const bool inside = piece.bytes != 0 && piece.offset <= range_.bytes() &&
                      piece.bytes <= range_.bytes() - piece.offset;
  if (!imported_ || !inside || piece.inode != file_.inode()) return status::invalid_value;
  void* base = range_.begin() + piece.offset;
  if (live_.emplace(piece.offset, live{piece.bytes, piece.bytes}).second) {
    usage_.used += piece.bytes;
    memory_.add_pool_allocation(device_, base, piece.bytes);
  }
  return base;
}

memory_pool::~memory_pool() {
  for (const auto& [offset, gone] : live_) memory_.remove_pool_allocation(range_.begin() + offset);
  memory_.discharge(device_, usage_.reserved);
  memory_.forget_range(range_);
}

bool memory_pool::chunk_mapped(std::uint64_t chunk) const {
  return chunk < mapped_.size() && mapped_[chunk];
}

// The shortest run of neighbouring usable pieces that holds the length.
std::optional<std::uint64_t> memory_pool::best_run(
    std::uint64_t length, const std::function<bool(const piece&)>& usable) const {
  std::optional<std::uint64_t> best;
  std::uint64_t best_length = 0, begin = 0, end = 0;
  const auto consider = [&] {
    if (end - begin < length || (best && end - begin >= best_length)) return;
    best = begin;
    best_length = end - begin;
  };
  for (const auto& [offset, p] : free_) {
    const bool mine = usable(p);
    if (!mine || offset != end) {
      consider();
      begin = end = offset;
    }
    if (mine) end = offset + p.length;
  }
  consider();
  return best;
}

// Makes room by mapping chunks: as few as possible, at the lowest address, together with the usable
// pieces around them.
std::optional<std::uint64_t> memory_pool::grow(std::uint64_t length,
                                               const std::function<bool(const piece&)>& usable) {
  // A run of usable pieces and unmapped chunks may begin at a piece or at a chunk.
  std::vector<std::uint64_t> starts;
  for (const auto& [offset, p] : free_) {
    if (usable(p)) starts.push_back(offset);
  }
  for (std::uint64_t chunk = 0; chunk < mapped_.size(); ++chunk) {
    if (mapped_[chunk]) continue;
    starts.push_back(chunk * chunk_bytes);
    // Everything behind the last mapped chunk is alike.
    if (std::find(mapped_.begin() + static_cast<std::ptrdiff_t>(chunk), mapped_.end(), true) ==
        mapped_.end()) {
      break;
    }
  }
  std::sort(starts.begin(), starts.end());
  std::optional<std::uint64_t> best;
  std::uint64_t best_cost = ~std::uint64_t{0};
  for (const std::uint64_t start : starts) {
    std::uint64_t at = start, cost = 0;
    while (at < start + length && at < range_.bytes()) {
      if (!chunk_mapped(at / chunk_bytes)) {
        ++cost;
        at = (at / chunk_bytes + 1) * chunk_bytes;
        continue;
      }
      const auto p = free_.find(at);
      if (p == free_.end() || !usable(p->second)) break;
      at += p->second.length;
    }
    if (at >= start + length && cost < best_cost) {
      best = start;
      best_cost = cost;
    }
  }
  if (!best) return std::nullopt;
  const std::uint64_t more = best_cost * chunk_bytes;
  if (max_bytes_ != 0 && usage_.reserved + more > round_up(max_bytes_, chunk_bytes)) {
    return std::nullopt;
  }
  if (!memory_.charge(device_, more)) return std::nullopt;
  std::uint64_t mapped = 0;
  for (std::uint64_t chunk = *best / chunk_bytes; chunk * chunk_bytes < *best + length; ++chunk) {
    if (mapped_[chunk]) continue;
    if (!range_.open(chunk * chunk_bytes, chunk_bytes)) break;
    mapped_[chunk] = true;
    mapped += chunk_bytes;
    add_piece(chunk * chunk_bytes, {chunk_bytes, std::nullopt});
  }
  usage_.reserved += mapped;
  usage_.reserved_high = std::max(usage_.reserved_high, usage_.reserved);
  if (mapped < more) {
    memory_.discharge(device_, more - mapped);
    return std::nullopt;
  }
  return best;
}

pool_placement memory_pool::place(std::uint64_t offset, std::uint64_t length, std::size_t bytes,
                                  bool wait_for_marks) {
  pool_placement result;
  const std::uint64_t end = offset + length;
  // The first piece may begin before the place when a fresh chunk was merged with what lay in
  // front.
  auto at = std::prev(free_.upper_bound(offset));
  while (at != free_.end() && at->first < end) {
    const std::uint64_t begin = at->first;
    const piece p = at->second;
    at = free_.erase(at);
    if (begin < offset) free_.emplace(begin, piece{offset - begin, p.mark});
    if (begin + p.length > end) free_.emplace(end, piece{begin + p.length - end, p.mark});
    if (p.mark && p.mark->command.valid() && wait_for_marks) {
      result.after.push_back(p.mark->command);
    }
  }
  live_.emplace(offset, live{length, bytes});
  usage_.used += bytes;
  usage_.used_high = std::max(usage_.used_high, usage_.used);
  result.base = range_.begin() + offset;
  memory_.add_pool_allocation(device_, result.base, bytes);
  return result;
}

result<pool_placement> memory_pool::allocate(std::size_t bytes, pool_user& user) {
  if (imported_) return status::invalid_value;  // CUDA: memory comes from the other process only
  if (bytes > range_.bytes()) return status::memory_allocation;
  const std::uint64_t length = round_up(bytes, allocation_alignment);
  const auto usable = [&](const piece& p) { return !p.mark || user.may_use(*p.mark); };
  auto offset = best_run(length, usable);
  if (!offset) offset = grow(length, usable);
  if (offset) return place(*offset, length, bytes, false);
  if (!attributes_.internal_dependencies) return status::memory_allocation;
  offset = best_run(length, [&](const piece& p) {
    return !p.mark || p.mark->command.valid() || user.may_use(*p.mark);
  });
  if (!offset) return status::memory_allocation;
  return place(*offset, length, bytes, true);
}

void memory_pool::begin_free(void* base, counting how) {
  const auto found =
      live_.find(static_cast<std::uint64_t>(static_cast<char*>(base) - range_.begin()));
  if (found != live_.end() && how == counting::at_call) usage_.used -= found->second.bytes;
}

void memory_pool::finish_free(void* base, const free_mark& mark) {
  const auto found =
      live_.find(static_cast<std::uint64_t>(static_cast<char*>(base) - range_.begin()));
  if (found == live_.end()) return;
  const auto [offset, gone] = *found;
  live_.erase(found);
  add_piece(offset, {gone.length, mark});
}

// Neighbours merge when the same may use them: both free for everybody, or freed in one stream.
void memory_pool::add_piece(std::uint64_t offset, piece p) {
  const auto joins = [](const piece& a, const piece& b) {
    if (!a.mark || !b.mark) return !a.mark && !b.mark;
    return a.mark->stream.id == b.mark->stream.id &&
           a.mark->command.valid() == b.mark->command.valid();
  };
  const auto join = [](piece& into, const piece& other) {
    into.length += other.length;
    if (other.mark && into.mark->command < other.mark->command) into.mark = other.mark;
  };
  auto next = free_.upper_bound(offset);
  if (next != free_.end() && next->first == offset + p.length && joins(p, next->second)) {
    join(p, next->second);
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second.length == offset && joins(p, previous->second)) {
      join(previous->second, p);
      return;
    }
  }
  free_.emplace(offset, p);
}

void memory_pool::settle(const std::function<bool(const free_mark&)>& known) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> settled;
  for (auto at = free_.begin(); at != free_.end();) {
    if (at->second.mark && known(*at->second.mark)) {
      settled.emplace_back(at->first, at->second.length);
      at = free_.erase(at);
    } else {
      ++at;
    }
  }
  for (const auto& [offset, length] : settled) add_piece(offset, {length, std::nullopt});
}

bool memory_pool::has_marks() const {
  return std::any_of(free_.begin(), free_.end(),
                     [](const auto& entry) { return entry.second.mark.has_value(); });
}

void memory_pool::trim(std::uint64_t keep) {
  for (std::uint64_t chunk = mapped_.size(); chunk-- > 0;) {
    if (usage_.reserved < chunk_bytes || usage_.reserved - chunk_bytes < keep) return;
    if (!mapped_[chunk]) continue;
    const std::uint64_t begin = chunk * chunk_bytes, end = begin + chunk_bytes;
    const auto next = free_.upper_bound(begin);
    if (next == free_.begin()) continue;
    const auto at = std::prev(next);
    const std::uint64_t from = at->first, to = from + at->second.length;
    if (at->second.mark || to < end) continue;
    free_.erase(at);
    if (from < begin) free_.emplace(from, piece{begin - from, std::nullopt});
    if (to > end) free_.emplace(end, piece{to - end, std::nullopt});
    range_.close(begin, chunk_bytes);
    mapped_[chunk] = false;
    usage_.reserved -= chunk_bytes;
    memory_.discharge(device_, chunk_bytes);
  }
}

}  // namespace sb::engine
