#include "analysis/device_order.hpp"

#include <algorithm>
#include <string>

#include "analysis/timed_records.hpp"

namespace sb::analysis {

namespace {

constexpr std::size_t most_streams = 64;
constexpr std::size_t most_looks = 4'000'000;  // at operations that may meet

using positions = device_order::positions;

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

}  // namespace

bool touches_host(const trace::trace& t, const trace::operation& o) {
  if (is_unknown(o) || o.host_memory != trace::memory_kind::device) return true;
  return std::any_of(o.ranges.begin(), o.ranges.end(), [&](const trace::byte_range& r) {
    return r.allocation >= t.allocations.size() ||
           t.allocations[r.allocation].kind != trace::memory_kind::device;
  });
}

device_order::device_order(const trace::trace& t, const program& p)
    : t_(t),
      lists_(t.streams.size()),
      last_(t.streams.size(), none),
      streams_(t.operations.size(), none),
      place_(t.operations.size(), 0),
      before_(t.operations.size()) {
  positions host(lists_.size(), 0);
  for (const std::vector<step>& steps : p.threads) {
    for (const step& s : steps) {
      wait(p, s.first, host);
      for (const issue& i : s.issues) add(p, i.operation, host);
      wait(p, s.last, host);
      if (s.first.scope != wait_scope::nothing || s.last.scope != wait_scope::nothing)
        host_.push_back(host);
    }
  }
}

void device_order::add_last(number stream, positions& to) const {
  if (last_[stream] != none) add_operation(last_[stream], to);
}

void device_order::add_kind(const program& p, stream_kind kind, number device,
                            positions& to) const {
  for (number s = 0; s < lists_.size(); ++s) {
    if (p.streams[s].kind == kind && p.streams[s].device == device) add_last(s, to);
  }
}

void device_order::add_stream(const program& p, number stream, positions& to) const {
  add_last(stream, to);
  const program_stream& s = p.streams[stream];
  if (s.kind == stream_kind::legacy) add_kind(p, stream_kind::blocking, s.device, to);
}

// It is over, and with it all that was in front of it.
void device_order::add_operation(number operation, positions& to) const {
  if (before_[operation].empty()) return;
  join(to, before_[operation]);
  std::uint32_t& of_stream = to[streams_[operation]];
  of_stream = std::max(of_stream, place_[operation]);
}

void device_order::add(const program& p, number operation, const positions& host) {
  const number stream = streams_[operation] = p.tasks[operation].stream;
  positions mine = host;
  add_stream(p, stream, mine);
  if (p.streams[stream].kind == stream_kind::blocking)
    add_kind(p, stream_kind::legacy, p.streams[stream].device, mine);
  const task& what = p.tasks[operation];
  if (what.record != none) add_operation(what.record, mine);
  for (const number other : what.after) add_operation(other, mine);
  before_[operation] = std::move(mine);
  last_[stream] = operation;
  if (t_.operations[operation].kind != trace::operation_kind::event_wait)
    lists_[stream].push_back(operation);
  place_[operation] = static_cast<std::uint32_t>(lists_[stream].size());
}

void device_order::wait(const program& p, const host_wait& w, positions& host) const {
  switch (w.scope) {
    case wait_scope::nothing:
      return;
    case wait_scope::operation:
      return add_operation(w.target, host);
    case wait_scope::stream:
      return add_stream(p, w.target, host);
    case wait_scope::device:
      for (number s = 0; s < lists_.size(); ++s) {
        if (p.streams[s].device == w.target) add_last(s, host);
      }
      return;
  }
}

namespace {

// What is lost by a change.
class comparison {
 public:
  using report = std::function<bool(const lost_order&)>;
  comparison(const trace::trace& t, const allocation_parts& parts, const device_order& with,
             const device_order& less)
      : t_(t), parts_(parts), with_(with), less_(less) {
    for (const trace::operation& o : t.operations) kinds_.push_back(kind_of(o));
    // All work stays on its side of a record whose time is read, and the host waits for it as
    // before.
    const std::vector<bool> timed = timed_records(t);
    for (std::size_t i = 0; i < timed.size(); ++i)
      if (timed[i]) kinds_[i] = {.work = true, .unknown = true, .pageable = false};
  }

