#include "analysis/rates.hpp"

#include <algorithm>

#include "model/profile.hpp"

namespace sb::analysis {

namespace {

// Recorded on an H200: 4 B and 32 MiB of pinned memory in either direction.
constexpr double default_latency = 2500, default_bytes_per_ns = 55.5;
constexpr nanoseconds default_call = 2290;

}  // namespace

const timing_profile& timing_or_h200(const trace::trace& t) {
  const profile* known = find_profile(t.head.profile);
  return known == nullptr ? h200_timing() : known->timing;
}

nanoseconds pinned_copy_time(const trace::trace& t, const trace::operation& copy) {
  const copy_direction direction = copy.direction;
  const std::uint64_t bytes = copy.bytes;
  if (copy.device < t.devices.size()) {
    const trace::device& d = t.devices[copy.device];
    const trace::copy_rate& known =
        direction == copy_direction::device_to_host ? d.to_host : d.to_device;
    if (known.bytes_per_us != 0)
      return known.latency_ns +
             static_cast<nanoseconds>(static_cast<double>(bytes) * 1000 / known.bytes_per_us);
  }
  // The copy whose size is nearest: the same latency, and the rest in proportion.
  const trace::operation* nearest = nullptr;
  const auto apart = [&](const trace::operation& o) {
    return o.bytes > bytes ? o.bytes - bytes : bytes - o.bytes;
  };
  for (const trace::operation& o : t.operations) {
    const bool fits = o.kind == trace::operation_kind::copy && o.direction == direction &&
                      o.host_memory == trace::memory_kind::pinned && o.ended != never &&
                      o.ended > o.started && o.bytes > 0;
    if (fits && (nearest == nullptr || apart(o) < apart(*nearest))) nearest = &o;
  }
  double rate = default_bytes_per_ns, latency = default_latency;
  if (nearest != nullptr) {
    const auto length = static_cast<double>(nearest->ended - nearest->started);
    latency = std::min(latency, length / 2);
    rate = static_cast<double>(nearest->bytes) / (length - latency);
  }
  return static_cast<nanoseconds>(latency + static_cast<double>(bytes) / rate);
}

nanoseconds async_copy_call_time(const trace::trace& t) {
  nanoseconds least = never;
  for (const trace::operation& o : t.operations) {
    if (o.kind == trace::operation_kind::copy && o.call < t.calls.size() &&
        o.host_memory == trace::memory_kind::pinned && t.calls[o.call].blocked == 0) {
      least = std::min(least, t.calls[o.call].end - t.calls[o.call].begin);
    }
  }
  return least == never ? default_call : least;
}

}  // namespace sb::analysis
