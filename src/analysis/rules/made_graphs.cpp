// Graphs that are made executable again and again.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "analysis/rules/rules.hpp"
#include "analysis/rules/timed_calls.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

graph_costs costs_of_launched(const evidence& e, const step& launch) {
  graph_shape shape;
  for (const issue& k : launch.issues) {
    const command& what = e.p.tasks[k.operation].what;
    const auto place = static_cast<std::uint32_t>(shape.size());
    const std::uint32_t before = place - std::min(place, 1u);
    shape.add(what.kind, what.bytes, {&before, std::min(place, 1u)});
  }
  return graph_costs_of(e.t, shape);
}

namespace {

// What a launch did: the nodes with their edges, which an update of an executable graph cannot
// change, and in full, as far as a trace tells.
struct launched_graph {
  std::string nodes, full;

  friend bool operator==(const launched_graph&, const launched_graph&) = default;
};

launched_graph graph_of(const trace::trace& t, const step& launch) {
  launched_graph g;
  for (const issue& k : launch.issues) {
    const trace::operation& o = t.operations[k.operation];
    g.nodes += fmt::format("{} {} {}", static_cast<int>(o.kind), o.name, o.stream);
    for (const number before : o.after) g.nodes += fmt::format(" {}", k.operation - before);
    g.nodes += ';';
    g.full += fmt::format("{} {} {} {} {}", fmt::join(o.grid, "x"), fmt::join(o.block, "x"),
                          o.shared_bytes, static_cast<int>(o.direction), o.bytes);
    for (const trace::byte_range& r : o.ranges)
      g.full += fmt::format(" {}:{}:{}", r.allocation, r.offset, r.bytes);
    g.full += ';';
  }
  return g;
}

// The graphs that are launched from a call up to another one: each once in a row.
std::vector<launched_graph> launched_between(const trace::trace& t, const std::vector<step>& steps,
                                             std::size_t begin, std::size_t end) {
  std::vector<launched_graph> graphs;
  for (std::size_t i = begin; i < end; ++i) {
    if (steps[i].call == none || steps[i].issues.empty() ||
        !t.calls[steps[i].call].name.starts_with("cudaGraphLaunch")) {
      continue;
    }
    launched_graph g = graph_of(t, steps[i]);
    if (graphs.empty() || graphs.back() != g) graphs.push_back(std::move(g));
  }
  return graphs;
}

bool same_nodes(const std::vector<launched_graph>& a, const std::vector<launched_graph>& b) {
  return !a.empty() && std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                  [](const launched_graph& x, const launched_graph& y) {
                                    return x.nodes == y.nodes;
                                  });
}

// Graphs with the same nodes and something else in them, in one turn: executable graphs that are
// kept beside each other, as for several sizes of the data.
bool has_kinds(const std::vector<launched_graph>& turn) {
  for (const launched_graph& a : turn)
    for (const launched_graph& b : turn)
      if (a.nodes == b.nodes && a.full != b.full) return true;
  return false;
}

bool makes_graph(std::string_view call) {
  if (call.starts_with("cudaStreamBeginCapture") || call.starts_with("cudaStreamEndCapture"))
    return true;
  if (!call.starts_with("cudaGraph") || call.starts_with("cudaGraphExec")) return false;
  return call.starts_with("cudaGraphAdd") || call.starts_with("cudaGraphCreate") ||
         call.starts_with("cudaGraphClone") || call.starts_with("cudaGraphDestroy") ||
         call.find("Set") != std::string_view::npos ||
         call.find("Remove") != std::string_view::npos;
}

// The turns of a loop that make the same graph executable as the turn before.
struct loop_of_graphs {
  std::vector<std::size_t> again;  // steps
  bool made_anew = false;          // the graph itself, too
  bool the_same = true;            // it is, as far as a trace tells
  std::size_t thrown_away = 0;     // executable graphs, by the end of the loop
};

loop_of_graphs loop_of(const evidence& e, const repeated_call& r) {
  constexpr std::size_t most = 1000;  // turns that are looked at
  const std::vector<step>& steps = e.p.threads[r.thread];
  loop_of_graphs loop;
  std::vector<launched_graph> before;
  for (std::size_t i = 0; i < std::min(most, r.steps.size()); ++i) {
    const std::size_t end = i + 1 < r.steps.size() ? r.steps[i + 1] : steps.size();
    std::vector<launched_graph> turn = launched_between(e.t, steps, r.steps[i], end);
    if (has_kinds(turn)) return {};
    if (i > 0 && same_nodes(before, turn)) {
      loop.again.push_back(r.steps[i]);
      loop.the_same &= before == turn;
    }
    before = std::move(turn);
  }
  if (loop.again.empty()) return loop;
  const nanoseconds begin = e.t.calls[steps[r.steps.front()].call].begin;
  const nanoseconds end = e.t.calls[steps[loop.again.back()].call].begin;
  loop.made_anew = std::any_of(e.t.calls.begin(), e.t.calls.end(), [&](const trace::call& c) {
    return c.begin > begin && c.begin < end && makes_graph(c.name) &&
           !c.name.starts_with("cudaGraphDestroy");
  });
  for (std::size_t i = r.steps.front(); i < loop.again.back(); ++i) {
    if (steps[i].call != none && e.t.calls[steps[i].call].name.starts_with("cudaGraphExecDestroy"))
      ++loop.thrown_away;
  }
  return loop;
}

