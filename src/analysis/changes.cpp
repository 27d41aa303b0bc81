#include "analysis/changes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/call_rules.hpp"
#include "analysis/captures.hpp"
#include "analysis/rates.hpp"
#include "model/profile.hpp"

namespace sb::analysis {

void take_out(step& s) {
  do_not_wait(s);
  s.before = s.between = s.after = s.brought = 0;
  for (issue& i : s.issues) i = {i.operation};
}

void do_not_wait(step& s) {
  s.first = s.last = {};
  s.after = 0;  // what a call does when its wait is over
}

void make_non_blocking(program& p) {
  for (program_stream& s : p.streams) {
    if (s.kind == stream_kind::blocking) s.kind = stream_kind::non_blocking;
  }
}

void load_before(program& p) {
  for (task& t : p.tasks) {
    t.loads = none;
    t.loading.clear();
  }
}

void set_connections(program& p, std::uint32_t connections) { p.machine.connections = connections; }

void merge_streams(const trace::trace& t, program& p, std::uint32_t streams) {
  using kind = std::tuple<number, stream_kind, std::int32_t>;
  std::vector<bool> used(p.streams.size(), false);
  for (const task& k : p.tasks) {
    if (k.stream < used.size()) used[k.stream] = true;
  }
  std::map<kind, std::vector<number>> kept;
  std::map<kind, std::size_t> seen;
  std::vector<number> instead(p.streams.size());
  for (number i = 0; i < p.streams.size(); ++i) {
    instead[i] = i;
    if (!used[i] || p.streams[i].kind == stream_kind::legacy) continue;
    const kind k{p.streams[i].device, p.streams[i].kind, t.streams[i].priority};
    std::vector<number>& of_kind = kept[k];
    if (of_kind.size() < streams) of_kind.push_back(i);
    instead[i] = of_kind[seen[k]++ % streams];
  }
  for (task& k : p.tasks) {
    if (k.stream >= instead.size()) continue;
    k.instead_of = k.stream;
    k.stream = instead[k.stream];
  }
  for (std::vector<step>& steps : p.threads) {
    for (step& s : steps) {
      for (host_wait* w : {&s.first, &s.last}) {
        if (w->scope == wait_scope::stream && w->target < instead.size()) {
          w->target = instead[w->target];
        }
      }
    }
  }
}

namespace {

// Calls that only give work to one stream can change places with those of other streams.
number only_stream(const program& p, const step& s) {
  if (s.issues.empty() || s.first.scope != wait_scope::nothing ||
      s.last.scope != wait_scope::nothing) {
    return none;
  }
  const number stream = p.tasks[s.issues[0].operation].stream;
  for (const issue& i : s.issues) {
    if (p.tasks[i.operation].stream != stream) return none;
  }
  return p.streams[stream].kind == stream_kind::legacy ? none : stream;
}

// Puts the calls [begin, end) of a thread into another order.
void reorder_part(program& p, std::vector<step>& steps, std::size_t begin, std::size_t end,
                  issue_order order) {
  std::vector<number> streams;  // in the order of their first call
  std::map<number, std::vector<std::size_t>> lines;
  std::map<number, std::size_t> record_at;  // records of this part: where they were
  for (std::size_t i = begin; i < end; ++i) {
    const number stream = only_stream(p, steps[i]);
    if (lines[stream].empty()) streams.push_back(stream);
    lines[stream].push_back(i);
    for (const issue& k : steps[i].issues) record_at[k.operation] = i;
  }
  if (streams.size() < 2) return;

  std::vector<bool> placed(steps.size(), false);
  std::map<number, std::size_t> next;
  std::vector<step> result;
  // A wait has to see the same record, and what a task names has to be there.
  const auto may_come = [&](const step& s) {
    for (const issue& k : s.issues) {
      const task& what = p.tasks[k.operation];
      const auto there = [&](number other) {
        const auto found = record_at.find(other);
        return found == record_at.end() || placed[found->second] || other == k.operation;
      };
      if (what.record != none && !there(what.record)) return false;
      if (!std::all_of(what.after.begin(), what.after.end(), there)) return false;
    }
    return true;
  };
  const auto is_work = [&](const step& s) {
    return p.tasks[s.issues[0].operation].what.kind != command_kind::event_wait &&
           p.tasks[s.issues[0].operation].what.kind != command_kind::event_record;
  };
  while (result.size() < end - begin) {
    bool moved = false;
    for (const number stream : streams) {
      const std::vector<std::size_t>& line = lines[stream];
      std::size_t& at = next[stream];
      bool work = false;
      // Records and waits go along with the work beside them.
      while (at < line.size() && may_come(steps[line[at]])) {
        const bool next_is_work = is_work(steps[line[at]]);
        if (order == issue_order::breadth_first && work && next_is_work) break;
        work |= next_is_work;
        placed[line[at]] = true;
        result.push_back(steps[line[at++]]);
        moved = true;
      }
    }
    if (!moved) return;  // waits that cannot be ordered: left as it is
  }
  std::move(result.begin(), result.end(), steps.begin() + static_cast<std::ptrdiff_t>(begin));
}

}  // namespace

void reorder(program& p, issue_order order) {
  for (std::vector<step>& steps : p.threads) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= steps.size(); ++i) {
      if (i < steps.size() && only_stream(p, steps[i]) != none) continue;
      if (i > begin) reorder_part(p, steps, begin, i, order);
      begin = i + 1;
    }
  }
}

