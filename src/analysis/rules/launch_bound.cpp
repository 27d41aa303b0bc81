// Kernels that are over sooner than the next one can be launched.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/repeats.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

struct sums {
  std::size_t operations = 0, kernels = 0, graphs = 0;
  std::size_t length = 0, times = 0;  // of the one that has most
  nanoseconds ran = 0, launching = 0;
};

// What a sequence takes, all its times together.
sums sums_of(const evidence& e, const repeated_sequence& r) {
  sums s;
  s.length = r.times[0].size();
  s.times = r.times.size();
  s.graphs = 1;
  for (const std::vector<std::size_t>& time : r.times) {
    for (const std::size_t i : time) {
      const step& call = e.p.threads[r.thread][i];
      const number operation = call.issues[0].operation;
      ++s.operations;
      s.kernels += e.t.operations[operation].kind == trace::operation_kind::copy ? 0 : 1;
      s.ran += e.p.tasks[operation].duration;
      s.launching += call.own();
    }
  }
  return s;
}

// Capturing takes the calls once, and making the graph executable comes on top.
bool pays(const sums& s, const graph_costs& costs) {
  const nanoseconds with = s.launching / s.times + costs.instantiate + s.times * costs.launch;
  return s.ran < s.launching && with < s.launching;
}

std::string change_of(const sums& all) {
  return fmt::format(
      "Capture {} (cudaStreamBeginCapture, cudaGraphInstantiate), which is in the cost, or put the "
      "work of several kernels into one.",
      all.graphs == 1
          ? fmt::format("{} of them into a graph once and launch that {} times", all.length,
                        all.times)
          : fmt::format("each of the {} sequences that repeat into a graph once and launch that; "
                        "the most frequent has {} of them and comes {} times",
                        all.graphs, all.length, all.times));
}

}  // namespace

void find_launch_bound_kernels(const evidence& e, findings& out) {
  const graph_costs costs = graph_costs_of(e.t);
  program changed = e.p;
  std::vector<number> operations;
  sums all;
  for (const repeated_sequence& r : repeated_sequences(e.t, e.p)) {
    const sums s = sums_of(e, r);
    if (!pays(s, costs)) continue;
    launch_as_graph(changed, r.thread, r.times, costs);
    for (const std::vector<std::size_t>& time : r.times) {
      for (const std::size_t i : time) {
        operations.push_back(e.p.threads[r.thread][i].issues[0].operation);
      }
    }
    if (s.operations > all.length * all.times) {
      all.length = s.length;
      all.times = s.times;
    }
    all.operations += s.operations;
    all.kernels += s.kernels;
    all.graphs += s.graphs;
    all.ran += s.ran;
    all.launching += s.launching;
  }
  if (operations.empty()) return;
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  std::sort(operations.begin(), operations.end());
  finding f;
  f.rule = "launch-bound-kernels";
  f.title = fmt::format("{} short {}: launching them takes longer than running them",
                        all.operations, all.kernels == all.operations ? "kernels" : "operations");
  f.why = fmt::format(
      "They ran for {}; the calls that launched them took {}. The device waits for "
      "the host.",
      text_of_time(all.ran), text_of_time(all.launching));
  f.change = change_of(all);
  f.cost = cost;
  add_operations(e.t, f, operations);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
