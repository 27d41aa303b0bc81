// Kernels that are over sooner than the next one can be launched.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "analysis/captures.hpp"
#include "analysis/repeats.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

struct sums {
  std::size_t operations = 0, kernels = 0, graphs = 0, streams = 0;
  std::size_t length = 0, times = 0;  // of the one that has most
  std::size_t calls = 0;              // each time, with those that record events and wait
  nanoseconds ran = 0, launching = 0;
};

// What a sequence takes, all its times together. Of what can run side by side, the longest chain.
sums sums_of(const evidence& e, const repeated_sequence& r) {
  sums s;
  s.times = r.times.size();
  s.calls = r.times[0].size();
  s.graphs = 1;
  std::set<number> streams;
  for (const std::vector<std::size_t>& time : r.times) {
    for (const std::size_t i : time) s.launching += e.p.threads[r.thread][i].own();
    const std::vector<captured_node> nodes = captured_nodes(e.p, e.p.threads[r.thread], time);
    for (const captured_node& n : nodes) {
      const bool copies = e.t.operations[n.operation].kind == trace::operation_kind::copy;
      s.kernels += copies ? 0 : 1;
      streams.insert(e.p.tasks[n.operation].stream);
    }
    s.length = nodes.size();
    s.operations += nodes.size();
    s.ran += longest_chain(e.p, nodes);
  }
  s.streams = streams.size();
  return s;
}

graph_costs costs_of(const evidence& e, const repeated_sequence& r) {
  graph_shape shape;
  for (const captured_node& n : captured_nodes(e.p, e.p.threads[r.thread], r.times[0])) {
    const command& what = e.p.tasks[n.operation].what;
    shape.add(what.kind, what.bytes, n.after);
  }
  return graph_costs_of(e.t, shape);
}

// Capturing takes the calls once, and making the graph executable comes on top. What the first
// graph of the program takes longer is left to the replay: all of them share it.
bool pays(const sums& s, const graph_costs& costs) {
  const nanoseconds calls =
      std::min(s.launching / s.times / s.calls, costs.captured_call) * s.calls;
  const nanoseconds with = calls + costs.instantiate + s.times * costs.launch;
  return s.ran < s.launching && with < s.launching;
}

// All sequences that are worth a graph, and what the run gains when they are launched as that.
struct as_graphs {
  sequence_streams streams = sequence_streams::one;
  std::vector<number> operations;
  sums all;
  nanoseconds gain = 0;
};

struct paying_sequence {
  repeated_sequence calls;
  graph_costs costs;
  number first = none;  // of its operations
};

void add(sums& all, const sums& s) {
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

as_graphs launched_as_graphs(const evidence& e, sequence_streams streams) {
  as_graphs result{.streams = streams, .operations = {}, .all = {}};
  std::vector<paying_sequence> paying;
  for (repeated_sequence& r : repeated_sequences(e.t, e.p, streams)) {
    const sums s = sums_of(e, r);
    const graph_costs costs = costs_of(e, r);
    if (!pays(s, costs)) continue;
    add(result.all, s);
    const std::size_t before = result.operations.size();
    for (const std::vector<std::size_t>& time : r.times) {
      for (const captured_node& n : captured_nodes(e.p, e.p.threads[r.thread], time))
        result.operations.push_back(n.operation);
    }
    const number first = result.operations[before];
    paying.push_back({std::move(r), costs, first});
  }
  if (paying.empty()) return result;
  const auto begins = [](const auto& a, const auto& b) { return a.first < b.first; };
  const auto first = std::min_element(paying.begin(), paying.end(), begins);
  first->costs.instantiate += first->costs.first_graph;
  program changed = e.p;
  for (const paying_sequence& one : paying)
    launch_as_graph(changed, one.calls.thread, one.calls.times, one.costs);
  result.gain = e.gain(changed);
  return result;
}

// What gains most, or about that with fewer graphs, which are less to write.
as_graphs best_of(std::vector<as_graphs> ways) {
  nanoseconds most = 0;
  for (const as_graphs& one : ways) most = std::max(most, one.gain);
  std::erase_if(ways, [&](const as_graphs& one) {
    return one.operations.empty() || one.gain < most / 10 * 9;
  });
  if (ways.empty()) return {};
  return std::move(*std::min_element(ways.begin(), ways.end(), [](const auto& a, const auto& b) {
    return a.all.graphs != b.all.graphs ? a.all.graphs < b.all.graphs : a.gain > b.gain;
  }));
}

// How one capture comes to have several streams.
std::string_view words_of(sequence_streams streams) {
  return streams == sequence_streams::joined
             ? " One capture has all the streams: it follows their events (cudaEventRecord, "
               "cudaStreamWaitEvent) from the first stream to the others, and the first waits for "
               "theirs at the end. The host then waits for the stream of the launch alone."
             : " One capture has all the streams when the others begin with a wait for an event of "
               "the first, and the first waits for theirs at the end. The host then waits for the "
               "stream of the launch alone.";
}

std::string change_of(const as_graphs& found) {
  const sums& all = found.all;
  return fmt::format(
      "Capture {} (cudaStreamBeginCapture, cudaGraphInstantiate), which is in the cost, or put the "
      "work of several kernels into one. Numbers among arguments are not in a trace: where they "
      "change from time to time, set them before each launch (cudaGraphExecKernelNodeSetParams), "
      "or keep them on the device.{}",
      all.graphs == 1
          ? fmt::format("{} of them into a graph once and launch that {} times", all.length,
                        all.times)
          : fmt::format("each of the {} sequences that repeat into a graph once and launch that; "
                        "the most frequent has {} of them and comes {} times",
                        all.graphs, all.length, all.times),
      all.streams == 1 ? "" : words_of(found.streams));
}

}  // namespace

void find_launch_bound_kernels(const evidence& e, findings& out) {
  std::vector<as_graphs> ways;
  for (const sequence_streams each :
       {sequence_streams::one, sequence_streams::several, sequence_streams::joined})
    ways.push_back(launched_as_graphs(e, each));
  as_graphs found = best_of(std::move(ways));
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
      text_of_time(all.ran), all.streams == 1 ? "" : " in the longest chain of them",
      text_of_time(all.launching));
  f.change = change_of(found);
  f.cost = found.gain;
  add_operations(e.t, f, found.operations);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