bool issue_before(program& p, std::vector<step_place>& places, number operation, number other) {
  constexpr std::size_t far = 1000;  // calls
  const step_place from = places[operation], to = places[other];
  if (from.thread == none || from.thread != to.thread || from.index <= to.index ||
      from.index - to.index > far) {
    return false;
  }
  std::vector<step>& steps = p.threads[from.thread];
  std::vector<step> go, stay;
  const number stream = p.tasks[operation].stream;
  for (std::size_t i = to.index; i <= from.index; ++i) {
    const number one = only_stream(p, steps[i]);
    if (one == none) return false;
    (one == stream ? go : stay).push_back(steps[i]);
  }
  const auto stays = [&](number needed) {
    return std::any_of(stay.begin(), stay.end(), [&](const step& s) {
      return std::any_of(s.issues.begin(), s.issues.end(),
                         [&](const issue& k) { return k.operation == needed; });
    });
  };
  for (const step& s : go) {
    for (const issue& k : s.issues) {
      const task& what = p.tasks[k.operation];
      if ((what.record != none && stays(what.record)) ||
          std::any_of(what.after.begin(), what.after.end(), stays)) {
        return false;
      }
    }
  }
  std::size_t at = to.index;
  for (std::vector<step>* list : {&go, &stay}) {
    for (step& s : *list) {
      for (const issue& k : s.issues) places[k.operation].index = at;
      steps[at++] = std::move(s);
    }
  }
  return true;
}

void move_waits(program& p, const std::vector<moved_wait>& moves) {
  const std::vector<step_place> places = issuers(p);
  std::map<std::pair<number, std::size_t>, std::vector<std::size_t>> behind;
  std::set<std::pair<number, std::size_t>> moved;
  std::set<number> threads;
  for (const moved_wait& m : moves) {
    const step_place from = places[m.wait], to = places[m.behind];
    behind[{to.thread, to.index}].push_back(from.index);
    moved.emplace(from.thread, from.index);
    threads.insert(from.thread);
  }
  for (const number thread : threads) {
    std::vector<step>& steps = p.threads[thread];
    std::vector<step> result;
    result.reserve(steps.size());
    nanoseconds gap = 0;  // the program's own code stays where it is
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (moved.contains({thread, i})) {
        gap += std::exchange(steps[i].gap, 0);
        continue;
      }
      steps[i].gap += std::exchange(gap, 0);
      result.push_back(std::move(steps[i]));
      const auto next = behind.find({thread, i});
      if (next == behind.end()) continue;
      for (const std::size_t one : next->second) result.push_back(std::move(steps[one]));
    }
    steps = std::move(result);
  }
}

