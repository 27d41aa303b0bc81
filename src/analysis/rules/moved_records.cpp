#include "analysis/rules/moved_records.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "analysis/device_order.hpp"
#include "analysis/timed_records.hpp"

namespace sb::analysis {

namespace {

// Work of other streams that uses memory of one: does the host wait for the whole stream between a
// record and that?
class uses_elsewhere {
 public:
  uses_elsewhere(const evidence& e, number stream, const std::vector<std::vector<number>>& groups)
      : e_(e), stream_(stream), places_(e.t.operations.size()) {
    for (const std::vector<number>& group : groups) {
      for (const number o : group)
        for (const trace::byte_range& r : e.t.operations[o].ranges) memory_.insert(r.allocation);
    }
    for (number thread = 0; thread < e.p.threads.size(); ++thread) follow(thread);
  }

  // Some is issued behind the record, without such a wait.
  [[nodiscard]] bool may_follow(number record) const {
    const place own = places_[record];
    return std::any_of(last_.begin(), last_.end(), [&](const auto& one) {
      return one.second > record && (one.first.first != own.first || one.first == own);
    });
  }

 private:
  using place = std::pair<number, std::size_t>;  // the thread, and how often it waited before

  void follow(number thread) {
    std::size_t waits = 0;
    for (const step& s : e_.p.threads[thread]) {
      if (is_for_all(s.first)) ++waits;
      for (const issue& k : s.issues) {
        places_[k.operation] = {thread, waits};
        if (!meets(k.operation)) continue;
        number& last = last_.try_emplace({thread, waits}, 0).first->second;
        last = std::max(last, k.operation);
      }
      if (is_for_all(s.last)) ++waits;
    }
  }

  [[nodiscard]] bool is_for_all(const host_wait& w) const {
    return (w.scope == wait_scope::stream && w.target == stream_) ||
           (w.scope == wait_scope::device && w.target == e_.p.streams[stream_].device);
  }

  [[nodiscard]] bool meets(number operation) const {
    const trace::operation& o = e_.t.operations[operation];
    if (o.stream == stream_ || o.engine == trace::engine_kind::none) return false;
    // The default stream waits for all that is in blocking streams.
    if (e_.p.streams[o.stream].kind == stream_kind::legacy &&
        e_.p.streams[stream_].kind == stream_kind::blocking)
      return false;
    return o.ranges.empty() || touches_anything(o) ||
           std::any_of(o.ranges.begin(), o.ranges.end(),
                       [&](const trace::byte_range& r) { return memory_.contains(r.allocation); });
  }

  const evidence& e_;
  const number stream_;
  std::set<number> memory_;
  std::vector<place> places_;     // by operation
  std::map<place, number> last_;  // of such work
};

}  // namespace

record_places::record_places(const evidence& e)
    : e_(e), stands_for_(e.p.tasks.size(), standing::nothing), timed_(timed_records(e.t)) {
  for (const std::vector<step>& steps : e.p.threads) {
    for (const step& s : steps) {
      for (const host_wait& w : {s.first, s.last})
        if (w.scope == wait_scope::operation) stands_for_[w.target] = standing::seen;
    }
  }
  for (const task& one : e.p.tasks)
    if (one.record < stands_for_.size()) stands_for_[one.record] = standing::all;
  for (number i = 0; i < timed_.size(); ++i)
    if (timed_[i]) stands_for_[i] = standing::all;
}

std::vector<moved_record> record_places::place(
    number stream, const std::vector<number>& records,
    const std::vector<std::vector<number>>& groups) const {
  std::vector<moved_record> result;
  if (records.empty()) return result;
  const uses_elsewhere elsewhere(e_, stream, groups);
  std::map<number, std::size_t> group_of;
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const number o : groups[i]) group_of[o] = i;
  for (const number record : records) {
    const auto next = group_of.upper_bound(record);
    moved_record moved{.record = record,
                       .group = (next == group_of.begin() ? next : std::prev(next))->second};
    const standing kind = stands_for_[record];
    const bool all = kind == standing::all || elsewhere.may_follow(record);
    const auto counts = [&](number o) { return all || touches_host(e_.t, e_.t.operations[o]); };
    for (std::size_t i = 0; i < groups.size() && kind != standing::nothing; ++i) {
      if (i == moved.group) continue;
      const auto behind = std::upper_bound(groups[i].begin(), groups[i].end(), record);
      const auto last = std::find_if(std::make_reverse_iterator(behind), groups[i].rend(), counts);
      if (last != groups[i].rend()) moved.behind.push_back(*last);
      if (timed_[record] && behind != groups[i].end()) moved.in_front_of.push_back(*behind);
    }
    result.push_back(std::move(moved));
  }
  return result;
}

}  // namespace sb::analysis
