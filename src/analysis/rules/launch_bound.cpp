// Kernels that are over sooner than the next one can be launched.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/repeats.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

struct sums {
  std::size_t operations = 0, kernels = 0, graphs = 0, streams = 0;
  std::size_t length = 0, times = 0;  // of the one that has most
  nanoseconds ran = 0, launching = 0;
};

// What a sequence takes, all its times together. Of several streams, which run side by side, the
// one with the most to do.
sums sums_of(const evidence& e, const repeated_sequence& r) {
  sums s;
  s.length = r.times[0].size();
  s.times = r.times.size();
  s.graphs = 1;
  std::map<number, nanoseconds> ran;
  for (const std::vector<std::size_t>& time : r.times) {
    for (const std::size_t i : time) {
      const step& call = e.p.threads[r.thread][i];
      const number operation = call.issues[0].operation;
      const task& work = e.p.tasks[operation];
      ++s.operations;
      s.kernels += e.t.operations[operation].kind == trace::operation_kind::copy ? 0 : 1;
      s.launching += call.own();
      s.ran = std::max(s.ran, ran[work.stream] += work.duration);
    }
  }
  s.streams = ran.size();
  return s;
}

graph_costs costs_of(const evidence& e, const repeated_sequence& r) {
  graph_shape shape;
  std::map<number, std::uint32_t> last;  // by stream
  for (const std::size_t i : r.times[0])
    for (const issue& k : e.p.threads[r.thread][i].issues) {
      const task& work = e.p.tasks[k.operation];
      const auto [before, first] = last.try_emplace(work.stream, 0);
      const std::uint32_t after = before->second;
      before->second = static_cast<std::uint32_t>(shape.size());
      shape.add(work.what.kind, work.what.bytes, {&after, first ? 0u : 1u});
    }
  return graph_costs_of(e.t, shape);
}

// Capturing takes the calls once, and making the graph executable comes on top.
bool pays(const sums& s, const graph_costs& costs) {
  const nanoseconds calls =
      std::min(s.launching / s.times / s.length, costs.captured_call) * s.length;
  const nanoseconds with = calls + costs.instantiate + s.times * costs.launch;
  return s.ran < s.launching && with < s.launching;
}

// All sequences that are worth a graph, and what the run gains when they are launched as that.
struct as_graphs {
  std::vector<number> operations;
  sums all;
  nanoseconds gain = 0;
};

as_graphs launched_as_graphs(const evidence& e, sequence_streams streams) {
  program changed = e.p;
  as_graphs result;
  sums& all = result.all;
  for (const repeated_sequence& r : repeated_sequences(e.t, e.p, streams)) {
    const sums s = sums_of(e, r);
    const graph_costs costs = costs_of(e, r);
    if (!pays(s, costs)) continue;
    launch_as_graph(changed, r.thread, r.times, costs);
    for (const std::vector<std::size_t>& time : r.times) {
      for (const std::size_t i : time) {
        result.operations.push_back(e.p.threads[r.thread][i].issues[0].operation);
      }
    }
    if (s.operations > all.length * all.times) {
      all.length = s.length;
      all.times = s.times;
    }
    all.operations += s.operations;
    all.kernels += s.kernels;
    all.graphs += s.graphs;
    all.streams = std::max(all.streams, s.streams);
    all.ran += s.ran;
    all.launching += s.launching;
  }
  if (!result.operations.empty()) result.gain = e.gain(changed);
  return result;
}

std::string change_of(const sums& all) {
  return fmt::format(
      "Capture {} (cudaStreamBeginCapture, cudaGraphInstantiate), which is in the cost, or put the "
      "work of several kernels into one.{}",
      all.graphs == 1
          ? fmt::format("{} of them into a graph once and launch that {} times", all.length,
                        all.times)
          : fmt::format("each of the {} sequences that repeat into a graph once and launch that; "
                        "the most frequent has {} of them and comes {} times",
                        all.graphs, all.length, all.times),
      all.streams == 1 ? ""
                       : " One capture has all the streams when the others begin with a wait for "
                         "an event of the first, and the first waits for theirs at the end.");
}

}  // namespace

void find_launch_bound_kernels(const evidence& e, findings& out) {
  as_graphs found = launched_as_graphs(e, sequence_streams::one);
  as_graphs together = launched_as_graphs(e, sequence_streams::several);
  if (together.gain > found.gain) found = std::move(together);
  if (found.operations.empty() || !e.worth(found.gain)) return;

  const sums& all = found.all;
  std::sort(found.operations.begin(), found.operations.end());
  finding f;
  f.rule = "launch-bound-kernels";
  f.title = fmt::format("{} short {}: launching them takes longer than running them",
                        all.operations, all.kernels == all.operations ? "kernels" : "operations");
  f.why = fmt::format(
      "They ran for {}{}; the calls that launched them took {}. The device waits for "
      "the host.",
      text_of_time(all.ran), all.streams == 1 ? "" : " in the stream that has most of them",
      text_of_time(all.launching));
  f.change = change_of(all);
  f.cost = found.gain;
  add_operations(e.t, f, found.operations);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