void pin_memory(const trace::trace& t, program& p, const step& call, number operation) {
  task& copy = p.tasks[operation];
  copy.duration =
      std::min(copy.duration + call.own(), pinned_copy_time(t, t.operations[operation]));
  copy.on_link = true;
}

void pin(const trace::trace& t, program& p, step_place call, number operation) {
  step& s = p.threads[call.thread][call.index];
  pin_memory(t, p, s, operation);
  do_not_wait(s);
  s.before = 0;
  s.between = std::min(s.between, async_copy_call_time(t));
  for (issue& i : s.issues) i.offset = std::min(i.offset, s.between);
}

graph_costs graph_costs_of(const trace::trace& t, const graph_shape& shape) {
  const graph_nodes& nodes = shape.nodes();
  const profile* known = find_profile(t.head.profile);
  const timing_profile& timing = timing_or_h200(t);
  const double first_launch = nodes.first_launch_ns(timing);
  const double launch = call_cost_ns(timing, "cudaGraphLaunch");
  const bool has_graphs = shortest_call(t, "cudaGraphInstantiate") != never;
  graph_costs costs{
      .instantiate = rounded_ns(call_cost_ns(timing, "cudaGraphInstantiate") +
                                nodes.instantiate_ns(timing) + first_launch),
      .first_graph = has_graphs ? 0 : rounded_ns(timing.first_graph_ns),
      .launch = rounded_ns(launch + nodes.launch_ns(timing)),
      .update = rounded_ns(call_cost_ns(timing, "cudaGraphExecUpdate") + nodes.update_ns(timing)),
      .gap = rounded_ns(timing.graph_gap_ns)};
  if (known != nullptr && t.head.clock == trace::clock_kind::modelled) {
    costs.first_launch = rounded_ns(first_launch);
    costs.captured_call = rounded_ns(timing.captured_call_ns);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      costs.given.push_back(rounded_ns(launch + shape.late_ns(i, timing)));
      costs.later.push_back(rounded_ns(shape.gap_ns(i, timing)));
    }
    return costs;
  }
  const auto as_recorded = [&](nanoseconds& cost, std::string_view call) {
    if (const nanoseconds least = shortest_call(t, call); least != never) cost = least;
  };
  as_recorded(costs.instantiate, "cudaGraphInstantiate");
  as_recorded(costs.launch, "cudaGraphLaunch");
  as_recorded(costs.update, "cudaGraphExecUpdate");
  return costs;
}