// The step from `begin` on that makes a call of this name, or `end`.
std::size_t next_call(const trace::trace& t, const std::vector<step>& steps, std::size_t begin,
                      std::size_t end, std::string_view name) {
  for (; begin < end; ++begin)
    if (steps[begin].call != none && t.calls[steps[begin].call].name.starts_with(name)) break;
  return begin;
}

// Of the graphs in a loop, which have the same nodes: as the first of them is launched.
graph_costs costs_of(const evidence& e, const repeated_call& r, const loop_of_graphs& loop) {
  const std::vector<step>& steps = e.p.threads[r.thread];
  const std::size_t launch =
      next_call(e.t, steps, loop.again.front(), steps.size(), "cudaGraphLaunch");
  return costs_of_launched(e, launch < steps.size() ? steps[launch] : step{});
}

// The call takes so much less before it gives the device its work.
void shorten(step& s, nanoseconds by) {
  for (const issue& k : s.issues) by = std::min(by, k.offset);
  by = std::min(by, s.between);
  for (issue& k : s.issues) k.offset -= by;
  s.between -= by;
}

// The first one is launched in all turns, and only once for the first time. With updates it takes
// in the graph of each turn; without, the graph is not made again either.
enum class updates : bool { no, yes };
void make_once(const evidence& e, program& p, const repeated_call& r, const loop_of_graphs& loop,
               const graph_costs& costs, updates how) {
  std::vector<step>& steps = p.threads[r.thread];
  const bool update = how == updates::yes;
  for (const std::size_t i : loop.again) {
    take_out(steps[i]);
    if (update) steps[i].before = costs.update;
    const std::size_t launch = next_call(e.t, steps, i, steps.size(), "cudaGraphLaunch");
    const std::size_t upload = next_call(e.t, steps, i, launch, "cudaGraphUpload");
    if (upload < steps.size()) shorten(steps[upload], costs.first_launch);
  }
  bool captures = false;
  for (std::size_t i = r.steps.front() + 1; i < loop.again.back(); ++i) {
    if (steps[i].call == none) continue;
    const std::string& name = e.t.calls[steps[i].call].name;
    const bool makes = makes_graph(name) || captures;
    if (name.starts_with("cudaStreamBeginCapture")) captures = true;
    if (name.starts_with("cudaStreamEndCapture")) captures = false;
    if (name.starts_with("cudaGraphExecDestroy") || (makes && !update && steps[i].issues.empty()))
      take_out(steps[i]);
  }
}

}  // namespace

void find_graphs_made_in_loops(const evidence& e, findings& out) {
  for (const repeated_call& r : e.repeated_calls()) {
    if (!r.name.starts_with("cudaGraphInstantiate") || measures_call(e, r)) continue;
    const loop_of_graphs loop = loop_of(e, r);
    if (loop.again.size() < 3 || (!loop.made_anew && !loop.the_same)) continue;
    // Those that differ and stay are there for later, as one for each size of the data.
    if (!loop.the_same && loop.thrown_away < loop.again.size()) continue;
    const graph_costs costs = costs_of(e, r, loop);
    const auto gain_with = [&](updates how) {
      program changed = e.p;
      make_once(e, changed, r, loop, costs, how);
      return e.gain(changed);
    };
    finding f;
    f.rule = "graph-made-in-loop";
    f.title = fmt::format("{} in a loop", r.name);
    f.cost = gain_with(loop.made_anew ? updates::yes : updates::no);
    if (!e.worth(f.cost)) continue;
    f.why = fmt::format(
        "{} turns make a graph executable that has the same nodes as the one of the turn before. "
        "That takes the host far longer than launching it.",
        loop.again.size());
    if (loop.made_anew) {
      f.change =
          "Instantiate once, and give the graphs of the other turns to that executable graph with "
          "cudaGraphExecUpdate (that is the cost).";
      if (loop.the_same) {
        f.change +=
            " The nodes have the same shapes and pointers each time: where the other arguments are "
            "the same too, the graph need not be made again.";
        if (const nanoseconds more = gain_with(updates::no);
            more > f.cost && e.worth(more - f.cost))
          f.change += fmt::format(" The run would then be {} shorter.", text_of_time(more));
      }
    } else {
      f.change =
          "Instantiate once, before the loop, and launch that executable graph in every turn.";
    }
    std::vector<number> calls;
    nanoseconds sum = 0;
    for (const std::size_t i : loop.again) {
      calls.push_back(e.p.threads[r.thread][i].call);
      sum += e.t.calls[calls.back()].end - e.t.calls[calls.back()].begin;
    }
    add_calls(e.t, f, calls);
    f.evidence.push_back(fmt::format("{} calls, {} in all", calls.size(), text_of_time(sum)));
    out.push_back(std::move(f));
  }
}

}  // namespace sb::analysis