  // False: the report said so, or there is too much to look at.
  [[nodiscard]] bool tell(const report& lost) {
    for (std::size_t i = 0; i < with_.host().size(); ++i) {
      const positions& known = with_.host()[i];
      const auto look = [&](number a) {
        return !kinds_[a].work || !touches_host(t_, t_.operations[a]) || lost({a, none, known});
      };
      if (!all_between(less_.host()[i], known, look)) return false;
    }
    for (const std::vector<number>& list : with_.streams()) {
      for (const number b : list) {
        if (!kinds_[b].work) continue;
        const positions& known = with_.before(b);
        const auto look = [&](number a) { return !have_to_stay(a, b) || lost({a, b, known}); };
        if (!all_between(less_.before(b), known, look)) return false;
      }
    }
    return looks_ < most_looks;
  }

 private:
  // Looked up once: two are compared by the million.
  struct kind {
    bool work, unknown, pageable;
    std::uint64_t touched = 0, written = 0;  // a bit for each allocation, or for several
  };

  static kind kind_of(const trace::operation& o) {
    kind k{.work = is_work(o), .unknown = is_unknown(o), .pageable = is_pageable(o)};
    for (const trace::byte_range& r : o.ranges) {
      const std::uint64_t bit = std::uint64_t{1} << (r.allocation % 64);
      k.touched |= bit;
      if (r.how != trace::access::read) k.written |= bit;
    }
    return k;
  }

  // Memory that is no allocation of the runtime's: where it lies is not in a trace.
  static bool is_pageable(const trace::operation& o) {
    return o.host_memory == trace::memory_kind::pageable ||
           std::any_of(o.ranges.begin(), o.ranges.end(),
                       [](const trace::byte_range& r) { return r.allocation == none; });
  }

  [[nodiscard]] bool have_to_stay(number a, number b) const {
    const kind &one = kinds_[a], &other = kinds_[b];
    if (!one.work) return false;
    if (one.unknown || other.unknown || (one.pageable && other.pageable)) return true;
    const bool apart = ((one.touched & other.written) | (one.written & other.touched)) == 0;
    return !apart && parts_.share_data(t_.operations[a], t_.operations[b]);
  }

  // Of the operations that are over by `more`, but not by `less`.
  template <class Test>
  bool all_between(const positions& less, const positions& more, Test test) {
    for (std::size_t s = 0; s < more.size(); ++s) {
      for (std::uint32_t i = less[s]; i < more[s]; ++i) {
        if (++looks_ >= most_looks) return false;
        if (!test(with_.streams()[s][i])) return false;
      }
    }
    return true;
  }

  const trace::trace& t_;
  const allocation_parts& parts_;
  const device_order& with_;
  const device_order& less_;
  std::vector<kind> kinds_;  // by operation
  std::size_t looks_ = 0;
};

}  // namespace

bool for_each_lost(const trace::trace& t, const allocation_parts& parts,
                   const device_order& as_it_is, const device_order& changed,
                   const std::function<bool(const lost_order&)>& lost) {
  return comparison(t, parts, as_it_is, changed).tell(lost);
}

bool keeps_order(const trace::trace& t, const allocation_parts& parts, const device_order& as_it_is,
                 const device_order& changed) {
  return for_each_lost(t, parts, as_it_is, changed, [](const lost_order&) { return false; });
}

bool is_too_long_to_follow(const trace::trace& t) {
  return t.operations.size() > most_followed &&
         std::any_of(t.operations.begin(), t.operations.end(), [](const trace::operation& o) {
           return o.kind == trace::operation_kind::event_wait;
         });
}

bool can_be_ordered(const trace::trace& t, const program& p) {
  if (t.head.end != trace::ending::complete || t.operations.size() > most_followed ||
      t.streams.size() > most_streams)
    return false;
  number thread = none;
  std::vector<bool> issued(t.operations.size(), false);
  for (number i = 0; i < p.threads.size(); ++i) {
    if (p.threads[i].empty()) continue;
    if (thread != none) return false;
    thread = i;
    for (const step& s : p.threads[i]) {
      for (const issue& k : s.issues) issued[k.operation] = true;
    }
  }
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    if (!issued[i] || o.in_graph || o.graph != none || !o.after.empty() ||
        o.stream >= t.streams.size())
      return false;
  }
  return true;
}

bool can_be_followed(const trace::trace& t, const program& p) {
  if (!can_be_ordered(t, p)) return false;
  const bool asks = std::any_of(t.calls.begin(), t.calls.end(), [](const trace::call& c) {
    return c.name.find("Query") != std::string::npos;
  });
  return !asks && times_can_be_followed(t, p);
}

}  // namespace sb::analysis
