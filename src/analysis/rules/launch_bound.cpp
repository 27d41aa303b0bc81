// Kernels that are over sooner than the next one can be launched.
#include <fmt/format.h>

#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

constexpr std::size_t shortest_run = 4;  // launches that are worth a graph

// Launches that follow each other in one stream, with nothing in between that waits.
bool continues(const evidence& e, const step& s, number stream) {
  if (s.issues.size() != 1 || s.first.scope != wait_scope::nothing ||
      s.last.scope != wait_scope::nothing) {
    return false;
  }
  const trace::operation& o = e.t.operations[s.issues[0].operation];
  return (o.kind == trace::operation_kind::kernel || o.kind == trace::operation_kind::fill) &&
         !o.in_graph && (stream == none || o.stream == stream);
}

}  // namespace

void find_launch_bound_kernels(const evidence& e, findings& out) {
  program changed = e.p;
  std::vector<number> kernels;
  nanoseconds ran = 0, launching = 0;
  for (number thread = 0; thread < e.p.threads.size(); ++thread) {
    const std::vector<step>& steps = e.p.threads[thread];
    for (std::size_t i = 0; i < steps.size();) {
      std::vector<std::size_t> run;
      nanoseconds run_time = 0, run_calls = 0;
      number stream = none;
      for (; i < steps.size() && continues(e, steps[i], stream); ++i) {
        const number operation = steps[i].issues[0].operation;
        stream = e.t.operations[operation].stream;
        run.push_back(i);
        run_time += e.p.tasks[operation].duration;
        run_calls += steps[i].own();
      }
      if (run.size() >= shortest_run && run_time < run_calls) {
        launch_as_graph(changed, thread, run);
        for (const std::size_t k : run) kernels.push_back(steps[k].issues[0].operation);
        ran += run_time;
        launching += run_calls;
      }
      if (run.empty()) ++i;
    }
  }
  if (kernels.empty()) return;
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "launch-bound-kernels";
  f.title = fmt::format("{} short kernels: launching them takes longer than running them",
                        kernels.size());
  f.why = fmt::format(
      "They ran for {}; the calls that launched them took {}. The device waits for "
      "the host.",
      text_of_time(ran), text_of_time(launching));
  f.change =
      "Capture the sequence into a graph (cudaStreamBeginCapture, cudaGraphInstantiate) once and "
      "launch that, or put the work of several kernels into one.";
  f.cost = cost;
  add_operations(e.t, f, kernels);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
