// The part of wait_graph.hpp about the host of a program that was ended from outside: threads that
// ask again and again whether work is done, and those that are in no call, which may look at
// memory.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/polls.hpp"
#include "analysis/wait_graph.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

using trace::nanoseconds;
using trace::never;
using trace::none;
using trace::number;

namespace {

// The questions behind everything else that a thread called.
struct asker {
  std::vector<number> questions;  // of each operation that is asked for, the first
  std::uint64_t looks = 0;
  nanoseconds begin = never, end = 0;

  // Whether it was still at it: what was asked long ago says nothing of what is done now. A busy
  // machine may let the thread wait between two questions.
  [[nodiscard]] bool asks_until(nanoseconds time) const {
    if (looks < least_looks || begin > end || end > time) return false;
    const nanoseconds span = end - begin;
    return time - end <= std::max(span / 10, 10 * (span / looks));
  }
};

std::vector<asker> askers_of(const trace::trace& t) {
  std::vector<nanoseconds> since(t.threads.size(), 0);
  for (const trace::call& c : t.calls) {
    if (c.thread >= since.size() || is_vain_question(c)) continue;
    since[c.thread] = c.returned ? std::max(since[c.thread], c.begin) : never;
  }
  std::vector<asker> askers(t.threads.size());
  for (number i = 0; i < t.calls.size(); ++i) {
    const trace::call& c = t.calls[i];
    if (c.thread >= since.size() || !is_vain_question(c) || c.begin < since[c.thread]) continue;
    asker& a = askers[c.thread];
    a.looks += c.times;
    a.begin = std::min(a.begin, c.begin);
    a.end = std::max(a.end, c.end);
    const bool known = std::any_of(a.questions.begin(), a.questions.end(),
                                   [&](number q) { return t.calls[q].blocked_on == c.blocked_on; });
    if (!known) a.questions.push_back(i);
  }
  for (asker& a : askers)
    if (!a.asks_until(t.end)) a.questions.clear();
  return askers;
}

bool writes_what_the_host_sees(const trace::trace& t, const trace::operation& o) {
  return std::any_of(o.ranges.begin(), o.ranges.end(), [&](const trace::byte_range& r) {
    if (r.how == trace::access::read) return false;
    return is_anything(r) || r.allocation >= t.allocations.size() ||
           t.allocations[r.allocation].kind != trace::memory_kind::device;
  });
}

}  // namespace

// A running host function whose thread this seems to be: all that it called lies in one.
number wait_graph::function_of(number thread) const {
  number runs = none;
  std::vector<const trace::operation*> functions;
  for (number i = 0; i < trace_.operations.size(); ++i) {
    const trace::operation& o = trace_.operations[i];
    if (o.kind != trace::operation_kind::host_function || o.started == never) continue;
    functions.push_back(&o);
    if (pending(i)) runs = i;
  }
  if (runs == none) return none;
  const bool inside = std::all_of(trace_.calls.begin(), trace_.calls.end(), [&](const auto& c) {
    return c.thread != thread ||
           std::any_of(functions.begin(), functions.end(), [&](const trace::operation* f) {
             return f->started <= c.begin && (f->ended == never || c.end <= f->ended);
           });
  });
  return inside ? runs : none;
}

void wait_graph::add_askers() {
  const std::vector<asker> askers = askers_of(trace_);
  for (number i = 0; i < askers.size(); ++i) {
    std::vector<number> known;  // those of whose operation the trace says that it was not over
    for (const number q : askers[i].questions) {
      const number on = trace_.calls[q].blocked_on;
      if (on < trace_.operations.size() && pending(on)) known.push_back(q);
    }
    if (known.empty()) continue;
    const number function = function_of(i);
    const node who = function != none ? node{function} : thread(i);
    if (function == none) threads_.push_back(who);
    asking_.push_back(thread(i));
    const std::string as =
        function != none ? fmt::format(", as it seems on {}, ", name(thread(i))) : " ";
    const std::size_t others = known.size() - 1;
    for (const number q : known) {
      const trace::call& c = trace_.calls[q];
      const std::string place = text_of_place_without_folders(trace_, c.place);
      std::string why =
          fmt::format("asks {}{} again and again, {} times by now, and waits for {{}}", c.name,
                      place.empty() ? "" : fmt::format(" ({})", place), askers[i].looks);
      if (others != 0)
        why += fmt::format("; it asks for {} other{} in turn", others, others == 1 ? "" : "s");
      add(who, {.to = c.blocked_on, .why = why, .aside = as});
      asked_.push_back(q);
    }
  }
}

// A thread of a program that was ended from outside, in none of the runtime's calls: what it does
// is not in the trace. It may look at memory that something pending would write.
void wait_graph::add_lookers() {
  find_outside();
  std::erase_if(outside_, [&](node n) {
    return std::find(asking_.begin(), asking_.end(), n) != asking_.end();
  });
  std::vector<node> writers;
  for (number i = 0; i < trace_.operations.size(); ++i) {
    if (pending(i) && writes_what_the_host_sees(trace_, trace_.operations[i])) writers.push_back(i);
  }
  std::erase_if(outside_, [&](node n) {
    const auto thread = static_cast<number>(n - trace_.operations.size());
    // Others may have ended.
    if (writers.empty() || thread != 0) return false;
    threads_.push_back(n);
    add_guesses(n,
                fmt::format("is in none of the runtime's calls{}: it computes, or looks at memory "
                            "that is perhaps written",
                            last_call(thread)),
                writers);
    return true;
  });
}

// Behind a host function that does not return: work that writes what it may look at.
number wait_graph::written_behind(node function) const {
  for (number i = 0; i < trace_.operations.size(); ++i) {
    const trace::operation& o = trace_.operations[i];
    if (!pending(i) || o.started != never || !writes_what_the_host_sees(trace_, o)) continue;
    const std::vector<node> way = chain(i);
    if (std::find(way.begin(), way.end(), function) != way.end()) return i;
  }
  return none;
}

}  // namespace sb::analysis
