#include "analysis/transfers.hpp"

#include <algorithm>

#include "model/profile.hpp"

namespace sb::analysis {

void device_link::begin(number copy, copy_direction direction, nanoseconds from,
                        nanoseconds alone) {
  directions_[direction == copy_direction::host_to_device ? 0 : 1] = {
      .copy = copy, .left = static_cast<double>(alone), .since = from, .rate = 0};
}

void device_link::end(number copy) {
  for (transfer& t : directions_)
    if (t.copy == copy) t.copy = none;
}

std::vector<device_link::moved> device_link::update(nanoseconds now) {
  std::vector<moved> result;
  const bool both = directions_[0].copy != none && directions_[1].copy != none;
  for (transfer& t : directions_) {
    if (t.copy == none) continue;
    if (now > t.since) {
      t.left -= static_cast<double>(now - t.since) * t.rate;
      t.since = now;
    }
    const double rate = both ? both_ : 1;
    if (rate == t.rate) continue;
    t.rate = rate;
    result.push_back({t.copy, t.since + rounded_ns(std::max(0.0, t.left) / rate)});
  }
  return result;
}

namespace {

bool is_transfer(const trace::operation& o) {
  const bool between = o.direction == copy_direction::host_to_device ||
                       o.direction == copy_direction::device_to_host;
  // Copies of pageable memory are as slow as the host's own part of them.
  return o.kind == trace::operation_kind::copy && between && o.ended != never &&
         o.ended > o.started && o.host_memory != trace::memory_kind::pageable;
}

// How long each of `these` was beside one of `others`; both in the order of their starts, and each
// one after another. A copy is in the way of the other direction from when it may start.
template <typename Add>
void beside(const trace::trace& t, const program& p, const std::vector<number>& these,
            const std::vector<number>& others, Add add) {
  std::size_t first = 0;
  for (const number i : these) {
    const trace::operation& o = t.operations[i];
    while (first < others.size() && t.operations[others[first]].ended <= o.started) ++first;
    for (std::size_t k = first; k < others.size(); ++k) {
      const trace::operation& other = t.operations[others[k]];
      const nanoseconds from =
          std::max(o.started, other.started - std::min(other.started, p.tasks[others[k]].lag));
      if (from >= o.ended) break;
      add(i, std::min(o.ended, other.ended) - from);
    }
  }
}

}  // namespace

void time_transfers(const trace::trace& recorded, program& p) {
  if (recorded.head.clock != trace::clock_kind::modelled) return;
  const profile* known = find_profile(recorded.head.profile);
  if (known == nullptr) return;
  p.both_directions = known->timing.both_directions;
  std::vector<std::array<std::vector<number>, 2>> copies(p.machine.devices.size());
  for (number i = 0; i < p.tasks.size(); ++i) {
    const trace::operation& o = recorded.operations[i];
    if (!is_transfer(o) || o.stream >= p.streams.size()) continue;
    p.tasks[i].on_link = true;
    copies[p.streams[o.stream].device][o.direction == copy_direction::host_to_device ? 0 : 1]
        .push_back(i);
  }
  const auto shorten = [&](number i, nanoseconds slowed) {
    nanoseconds& left = p.tasks[i].duration;
    left -= std::min(left, rounded_ns(static_cast<double>(slowed) * (1 - p.both_directions)));
  };
  for (std::array<std::vector<number>, 2>& both : copies) {
    for (std::vector<number>& direction : both)
      std::sort(direction.begin(), direction.end(), [&](number a, number b) {
        return std::pair(recorded.operations[a].started, a) <
               std::pair(recorded.operations[b].started, b);
      });
    beside(recorded, p, both[0], both[1], shorten);
    beside(recorded, p, both[1], both[0], shorten);
  }
}

}  // namespace sb::analysis
