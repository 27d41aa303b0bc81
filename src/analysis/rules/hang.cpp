// A run that cannot go on: who waits for whom, and where that comes back to itself.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

// Operations come first, host threads behind them.
class wait_graph {
 public:
  explicit wait_graph(const trace::trace& t) : trace_(t) {}

  struct link {
    std::size_t to = 0;
    std::string why;  // {}: the other one
  };

  [[nodiscard]] std::size_t thread(number n) const { return trace_.operations.size() + n; }
  [[nodiscard]] bool is_thread(std::size_t node) const { return node >= trace_.operations.size(); }
  [[nodiscard]] bool pending(number o) const { return trace_.operations[o].ended == never; }

  // `perhaps`: also what may be, for a run that is known to hang.
  void build(bool perhaps);
  // Nodes that wait for each other in a ring, or the way to the one that all wait for.
  [[nodiscard]] std::vector<std::size_t> ring() const;
  [[nodiscard]] const link* way(std::size_t from, std::size_t to) const;
  [[nodiscard]] std::string name(std::size_t node) const;
  [[nodiscard]] std::string sentence(std::size_t node, std::string why, std::size_t on) const;
  [[nodiscard]] const std::vector<link>* links(std::size_t node) const {
    const auto found = links_.find(node);
    return found == links_.end() ? nullptr : &found->second;
  }

 private:
  void add(std::size_t from, std::size_t to, std::string why) {
    links_[from].push_back({to, std::move(why)});
  }
  void add_operation(number i, std::map<number, number>& last_in_stream);
  void add_memory(number runs);
  void add_thread(const trace::call& c);
  [[nodiscard]] std::string reason(const trace::operation& o, trace::wait_cause cause,
                                   number on) const;

  const trace::trace& trace_;
  std::map<std::size_t, std::vector<link>> links_;
};

std::string_view words_of(trace::wait_cause cause) {
  switch (cause) {
    case trace::wait_cause::stream_order:
      return "comes behind {} in its stream";
    case trace::wait_cause::event:
      return "waits by an event for {}";
    case trace::wait_cause::legacy_barrier:
      return "waits by the rules of the default stream for {}";
    case trace::wait_cause::graph_edge:
      return "comes in its graph behind {}";
    case trace::wait_cause::queue_head:
      return "is in the same hardware queue behind {}";
    case trace::wait_cause::engine_busy:
      return "needs the engine that is held by {}";
    case trace::wait_cause::device_full:
      return "finds no room on the device beside {}";
    case trace::wait_cause::allocation:
      return "needs the memory used by {}";
    case trace::wait_cause::loading:
      return "is used for the first time and is loaded only behind {}";
    case trace::wait_cause::host_call:
      break;
  }
  return "waits for {}";
}

// By an event: which one, where the trace says it.
std::string wait_graph::reason(const trace::operation& o, trace::wait_cause cause,
                               number on) const {
  if (cause == trace::wait_cause::event) {
    const trace::operation& record = trace_.operations[on];
    const number event = o.event != none ? o.event : record.event;
    if (event != none && record.kind == trace::operation_kind::event_record)
      return fmt::format("waits for event {}, which is recorded by {{}}", event);
  }
  return std::string(words_of(cause));
}

void wait_graph::add_operation(number i, std::map<number, number>& last_in_stream) {
  const trace::operation& o = trace_.operations[i];
  if (pending(i) && o.started == never) {
    bool known = false;
    for (const trace::edge& e : o.waits) {
      if (e.from < trace_.operations.size() && pending(e.from)) {
        add(i, e.from, reason(o, e.cause, e.from));
        known = true;
      }
    }
    if (o.record != none && pending(o.record)) {
      if (!known) add(i, o.record, reason(o, trace::wait_cause::event, o.record));
      known = true;
    }
    for (const number other : o.after) {
      if (pending(other) && way(i, other) == nullptr)
        add(i, other, std::string(words_of(trace::wait_cause::graph_edge)));
    }
    const auto before = last_in_stream.find(o.stream);
    if (!known && before != last_in_stream.end()) {
      add(i, before->second, std::string(words_of(trace::wait_cause::stream_order)));
    }
  }
  if (pending(i) && !o.in_graph) last_in_stream[o.stream] = i;
}

