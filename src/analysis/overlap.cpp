#include "analysis/overlap.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/program.hpp"

namespace sb::analysis {

namespace {

bool ran(const trace::operation& o) {
  return o.engine != trace::engine_kind::none && o.started != never && o.ended != never &&
         o.ended > o.started;
}

struct change {
  nanoseconds time;
  std::size_t engine;
  int by;
};

// Goes through the starts and ends in their order and adds each stretch to who was busy in it.
void measure(std::vector<change> changes, overlap_facts& facts) {
  std::sort(changes.begin(), changes.end(), [](const change& a, const change& b) {
    return std::pair(a.time, a.by) < std::pair(b.time, b.by);
  });
  std::vector<int> running(facts.engines.size(), 0);
  std::map<std::pair<std::size_t, std::size_t>, nanoseconds> together;
  nanoseconds last = 0;
  for (const change& c : changes) {
    if (c.time > last) {
      std::vector<std::size_t> busy;
      for (std::size_t i = 0; i < running.size(); ++i) {
        if (running[i] > 0) busy.push_back(i);
      }
      const nanoseconds stretch = c.time - last;
      facts.busy += busy.empty() ? 0 : stretch;
      for (const std::size_t i : busy) {
        engine_use& e = facts.engines[i];
        e.busy += stretch;
        (busy.size() == 1 ? e.alone : e.together) += stretch;
        for (const std::size_t j : busy) {
          if (i < j) together[{i, j}] += stretch;
        }
      }
    }
    last = c.time;
    running[c.engine] += c.by;
  }
  for (const auto& [pair, time] : together) {
    facts.pairs.push_back({pair.first, pair.second, time});
  }
}

// What kernels ask of a device, each of them alone: how long they fill it by the room that their
// blocks take, by its pipes and by its memory. No order of them takes less than the greatest.
struct kernel_load {
  double room = 0, pipes = 0, memory = 0;

  void add(const trace::trace& t, number operation, nanoseconds alone) {
    constexpr double million = 1e6;
    const trace::operation& o = t.operations[operation];
    room += static_cast<double>(alone) * share_of_device(t, operation);
    if (o.needs.alone == 0 || o.device >= t.devices.size()) return;
    const double blocks = static_cast<double>(o.grid[0]) * o.grid[1] * o.grid[2];
    const double work = blocks * static_cast<double>(o.needs.alone) / million;
    pipes += work * o.needs.arithmetic / std::max(1U, t.devices[o.device].multiprocessors);
    memory += work * o.needs.memory;
  }
  [[nodiscard]] nanoseconds least() const {
    return static_cast<nanoseconds>(std::max({room, pipes, memory}));
  }
};

// How long an operation takes when nothing shares the device with it.
nanoseconds length_alone(const trace::trace& t, const trace::operation& o, nanoseconds beginning) {
  if (o.started == never || o.ended == never || o.ended <= o.started) return 0;
  if (o.kind != trace::operation_kind::kernel) return o.ended - o.started;
  return alone_of(o, waves_of(t, o), beginning);
}

// The longest way through what orders operations: their streams, events, graph edges and the rules
// of the default stream. Engines, queues, room and the host are left out, and that a launch waits
// for the others of its executable graph: a graph can be made executable twice.
nanoseconds longest_chain(const trace::trace& t, nanoseconds beginning) {
  std::vector<nanoseconds> end(t.operations.size(), 0);
  std::vector<nanoseconds> stream_end(t.streams.size(), 0);
  struct meeting {
    nanoseconds blocking = 0, legacy = 0;
  };
  std::map<number, meeting> devices;
  nanoseconds longest = 0;
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    if (o.stream >= t.streams.size()) continue;
    const trace::stream& s = t.streams[o.stream];
    meeting& m = devices[s.device];
    nanoseconds begin = 0;
    if (!o.in_graph) {
      begin = stream_end[o.stream];
      if (s.kind == stream_kind::legacy) begin = std::max(begin, m.blocking);
      if (s.kind == stream_kind::blocking) begin = std::max(begin, m.legacy);
    }
    if (o.record < i) begin = std::max(begin, end[o.record]);
    for (const number other : o.after) {
      if (other < i && o.kind != trace::operation_kind::graph_begin)
        begin = std::max(begin, end[other]);
    }
    end[i] = begin + length_alone(t, o, beginning);
    if (!o.in_graph) {
      stream_end[o.stream] = end[i];
      if (s.kind == stream_kind::legacy) m.legacy = std::max(m.legacy, end[i]);
      if (s.kind == stream_kind::blocking) m.blocking = std::max(m.blocking, end[i]);
    }
    longest = std::max(longest, end[i]);
  }
  return longest;
}

}  // namespace

nanoseconds overlap_facts::possible() const {
  return engines.empty() ? 0 : std::max(engines[busiest].least, longest_chain);
}

double overlap_facts::achieved() const {
  const nanoseconds best = possible();
  // Rounding is no overlap that was lost.
  constexpr nanoseconds hundredth = 100;
  if (serial <= best + serial / hundredth) return 1;
  const nanoseconds saved = serial > busy ? serial - busy : 0;
  return std::min(1.0, static_cast<double>(saved) / static_cast<double>(serial - best));
}

overlap_facts overlap_of(const trace::trace& t) {
  overlap_facts facts;
  std::map<std::pair<number, trace::engine_kind>, std::size_t> places;
  for (const trace::operation& o : t.operations) {
    if (ran(o)) places.emplace(std::pair(o.device, o.engine), 0);
  }
  for (auto& [key, place] : places) {
    place = facts.engines.size();
    engine_use e;
    e.device = key.first;
    e.engine = key.second;
    facts.engines.push_back(e);
  }
  facts.begin = never;
  const nanoseconds beginning = beginning_of_kernels(t);
  std::vector<kernel_load> loads(facts.engines.size());
  std::vector<change> changes;
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    if (!ran(o)) continue;
    const std::size_t place = places[{o.device, o.engine}];
    changes.push_back({o.started, place, 1});
    changes.push_back({o.ended, place, -1});
    engine_use& engine = facts.engines[place];
    const nanoseconds length = o.ended - o.started;
    engine.work += length;
    if (o.kind == trace::operation_kind::kernel)
      loads[place].add(t, i, length_alone(t, o, beginning));
    else
      engine.least += length;
    ++engine.operations;
    if (o.kind == trace::operation_kind::copy && o.direction == copy_direction::peer)
      ++engine.between_devices;
    facts.begin = std::min(facts.begin, o.started);
    facts.end = std::max(facts.end, o.ended);
  }
  if (facts.begin == never) facts.begin = 0;
  measure(std::move(changes), facts);
  for (std::size_t i = 0; i < facts.engines.size(); ++i) {
    // What it did in this time it can do in this time.
    facts.engines[i].least =
        std::min(facts.engines[i].least + loads[i].least(), facts.engines[i].busy);
    facts.serial += facts.engines[i].work;
    if (facts.engines[i].least > facts.engines[facts.busiest].least) facts.busiest = i;
  }
  facts.longest_chain = std::min(longest_chain(t, beginning), facts.busy);
  return facts;
}

}  // namespace sb::analysis
