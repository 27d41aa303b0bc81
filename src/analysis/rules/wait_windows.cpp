#include "analysis/rules/wait_windows.hpp"

#include <algorithm>
#include <map>

#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

constexpr std::size_t far = 256;  // calls that a wait is moved over

// The host waits for all of the stream, be it among others.
bool waits_for_stream(const program& p, const host_wait& w, number stream) {
  switch (w.scope) {
    case wait_scope::stream:
      return w.target == stream || p.streams[w.target].kind == stream_kind::legacy;
    case wait_scope::device:
      return w.target == p.streams[stream].device;
    case wait_scope::nothing:
    case wait_scope::operation:
      break;
  }
  return false;
}

}  // namespace

wait_windows::wait_windows(const trace::trace& t, const program& p)
    : t_(t), p_(p), as_it_is_(t, p), places_(issuers(p)) {}

wait_window wait_windows::window_of(number wait) const {
  wait_window w{.wait = wait, .behind = {}};
  const trace::operation& o = t_.operations[wait];
  const step_place at = places_[wait];
  const std::vector<step>& steps = p_.threads[at.thread];
  const step& own = steps[at.index];
  const number record = p_.tasks[wait].record;
  const number event = record == none ? o.event : t_.operations[record].event;
  if (event == none || own.issues.size() != 1 || !own.pauses.empty()) return w;
  const auto ends = [&](const step& s) {
    if (waits_for_stream(p_, s.first, o.stream) || waits_for_stream(p_, s.last, o.stream))
      return true;
    return std::any_of(s.issues.begin(), s.issues.end(), [&](const issue& i) {
      const trace::operation& other = t_.operations[i.operation];
      if (other.kind == trace::operation_kind::event_record) return other.event == event;
      return other.kind == trace::operation_kind::event_wait && other.stream == o.stream &&
             place_of(t_, i.operation) == place_of(t_, wait);
    });
  };
  const std::size_t end = std::min(steps.size(), at.index + far);
  for (std::size_t i = at.index + 1; i < end && !ends(steps[i]); ++i) {
    for (const issue& k : steps[i].issues) {
      const trace::operation& other = t_.operations[k.operation];
      if (other.stream == o.stream && other.kind != trace::operation_kind::event_wait)
        w.behind.push_back(k.operation);
    }
  }
  w.free = w.behind.size();
  return w;
}

std::optional<std::vector<wait_window>> wait_windows::look(const program& less,
                                                           const std::vector<number>& waits) const {
  std::vector<wait_window> windows;
  std::map<number, std::vector<std::size_t>> of_stream;  // windows, in their order
  std::vector<moved_wait> moves;
  for (const number wait : waits) {
    of_stream[t_.operations[wait].stream].push_back(windows.size());
    windows.push_back(window_of(wait));
    if (!windows.back().behind.empty()) moves.push_back({wait, windows.back().behind.back()});
  }
  program changed = less;
  move_waits(changed, moves);
  // What came behind `earlier` by way of a wait needs that in front of the last operation of the
  // wait's stream that it comes behind, or of itself. Windows of a stream do not overlap.
  const auto limit = [&](const lost_order& lost) {
    for (const auto& [stream, list] : of_stream) {
      const bool own = lost.later != none && t_.operations[lost.later].stream == stream;
      const std::uint32_t last = own ? as_it_is_.place(lost.later) : lost.known[stream];
      const auto next = std::partition_point(list.begin(), list.end(), [&](std::size_t i) {
        return as_it_is_.place(windows[i].wait) < last;
      });
      if (next == list.begin()) continue;
      wait_window& w = windows[*(next - 1)];
      if (as_it_is_.before(w.wait)[t_.operations[lost.earlier].stream] <
          as_it_is_.place(lost.earlier))
        continue;
      w.free = std::min<std::size_t>(w.free, last - as_it_is_.place(w.wait) - 1);
    }
    return true;
  };
  if (!for_each_lost(t_, allocation_parts(), as_it_is_, device_order(t_, changed), limit))
    return std::nullopt;
  return windows;
}

bool wait_windows::keep_order(const program& changed) const {
  return keeps_order(t_, allocation_parts(), as_it_is_, device_order(t_, changed));
}

}  // namespace sb::analysis
