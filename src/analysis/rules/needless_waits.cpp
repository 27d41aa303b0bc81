// Waits for events that order nothing that the data needs.
//
// What has to keep its order is known from the byte ranges of the operations. A wait is needless
// when everything that meets in memory, and is ordered with the wait, is ordered without it: by its
// stream, by other waits or by the host. What the host itself reads and writes is not in a trace:
// whatever touches its memory has to stay in front of the same waits of the host.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

constexpr std::size_t most_operations = 20000, most_streams = 64, most_lines = 16;
constexpr std::size_t most_looks = 4'000'000;  // at operations that may meet

using positions = std::vector<std::uint32_t>;  // by stream: how many of its operations are over

void join(positions& to, const positions& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
}

bool is_work(const trace::operation& o) {
  switch (o.kind) {
    case trace::operation_kind::event_record:
    case trace::operation_kind::event_wait:
    case trace::operation_kind::marker:
      return false;
    default:
      return true;
  }
}

// What it touches is not known, or not all of it.
bool is_unknown(const trace::operation& o) {
  const bool has_ranges = o.kind == trace::operation_kind::kernel ||
                          o.kind == trace::operation_kind::copy ||
                          o.kind == trace::operation_kind::fill;
  return !has_ranges || o.ranges.empty() || touches_anything(o);
}

bool touches_host(const trace::trace& t, const trace::operation& o) {
  if (is_unknown(o) || o.host_memory != trace::memory_kind::device) return true;
  return std::any_of(o.ranges.begin(), o.ranges.end(), [&](const trace::byte_range& r) {
    return r.allocation >= t.allocations.size() ||
           t.allocations[r.allocation].kind != trace::memory_kind::device;
  });
}

// What is over before what, with all waits or without some of them.
class order {
 public:
  // `without`: by operation, waits that are left out.
  order(const evidence& e, const std::vector<bool>& without)
      : t_(e.t),
        p_(e.p),
        without_(without),
        lists_(e.t.streams.size()),
        place_(e.t.operations.size(), 0),
        before_(e.t.operations.size()) {
    positions host(lists_.size(), 0);
    for (const std::vector<step>& steps : p_.threads) {
      for (const step& s : steps) {
        wait(s.first, host);
        for (const issue& i : s.issues) add(i.operation, host);
        wait(s.last, host);
        host_.push_back(host);
      }
    }
  }

  [[nodiscard]] bool is_over(number a, number before) const {
    const positions& p = before_[before];
    return !p.empty() && p[t_.operations[a].stream] >= place_[a];
  }
  [[nodiscard]] const positions& before(number operation) const { return before_[operation]; }
  // What the host knows to be over after each of its calls.
  [[nodiscard]] const std::vector<positions>& host() const { return host_; }
  [[nodiscard]] const std::vector<std::vector<number>>& streams() const { return lists_; }

 private:
  void add_last(number stream, positions& to) const {
    if (lists_[stream].empty()) return;
    const number last = lists_[stream].back();
    join(to, before_[last]);
    to[stream] = std::max(to[stream], place_[last]);
  }
  void add_kind(stream_kind kind, number device, positions& to) const {
    for (number s = 0; s < lists_.size(); ++s) {
      if (p_.streams[s].kind == kind && p_.streams[s].device == device) add_last(s, to);
    }
  }
  void add_stream(number stream, positions& to) const {
    add_last(stream, to);
    const program_stream& s = p_.streams[stream];
    if (s.kind == stream_kind::legacy) add_kind(stream_kind::blocking, s.device, to);
  }

  void add(number operation, const positions& host) {
    const trace::operation& o = t_.operations[operation];
    positions& mine = before_[operation];
    mine = host;
    add_stream(o.stream, mine);
    if (p_.streams[o.stream].kind == stream_kind::blocking)
      add_kind(stream_kind::legacy, p_.streams[o.stream].device, mine);
    const number record = p_.tasks[operation].record;
    if (record != none && !without_[operation] && !before_[record].empty()) {
      join(mine, before_[record]);
      const number other = t_.operations[record].stream;
      mine[other] = std::max(mine[other], place_[record]);
    }
    lists_[o.stream].push_back(operation);
    place_[operation] = static_cast<std::uint32_t>(lists_[o.stream].size());
  }

  void wait(const host_wait& w, positions& host) const {
    switch (w.scope) {
      case wait_scope::nothing:
        return;
      case wait_scope::operation:
        if (before_[w.target].empty()) return;
        join(host, before_[w.target]);
        host[t_.operations[w.target].stream] =
            std::max(host[t_.operations[w.target].stream], place_[w.target]);
        return;
      case wait_scope::stream:
        return add_stream(w.target, host);
      case wait_scope::device:
        for (number s = 0; s < lists_.size(); ++s) {
          if (p_.streams[s].device == w.target) add_last(s, host);
        }
        return;
    }
  }

  const trace::trace& t_;
  const program& p_;
  const std::vector<bool>& without_;
  std::vector<std::vector<number>> lists_;  // by stream
  std::vector<std::uint32_t> place_;        // in its stream, from 1
  std::vector<positions> before_;           // by operation
  std::vector<positions> host_;
};

// Whether nothing is lost without the waits.
class comparison {
 public:
  comparison(const trace::trace& t, const order& with, const order& less)
      : t_(t), with_(with), less_(less) {}

