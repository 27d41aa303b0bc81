// Streams and the hardware queues they share.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/call_rules.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"
#include "model/profile.hpp"
#include "model/stream_rules.hpp"

namespace sb::analysis {

namespace {

// More connections there are not, whatever one sets.
std::uint32_t most_connections_of(const trace::trace& t) {
  const profile* p = find_profile(t.head.profile);
  return p == nullptr
             ? most_connections
             : std::min(most_connections, static_cast<std::uint32_t>(p->device.hardware_queues));
}

}  // namespace

void find_few_queues(const evidence& e, findings& out) {
  const std::uint32_t most = most_connections_of(e.t);
  if (e.t.head.connections >= most) return;
  const std::vector<held_operation> held = held_by(e.t, trace::wait_cause::queue_head);
  if (held.empty()) return;
  program changed = e.p;
  set_connections(changed, most);
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "few-hardware-queues";
  f.title = fmt::format("Streams share {} hardware connection{}", e.t.head.connections,
                        e.t.head.connections == 1 ? "" : "s");
  f.why =
      "A hardware queue is worked off in the order of issue: an operation that cannot start yet "
      "holds everything behind it, whatever its stream.";
  f.change = fmt::format(
      "Set CUDA_DEVICE_MAX_CONNECTIONS={} before the program starts (it was {}), or issue what can "
      "start at once before what has to wait.",
      most, e.t.head.connections);
  f.cost = cost;
  add_operations(e.t, f, operations_of(held));
  describe(e.t, f, held);
  out.push_back(std::move(f));
}

namespace {

// The most operations that ran at the same moment, and how many streams had any.
std::pair<std::uint32_t, std::uint32_t> concurrency(const trace::trace& t) {
  std::vector<std::pair<nanoseconds, int>> changes;
  std::vector<bool> used(t.streams.size(), false);
  for (const trace::operation& o : t.operations) {
    if (o.engine == trace::engine_kind::none || o.ended == never || o.stream >= used.size()) {
      continue;
    }
    if (t.streams[o.stream].kind != stream_kind::legacy) used[o.stream] = true;
    changes.emplace_back(o.started, 1);
    changes.emplace_back(o.ended, -1);
  }
  std::sort(changes.begin(), changes.end());
  int now = 0, most = 0;
  for (const auto& [time, by] : changes) most = std::max(most, now += by);
  return {static_cast<std::uint32_t>(most),
          static_cast<std::uint32_t>(std::count(used.begin(), used.end(), true))};
}

}  // namespace

namespace {

// The work in so many streams, in turn, created once.
struct fewer_streams {
  std::uint32_t streams = 0;
  nanoseconds gain = 0;
  std::vector<number> calls = {};  // that are not made then
};

fewer_streams with_streams(const evidence& e, std::uint32_t streams) {
  program changed = e.p;
  merge_streams(e.t, changed, streams);
  fewer_streams result{.streams = streams};
  std::map<std::string, std::uint32_t> kept;
  for (std::vector<step>& steps : changed.threads) {
    for (step& s : steps) {
      if (s.call == none) continue;
      const std::string& name = e.t.calls[s.call].name;
      const bool stream_call =
          name.starts_with("cudaStreamCreate") || name.starts_with("cudaStreamDestroy");
      if (stream_call && ++kept[name] > streams) {
        take_out(s);
        result.calls.push_back(s.call);
      }
    }
  }
  result.gain = e.gain(changed);
  return result;
}

// Fewer streams are made sooner, until their work no longer overlaps: the fewest that gain nearly
// as much as the best number does.
fewer_streams fewest_as_good(const evidence& e, std::uint32_t enough) {
  const auto nearly = [](nanoseconds gain, nanoseconds best) { return gain * 50 >= best * 49; };
  fewer_streams found = with_streams(e, enough);
  nanoseconds best = found.gain;
  for (std::uint32_t fewer = enough; fewer > 2;) {
    fewer -= std::max(1U, fewer / 4);
    fewer_streams next = with_streams(e, fewer);
    best = std::max(best, next.gain);
    if (!nearly(next.gain, best)) break;
    found = std::move(next);
  }
  return found;
}

}  // namespace

void find_many_streams(const evidence& e, findings& out) {
  const auto [most, streams] = concurrency(e.t);
  // Twice as many streams as ever run at once are ordinary: while one runs, the next is filled.
  const std::uint32_t enough = std::max(4U, 2 * most);
  if (streams <= enough) return;
  const fewer_streams fewer = fewest_as_good(e, enough);
  if (!e.worth(fewer.gain)) return;

  finding f;
  f.rule = "many-streams";
  f.title = fmt::format("{} streams, of which at most {} ever ran at the same time", streams, most);
  f.why =
      "Kernels, and the copies of each direction, take turns on the device's engines. More streams "
      "than these can use cost calls and memory and bring no overlap.";
  f.change =
      fmt::format("Use {} streams in turn, created once: the run is {} shorter with the same work.",
                  fewer.streams, text_of_time(fewer.gain));
  f.cost = fewer.gain;
  add_calls(e.t, f, fewer.calls);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
