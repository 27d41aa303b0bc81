#include "engine/uneven_blocks.hpp"

#include <algorithm>

namespace sb::engine {

// How many of its blocks each multiprocessor has.
std::vector<std::uint64_t> uneven_blocks::load_of(const void* of) const {
  std::vector<std::uint64_t> load(multiprocessors_, 0);
  for (const piece& p : pieces_) {
    if (p.of != of) continue;
    for (const std::uint32_t m : p.where) ++load[m];
  }
  return load;
}

void uneven_blocks::add(piece_id id, const void* of, const block_work& work, std::uint64_t count,
                        std::uint64_t together, bool first_wave) {
  if (pieces_.size() <= id) pieces_.resize(id + 1);
  pieces_[id] = {of, work, together, first_wave, {}};
  add_blocks(id, count);
}

// Each where the fewest are.
void uneven_blocks::add_blocks(piece_id id, std::uint64_t count) {
  piece& p = pieces_[id];
  std::vector<std::uint64_t> load = load_of(p.of);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto emptiest = std::min_element(load.begin(), load.end());
    ++*emptiest;
    p.where.push_back(static_cast<std::uint32_t>(emptiest - load.begin()));
  }
}

void uneven_blocks::remove(piece_id id) {
  if (id < pieces_.size()) pieces_[id] = {};
}

std::vector<uneven_blocks::faster> uneven_blocks::last_ones(const void* of,
                                                            const timing_profile& timing) {
  std::vector<faster> result;
  const std::vector<std::uint64_t> load = load_of(of);
  for (piece_id id = 0; id < pieces_.size(); ++id) {
    piece& p = pieces_[id];
    if (p.of != of) continue;
    std::uint64_t most = 0;
    for (const std::uint32_t m : p.where) most = std::max(most, load[m]);
    const std::uint64_t together = most * multiprocessors_;
    if (together >= p.together) continue;
    const double before = wave_of(timing, p.work, p.together, multiprocessors_, p.first_wave).ns;
    const double now = wave_of(timing, p.work, together, multiprocessors_, p.first_wave).ns;
    p.together = together;
    if (before > 0) result.push_back({id, now / before});
  }
  return result;
}

}  // namespace sb::engine