  [[nodiscard]] bool is_same() {
    for (std::size_t i = 0; i < with_.host().size(); ++i) {
      const bool lost = any_between(less_.host()[i], with_.host()[i], [&](number a) {
        return is_work(t_.operations[a]) && touches_host(t_, t_.operations[a]);
      });
      if (lost) return false;
    }
    for (const std::vector<number>& list : with_.streams()) {
      for (const number b : list) {
        const trace::operation& o = t_.operations[b];
        if (!is_work(o)) continue;
        const bool lost = any_between(less_.before(b), with_.before(b), [&](number a) {
          const trace::operation& other = t_.operations[a];
          return is_work(other) &&
                 (is_unknown(o) || is_unknown(other) || share_data(other, o, data_view::careful) ||
                  share_pageable(o, other));
        });
        if (lost) return false;
      }
    }
    return looks_ < most_looks;
  }

 private:
  // Memory that is no allocation of the runtime's: where it lies is not in a trace.
  static bool share_pageable(const trace::operation& a, const trace::operation& b) {
    const auto has = [](const trace::operation& o) {
      return o.host_memory == trace::memory_kind::pageable ||
             std::any_of(o.ranges.begin(), o.ranges.end(),
                         [](const trace::byte_range& r) { return r.allocation == none; });
    };
    return has(a) && has(b);
  }

  // Of the operations that are over by `more`, but not by `less`.
  template <class Test>
  bool any_between(const positions& less, const positions& more, Test test) {
    for (std::size_t s = 0; s < more.size(); ++s) {
      for (std::uint32_t i = less[s]; i < more[s]; ++i) {
        if (++looks_ >= most_looks) return true;
        if (test(with_.streams()[s][i])) return true;
      }
    }
    return false;
  }

  const trace::trace& t_;
  const order& with_;
  const order& less_;
  std::size_t looks_ = 0;
};

// Programs whose order can be followed: one thread calls, and nothing is in graphs. One that asks
// for times or whether something is over may wait for the sake of that.
bool can_be_followed(const evidence& e) {
  const trace::trace& t = e.t;
  if (t.head.end != trace::ending::complete || t.operations.size() > most_operations ||
      t.streams.size() > most_streams)
    return false;
  number thread = none;
  std::vector<bool> issued(t.operations.size(), false);
  for (number i = 0; i < e.p.threads.size(); ++i) {
    if (e.p.threads[i].empty()) continue;
    if (thread != none) return false;
    thread = i;
    for (const step& s : e.p.threads[i]) {
      for (const issue& k : s.issues) issued[k.operation] = true;
    }
  }
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    if (!issued[i] || o.in_graph || o.graph != none || !o.after.empty() ||
        o.stream >= t.streams.size())
      return false;
  }
  return std::none_of(t.calls.begin(), t.calls.end(), [](const trace::call& c) {
    return c.name.find("Query") != std::string::npos || c.name == "cudaEventElapsedTime";
  });
}

}  // namespace

void find_needless_waits(const evidence& e, findings& out) {
  const trace::trace& t = e.t;
  std::vector<held_operation> held;
  for (const held_operation& h : held_by(t, trace::wait_cause::event)) {
    const trace::operation& o = t.operations[h.operation];
    if (o.kind == trace::operation_kind::event_wait && o.record != none) held.push_back(h);
  }
  if (!e.worth(total(held)) || !can_be_followed(e)) return;

  // A line is left out as a whole; without lines, one wait by itself.
  const auto line = [&](number operation) {
    const number place = place_of(t, operation);
    return place != none ? std::pair(place, none) : std::pair(none, operation);
  };
  std::map<std::pair<number, number>, nanoseconds> times;
  for (const held_operation& h : held) times[line(h.operation)] += h.time;
  std::vector<std::pair<nanoseconds, std::pair<number, number>>> lines;
  for (const auto& [place, time] : times) lines.push_back({time, place});
  std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (lines.size() > most_lines) lines.resize(most_lines);

  std::vector<bool> without(t.operations.size(), false);
  const order as_it_is(e, without);
  bool any = false;
  for (const auto& [time, place] : lines) {
    std::vector<bool> more = without;
    for (number i = 0; i < t.operations.size(); ++i) {
      if (t.operations[i].kind == trace::operation_kind::event_wait && line(i) == place)
        more[i] = true;
    }
    const order less(e, more);
    if (!comparison(t, as_it_is, less).is_same()) continue;
    without = std::move(more);
    any = true;
  }
  if (!any) return;

  program changed = e.p;
  std::vector<number> waits;
  for (number i = 0; i < t.operations.size(); ++i) {
    if (!without[i]) continue;
    changed.tasks[i].record = none;
    waits.push_back(i);
  }
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;
  std::erase_if(held, [&](const held_operation& h) { return !without[h.operation]; });

  finding f;
  f.rule = "needless-event-wait";
  f.title = fmt::format("{} wait{} for an event that the data does not need", waits.size(),
                        waits.size() == 1 ? "" : "s");
  f.why =
      "Nothing in front of the event writes memory that is used behind the wait, and nothing "
      "behind "
      "the wait writes memory that is used in front of the event.";
  f.change = "Leave out the cudaStreamWaitEvent.";
  f.cost = cost;
  add_operations(t, f, waits);
  describe(t, f, held);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