namespace {

enum class call_use : std::uint8_t { captured, not_made };

// What the calls of one time give to their streams.
std::vector<issue> take_issues(std::vector<step>& steps, const std::vector<std::size_t>& time,
                               call_use use, const graph_costs& costs) {
  const nanoseconds most = use == call_use::captured ? costs.captured_call : 0;
  std::vector<issue> all;
  for (const std::size_t i : time) {
    step& s = steps[i];
    all.insert(all.end(), s.issues.begin(), s.issues.end());
    s.issues.clear();
    s.before = std::min(s.before, most);
    s.between = std::min(s.between, most - s.before);
    s.after = std::min(s.after, most - s.before - s.between);
    if (use == call_use::captured) continue;
    s.brought = 0;
    if (i == time.front()) continue;
    s.pauses.clear();
    s.gap = 0;
  }
  return all;
}

// The launch comes to one node after another. Those of a graph are not counted.
void give_nodes(const program& p, step& launch, const std::vector<captured_node>& nodes,
                const graph_costs& costs) {
  if (launch.issues.size() == nodes.size())
    for (std::size_t i = 0; i < nodes.size(); ++i) launch.issues[i].operation = nodes[i].operation;
  std::size_t place = 0;
  nanoseconds given = costs.given.empty() ? costs.launch : 0;
  for (issue& k : launch.issues) {
    const command_kind kind = p.tasks[k.operation].what.kind;
    const bool is_node = kind != command_kind::event_record && kind != command_kind::event_wait;
    if (is_node && place < costs.given.size()) given = costs.given[place++];
    k = {k.operation, launch.between + given, bringing::nothing};
  }
  launch.between += costs.launch;
}

// How a node starts: the first, and copies, which may wait for their engine behind another one, as
// behind other work; where the engine is changed as in a stream.
void start_in_graph(program& p, const std::vector<captured_node>& nodes, std::size_t place,
                    const graph_costs& costs) {
  task& node = p.tasks[nodes[place].operation];
  const std::vector<std::uint32_t>& after = nodes[place].after;
  if (after.empty() && node.start == start_rule::as_recorded) return;
  const bool changes_engine = std::any_of(after.begin(), after.end(), [&](std::uint32_t other) {
    return start_class_of(p.tasks[nodes[other].operation].what) != start_class_of(node.what);
  });
  const nanoseconds later = place < costs.later.size() ? costs.later[place] : 0;
  node.held = never;
  const bool is_copy =
      node.what.kind == command_kind::copy && node.start != start_rule::as_recorded;
  if (after.empty() || is_copy) {
    node.start = start_rule::by_gap;
    node.later = later;
    return;
  }
  if (!changes_engine) node.lag = std::min(node.lag, costs.gap);
  node.lag += later;
  node.start = start_rule::as_recorded;
}

// A launch is one thing of one stream: where the host waits for each of its streams directly behind
// it, one wait does. The others take no time, and end with what they are for.
void wait_once_behind(const program& p, std::vector<step>& steps, std::size_t launch,
                      const std::map<number, number>& streams) {
  const auto is_of_launch = [&](const host_wait& w) {
    return (w.scope == wait_scope::stream && streams.contains(w.target)) ||
           (w.scope == wait_scope::operation && streams.contains(p.tasks[w.target].stream));
  };
  const auto only_waits_for_launch = [&](const step& s) {
    return s.issues.empty() && s.first.scope == wait_scope::nothing && is_of_launch(s.last);
  };
  for (std::size_t i = launch + 1; i + 1 < steps.size(); ++i) {
    if (!only_waits_for_launch(steps[i]) || !only_waits_for_launch(steps[i + 1])) break;
    step& s = steps[i];
    s.before = s.between = s.after = s.brought = 0;
  }
}

}  // namespace

void launch_as_graph(program& p, number thread, const std::vector<std::vector<std::size_t>>& times,
                     const graph_costs& costs) {
  std::vector<step>& steps = p.threads[thread];
  std::map<number, number> last;  // by stream: of the time before
  for (const std::vector<std::size_t>& time : times) {
    const bool captures = &time == &times.front();
    const std::vector<captured_node> nodes = captured_nodes(p, steps, time);
    step& launch = steps[time.back()];
    launch.issues =
        take_issues(steps, time, captures ? call_use::captured : call_use::not_made, costs);
    launch.between += captures ? costs.instantiate : 0;
    give_nodes(p, launch, nodes, costs);
    std::map<number, number> now;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      task& node = p.tasks[nodes[i].operation];
      now[node.stream] = nodes[i].operation;
      node.launched_in = p.tasks[nodes.front().operation].stream;
      for (const auto& [stream, before] : last) {
        if (nodes[i].after.empty() && stream != node.stream) node.after.push_back(before);
      }
      start_in_graph(p, nodes, i, costs);
    }
    if (now.size() > 1) wait_once_behind(p, steps, time.back(), now);
    last = std::move(now);
  }
}

std::vector<step_place> issuers(const program& p) {
  std::vector<step_place> places(p.tasks.size());
  for (number thread = 0; thread < p.threads.size(); ++thread) {
    for (std::size_t i = 0; i < p.threads[thread].size(); ++i) {
      for (const issue& k : p.threads[thread][i].issues) places[k.operation] = {thread, i};
    }
  }
  return places;
}

}  // namespace sb::analysis
