#include "analysis/rules/waits_give.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>

#include "analysis/call_rules.hpp"
#include "analysis/sort_stably.hpp"

namespace sb::analysis {

namespace {

// What the host gets from an operation that is over.
given given_by(const evidence& e, const trace::operation& o, bool shares_memory) {
  if (o.kind == trace::operation_kind::host_function) return given::results;
  if (o.kind == trace::operation_kind::kernel && touches_anything(o))
    return shares_memory ? given::results : given::nothing;
  given most = given::nothing;
  for (const trace::byte_range& r : o.ranges)
    if (is_host_memory(e.t, r))
      most = std::max(most, r.how == trace::access::read ? given::memory : given::results);
  const bool is_known = o.kind != trace::operation_kind::copy || most != given::nothing ||
                        o.host_memory == trace::memory_kind::device ||
                        // Such a copy has left the memory, or is there, when its call returns.
                        (o.host_memory == trace::memory_kind::pageable && !o.in_graph);
  return is_known ? most : given::results;
}

// Streams of which one's end may tell of another one's work: by events, or by the default stream.
class related_streams {
 public:
  explicit related_streams(const evidence& e) : to_(e.t.streams.size()) {
    std::iota(to_.begin(), to_.end(), 0);
    std::set<number> with_default;  // devices
    for (const trace::operation& o : e.t.operations) {
      if (o.stream >= to_.size()) continue;
      if (e.t.streams[o.stream].kind == stream_kind::legacy)
        with_default.insert(e.t.streams[o.stream].device);
      if (o.kind != trace::operation_kind::event_wait || o.record >= e.t.operations.size())
        continue;
      join(o.stream, e.t.operations[o.record].stream);
    }
    std::map<number, number> blocking;  // by device: one of them
    for (number s = 0; s < to_.size(); ++s) {
      const trace::stream& one = e.t.streams[s];
      if (one.kind == stream_kind::non_blocking || !with_default.contains(one.device)) continue;
      join(s, blocking.try_emplace(one.device, s).first->second);
    }
  }

  [[nodiscard]] number group_of(number stream) {
    while (to_[stream] != stream) stream = to_[stream] = to_[to_[stream]];
    return stream;
  }

 private:
  void join(number a, number b) {
    if (b < to_.size()) to_[group_of(a)] = group_of(b);
  }

  std::vector<number> to_;
};

// Operations of which the thread does not know that they are over.
class pending_operations {
 public:
  explicit pending_operations(related_streams& related) : related_(related) {}

  void add(number stream, number operation, given what) {
    streams_[stream].push_back({operation, what});
    count(stream, what, 1);
  }

  [[nodiscard]] given of_all() const {
    given most = given::nothing;
    for (const auto& [group, counts] : groups_) most = std::max(most, most_of(counts));
    return most;
  }
  [[nodiscard]] given of_related(number stream) const {
    const auto found = groups_.find(related_.group_of(stream));
    return found == groups_.end() ? given::nothing : most_of(found->second);
  }

  void end_all() {
    streams_.clear();
    groups_.clear();
  }
  void end(number stream, number last) {
    std::deque<one>& these = streams_[stream];
    for (; !these.empty() && these.front().operation <= last; these.pop_front())
      count(stream, these.front().what, -1);
  }

 private:
  struct one {
    number operation = none;
    given what = given::nothing;
  };
  struct counts {
    std::int64_t memory = 0, results = 0;
  };
  static given most_of(const counts& c) {
    return c.results != 0 ? given::results : c.memory != 0 ? given::memory : given::nothing;
  }
  void count(number stream, given what, std::int64_t by) {
    counts& c = groups_[related_.group_of(stream)];
    (what == given::results ? c.results : c.memory) += by;
  }

  related_streams& related_;
  std::map<number, std::deque<one>> streams_;
  std::map<number, counts> groups_;
};

struct called_operation {
  nanoseconds called = 0;
  number operation = none;
  given what = given::nothing;
};

std::vector<called_operation> that_give(const evidence& e) {
  const bool shares_memory = std::any_of(e.t.allocations.begin(), e.t.allocations.end(),
                                         [](const auto& a) { return is_shared_memory(a); });
  std::vector<called_operation> these;
  for (number i = 0; i < e.t.operations.size(); ++i) {
    const trace::operation& o = e.t.operations[i];
    const given what = given_by(e, o, shares_memory);
    if (what == given::nothing || o.stream >= e.t.streams.size()) continue;
    const nanoseconds called = o.called != never           ? o.called
                               : o.call < e.t.calls.size() ? e.t.calls[o.call].begin
                                                           : 0;
    these.push_back({called, i, what});
  }
  sort_stably(these, [](const auto& a, const auto& b) { return a.called < b.called; });
  return these;
}

std::vector<given> find_given(const evidence& e, number thread) {
  const std::vector<called_operation> all = that_give(e);
  related_streams related(e);
  pending_operations pending(related);
  const bool one_device = std::all_of(e.t.streams.begin(), e.t.streams.end(), [&](const auto& s) {
    return s.device == e.t.streams.front().device;
  });
  const std::vector<step>& steps = e.p.threads[thread];
  std::vector<given> gives(steps.size(), given::nothing);
  auto next = all.begin();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].call == none) continue;
    const trace::call& c = e.t.calls[steps[i].call];
    std::vector<called_operation> own;
    for (; next != all.end() && next->called <= c.begin; ++next)
      if (e.t.operations[next->operation].call == steps[i].call)
        own.push_back(*next);
      else
        pending.add(e.t.operations[next->operation].stream, next->operation, next->what);
    const call_class kind = class_of(c.name);
    const bool of_device = kind == call_class::device_wait || kind == call_class::free;
    const number last =
        steps[i].last.scope == wait_scope::operation ? steps[i].last.target : c.blocked_on;
    const number stream = last < e.t.operations.size() ? e.t.operations[last].stream : none;
    if (of_device || stream >= e.t.streams.size()) {
      const bool waits = of_device || only_waits(kind) || kind == call_class::query;
      gives[i] = waits ? pending.of_all() : given::nothing;
    } else {
      gives[i] = pending.of_related(stream);
    }
    for (const called_operation& o : own)
      pending.add(e.t.operations[o.operation].stream, o.operation, o.what);
    if (!of_device && stream < e.t.streams.size())
      pending.end(stream, last);
    else if (of_device && one_device)
      pending.end_all();
  }
  return gives;
}

}  // namespace

bool gets_from_host(const trace::trace& t, const trace::operation& o) {
  if (o.kind == trace::operation_kind::copy && o.direction == copy_direction::host_to_device)
    return true;
  return std::any_of(o.ranges.begin(), o.ranges.end(), [&](const trace::byte_range& r) {
    return is_host_memory(t, r) && r.how != trace::access::write;
  });
}

const std::vector<given>& evidence::given_by_waits(number thread) const {
  const auto [found, is_new] = gives_.try_emplace(thread);
  if (is_new) found->second = find_given(*this, thread);
  return found->second;
}

}  // namespace sb::analysis