// A kernel that runs for ever reads what others would write: an operation that cannot start, or a
// thread that is stuck in a call.
void wait_graph::add_memory(number runs) {
  const trace::operation& o = trace_.operations[runs];
  if (o.kind == trace::operation_kind::host_function) {
    for (const trace::call& c : trace_.calls) {
      if (!c.returned && c.thread != none)
        add(runs, thread(c.thread), "does not return, perhaps until something is done by {}");
    }
    return;
  }
  for (number i = 0; i < trace_.operations.size(); ++i) {
    const trace::operation& other = trace_.operations[i];
    if (i == runs || !pending(i) || other.started != never) continue;
    for (const trace::byte_range& r : o.ranges) {
      for (const trace::byte_range& w : other.ranges) {
        if (r.allocation == w.allocation && w.how != trace::access::read) {
          add(runs, i, "reads memory that would be written by {}");
          return;
        }
      }
    }
  }
  for (const trace::call& c : trace_.calls) {
    if (!c.returned && c.thread != none) {
      add(runs, thread(c.thread), "does not end, perhaps until memory is written by {}");
      return;
    }
  }
}

// A thread in a call that waits for one operation, or for all that are pending.
void wait_graph::add_thread(const trace::call& c) {
  constexpr std::size_t most = 64;
  std::string place = text_of_place(trace_, c.place);
  place.erase(0, place.rfind('/') + 1);
  const std::string why =
      "waits for {} in " + c.name + (place.empty() ? "" : fmt::format(" ({})", place));
  if (c.blocked_on < trace_.operations.size() && pending(c.blocked_on))
    return add(thread(c.thread), c.blocked_on, why);
  std::size_t n = 0;
  for (number i = 0; n < most && i < trace_.operations.size(); ++i) {
    if (!pending(i)) continue;
    add(thread(c.thread), i, why);
    ++n;
  }
}

void wait_graph::build(bool perhaps) {
  std::map<number, number> last_in_stream;
  for (number i = 0; i < trace_.operations.size(); ++i) add_operation(i, last_in_stream);
  for (const trace::call& c : trace_.calls) {
    if (!c.returned && c.thread != none) add_thread(c);
  }
  for (number i = 0; perhaps && i < trace_.operations.size(); ++i) {
    if (pending(i) && trace_.operations[i].started != never) add_memory(i);
  }
}

std::vector<std::size_t> wait_graph::ring() const {
  for (const auto& [start, unused] : links_) {
    // Depth first, over a path of our own: rings are short, the graph may be deep.
    std::vector<std::pair<std::size_t, std::size_t>> path{{start, 0}};
    std::map<std::size_t, bool> seen{{start, true}};
    while (!path.empty()) {
      auto& [node, next] = path.back();
      const std::vector<link>* out = links(node);
      if (out == nullptr || next >= out->size()) {
        path.pop_back();
        continue;
      }
      const std::size_t to = (*out)[next++].to;
      const auto back = std::find_if(path.begin(), path.end(),
                                     [&](const auto& entry) { return entry.first == to; });
      if (back != path.end()) {
        std::vector<std::size_t> nodes;
        for (auto i = back; i != path.end(); ++i) nodes.push_back(i->first);
        return nodes;
      }
      if (seen.emplace(to, true).second) path.emplace_back(to, 0);
    }
  }
  return {};
}

const wait_graph::link* wait_graph::way(std::size_t from, std::size_t to) const {
  if (const std::vector<link>* out = links(from); out != nullptr) {
    for (const link& l : *out) {
      if (l.to == to) return &l;
    }
  }
  return nullptr;
}

