#include "analysis/timed_records.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "analysis/call_rules.hpp"
#include "analysis/device_order.hpp"

namespace sb::analysis {

namespace {

bool reads_time(const trace::call& c) { return c.name.starts_with("cudaEventElapsedTime"); }

bool waits(const step& s) {
  return s.first.scope != wait_scope::nothing || s.last.scope != wait_scope::nothing;
}

bool asks_to_wait(const trace::call& c) {
  const call_class kind = class_of(c.name);
  return kind == call_class::event_wait || kind == call_class::stream_wait;
}

// Counts the records that calls could have read, from one call on to the next.
class unread_records {
 public:
  unread_records(const trace::trace& t, const device_order& order)
      : t_(t), order_(order), timed_(timed_records(t)) {}

  // What was recorded before is not read any more.
  void add(number operation, const device_order::positions& known) {
    if (!timed_[operation]) return;
    if (reads_ > 0) close();
    fresh_[t_.operations[operation].event] = operation;
    const device_order::positions& before = order_.before(operation);
    if (std::equal(before.begin(), before.end(), known.begin(), std::less_equal<>()))
      at_once_.push_back(operation);
  }

  // The host waits for something that is over already, and a trace does not say for what. A record
  // that has nothing in front of it any more is over at once: such a wait is enough for it.
  void wait_for_nothing() {
    over_.insert(at_once_.begin(), at_once_.end());
    at_once_.clear();
  }

  // Calls that follow each other without a record between them read at most as many pairs as there
  // are records, less one, or else one of them is told by the others. False where there are more:
  // one may read an event that a stream waits for.
  [[nodiscard]] bool read(const device_order::positions& known) {
    ++reads_;
    const auto is_over = [&](const auto& one) {
      return known[t_.operations[one.second].stream] >= order_.place(one.second) ||
             over_.contains(one.second);
    };
    const auto over =
        static_cast<std::size_t>(std::count_if(fresh_.begin(), fresh_.end(), is_over));
    return reads_ < over + unread_;
  }

 private:
  // A call reads two records: what goes beyond that was not read yet, as the beginning of an
  // interval that goes on.
  void close() {
    const std::size_t all = fresh_.size() + unread_;
    unread_ = all - std::min(all, 2 * reads_);
    fresh_.clear();
    reads_ = 0;
  }

  const trace::trace& t_;
  const device_order& order_;
  const std::vector<bool> timed_;
  std::map<number, number> fresh_;  // by event: its last record since the calls before
  std::vector<number> at_once_;     // records that are over as soon as they are there
  std::set<number> over_;           // of these, those that the host waited for
  std::size_t unread_ = 0, reads_ = 0;
};

}  // namespace

bool reads_times(const trace::trace& t) {
  return std::any_of(t.calls.begin(), t.calls.end(), reads_time);
}

std::vector<bool> timed_records(const trace::trace& t) {
  std::vector<bool> timed(t.operations.size(), false);
  if (!reads_times(t)) return timed;
  std::set<number> waited;  // events for which a stream waits
  for (const trace::operation& o : t.operations) {
    if (o.kind != trace::operation_kind::event_wait) continue;
    waited.insert(o.event);
    if (o.record < t.operations.size()) waited.insert(t.operations[o.record].event);
  }
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    timed[i] = o.kind == trace::operation_kind::event_record && !waited.contains(o.event);
  }
  return timed;
}

bool times_can_be_followed(const trace::trace& t, const program& p) {
  if (!reads_times(t)) return true;
  const device_order order(t, p);
  unread_records unread(t, order);
  device_order::positions known(t.streams.size(), 0);
  std::size_t waited = 0;
  for (const std::vector<step>& steps : p.threads) {
    for (const step& s : steps) {
      for (const issue& i : s.issues) unread.add(i.operation, known);
      if (waits(s)) known = order.host()[waited++];
      if (s.call == none) continue;
      if (!waits(s) && asks_to_wait(t.calls[s.call])) unread.wait_for_nothing();
      if (!reads_time(t.calls[s.call])) continue;
      if (t.calls[s.call].status != 0 || !unread.read(known)) return false;
    }
  }
  return true;
}

}  // namespace sb::analysis
