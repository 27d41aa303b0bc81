// An executable graph never runs beside itself: launched in several streams, its launches take
// turns.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

// The launches of an executable graph, as far as one was pending when the next one came.
struct shared_graph {
  std::vector<number> launches;  // their beginnings, in order
  std::set<number> streams;
};

// A launch names the end of the one before it, of which the trace has the number of the launch.
std::vector<shared_graph> graphs_in_several_streams(const trace::trace& t) {
  std::map<number, std::size_t> graph_of;  // by number of a launch
  std::vector<shared_graph> graphs;
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    if (o.kind != trace::operation_kind::graph_begin || o.stream >= t.streams.size()) continue;
    std::size_t mine = graphs.size();
    for (const number before : o.after) {
      const bool is_end =
          before < i && t.operations[before].kind == trace::operation_kind::graph_end;
      if (!is_end) continue;
      if (const auto known = graph_of.find(t.operations[before].graph); known != graph_of.end())
        mine = known->second;
    }
    if (mine == graphs.size()) graphs.emplace_back();
    graph_of[o.graph] = mine;
    graphs[mine].launches.push_back(i);
    graphs[mine].streams.insert(o.stream);
  }
  std::erase_if(graphs, [](const shared_graph& g) { return g.streams.size() < 2; });
  return graphs;
}

// Each stream has an executable graph of its own, which is made in front of the first launch.
void make_for_each_stream(const evidence& e, program& p, const shared_graph& g,
                          const std::vector<step_place>& places) {
  for (const number launch : g.launches) {
    std::vector<number>& after = p.tasks[launch].after;
    std::erase_if(after, [&](number before) {
      return before < launch && e.t.operations[before].kind == trace::operation_kind::graph_end &&
             e.t.operations[before].stream != e.t.operations[launch].stream;
    });
  }
  const step_place first = places[g.launches.front()];
  if (first.thread == none) return;
  step& launch = p.threads[first.thread][first.index];
  launch.gap += (g.streams.size() - 1) * costs_of_launched(e, launch).instantiate;
}

}  // namespace

void find_graphs_beside_themselves(const evidence& e, findings& out) {
  std::vector<held_operation> held = held_by(e.t, trace::wait_cause::graph_edge);
  std::erase_if(held, [&](const held_operation& h) {
    return e.t.operations[h.operation].kind != trace::operation_kind::graph_begin;
  });
  if (held.empty()) return;
  const std::vector<shared_graph> graphs = graphs_in_several_streams(e.t);
  if (graphs.empty()) return;
  program changed = e.p;
  const std::vector<step_place> places = issuers(changed);
  std::size_t streams = 0;
  for (const shared_graph& g : graphs) {
    make_for_each_stream(e, changed, g, places);
    streams = std::max(streams, g.streams.size());
  }
  // Behind that: the edges between launches are no order that the data needs.
  const assumes_parts parts = keep_data_order(e.t, changed, e.parts());

  finding f;
  f.rule = "graph-waits-for-itself";
  f.cost = e.gain(changed);
  if (!e.worth(f.cost)) return;
  f.title =
      fmt::format("{} launch{} of an executable graph waited for its launches in other streams",
                  held.size(), held.size() == 1 ? "" : "es");
  f.why =
      "An executable graph never runs beside itself: a launch begins when the one before it is "
      "done, in whichever stream that is.";
  f.change = fmt::format(
      "Make the graph executable once for each of the {} streams that launch it, with "
      "cudaGraphInstantiate, and launch in each stream its own. What that takes is counted.",
      streams);
  add_operations(e.t, f, operations_of(held));
  describe(e.t, f, held);
  add_assumption(f, parts);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