std::string wait_graph::name(std::size_t node) const {
  if (!is_thread(node)) return name_with_stream(trace_, static_cast<number>(node));
  const auto n = static_cast<number>(node - trace_.operations.size());
  const bool named = n < trace_.threads.size() && !trace_.threads[n].name.empty();
  return named ? fmt::format("host thread {}", trace_.threads[n].name)
               : fmt::format("host thread {}", n);
}

// "kernel b on stream 1 waits by an event for kernel a on stream 0"
std::string wait_graph::sentence(std::size_t node, std::string why, std::size_t on) const {
  if (const std::size_t hole = why.find("{}"); hole != std::string::npos)
    why.replace(hole, 2, name(on));
  return name(node) + " " + why;
}

// What ran and what waited in a program that was ended from outside: it may have been about to go
// on, or not.
void find_pending(const trace::trace& t, const wait_graph& graph, findings& out) {
  constexpr std::size_t most = 8;
  finding f;
  f.rule = "pending";
  f.weight = severity::warning;
  f.title = "Work was pending when the program's time was over";
  std::vector<number> operations, calls;
  for (const bool waiting : {false, true}) {
    for (number i = 0; i < t.operations.size(); ++i) {
      const trace::operation& o = t.operations[i];
      if (!graph.pending(i) || (o.started == never) != waiting) continue;
      operations.push_back(i);
      if (f.evidence.size() >= most) continue;
      const std::vector<wait_graph::link>* links = graph.links(i);
      if (!waiting)
        f.evidence.push_back(fmt::format("{} had run for {}", name_with_stream(t, i),
                                         text_of_time(t.end - std::min(t.end, o.started))));
      else if (links != nullptr)
        f.evidence.push_back(graph.sentence(i, links->front().why, links->front().to));
    }
  }
  if (operations.empty()) return;
  for (number c = 0; c < t.calls.size(); ++c) {
    if (!t.calls[c].returned) calls.push_back(c);
  }
  f.why = "What ran, and what the rest waited for:";
  f.change =
      "Look whether what ran comes to an end by itself, and whether something that it needs stands "
      "behind it; a program that only takes longer wants a greater --timeout.";
  add_operations(t, f, operations);
  add_calls(t, f, calls);
  out.push_back(std::move(f));
}

}  // namespace

void find_hang(const trace::trace& t, findings& out) {
  const bool hung = t.head.end == trace::ending::hung;
  if (t.head.end == trace::ending::complete) return;
  wait_graph graph(t);
  graph.build(hung);
  const std::vector<std::size_t> ring = graph.ring();
  // A run that was ended from outside may have been about to go on.
  if (!hung && ring.empty()) {
    if (t.head.end == trace::ending::stopped) find_pending(t, graph, out);
    return;
  }

  finding f;
  f.rule = "hang";
  f.weight = severity::hang;
  f.title = hung ? "The program hangs" : "Operations wait for each other when the recording ends";
  std::vector<number> operations, calls;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const std::size_t node = ring[i], next = ring[(i + 1) % ring.size()];
    const wait_graph::link* l = graph.way(node, next);
    f.evidence.push_back(graph.sentence(node, l == nullptr ? "waits for {}" : l->why, next));
    if (!graph.is_thread(node)) operations.push_back(static_cast<number>(node));
  }
  if (ring.empty()) {
    for (number i = 0; i < t.operations.size() && operations.size() < 8; ++i) {
      if (graph.pending(i)) {
        operations.push_back(i);
        f.evidence.push_back(fmt::format(
            "{} {}", name_with_stream(t, i),
            t.operations[i].started == never ? "never started" : "started and never ended"));
      }
    }
  }
  for (number c = 0; c < t.calls.size(); ++c) {
    if (!t.calls[c].returned) calls.push_back(c);
  }
  f.why = ring.empty() ? "Nothing could move any more; what is left:"
                       : "These wait for each other in a ring:";
  f.change = ring.empty()
                 ? "Look at what these operations wait for."
                 : "Break the ring at one of these places: issue what is waited for first, use "
                   "another stream or more hardware connections, or wait for less.";
  add_operations(t, f, operations);
  add_calls(t, f, calls);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
