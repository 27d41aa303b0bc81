#include "analysis/rules/wait_windows.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/sort_stably.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

constexpr std::size_t far = 256;  // calls that a wait is moved over
constexpr std::size_t most_lines = 16;

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

std::vector<wait_line> longest_lines(
    const trace::trace& t, const std::function<std::optional<nanoseconds>(number)>& held_by) {
  std::map<std::pair<number, number>, wait_line> all;
  for (number i = 0; i < t.operations.size(); ++i) {
    if (t.operations[i].kind != trace::operation_kind::event_wait) continue;
    const number place = place_of(t, i);
    wait_line& line = all[{place, place == none ? i : none}];
    ++line.of;
    if (const std::optional<nanoseconds> held = held_by(i)) {
      line.held += *held;
      line.waits.push_back(i);
    }
  }
  std::vector<wait_line> lines;
  for (auto& [place, line] : all) {
    if (line.held > 0) lines.push_back(std::move(line));
  }
  sort_stably(lines, [](const wait_line& a, const wait_line& b) { return a.held > b.held; });
  if (lines.size() > most_lines) lines.resize(most_lines);
  return lines;
}

wait_windows::wait_windows(const trace::trace& t, const program& p)
    : t_(t), p_(p), as_it_is_(t, p), places_(issuers(p)), previous_(t.operations.size(), none) {
  std::vector<number> last(t.streams.size(), none);
  for (number i = 0; i < t.operations.size(); ++i)
    previous_[i] = std::exchange(last[t.operations[i].stream], i);
}

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
      return !w.behind.empty() && other.kind == trace::operation_kind::event_wait &&
             other.stream == o.stream && place_of(t_, i.operation) == place_of(t_, wait);
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

// The waits of a line, by stream: who made an order that is lost.
class wait_windows::providers {
 public:
  providers(const wait_windows& all, const std::vector<number>& waits) : all_(all), waits_(waits) {
    for (std::size_t i = 0; i < waits.size(); ++i)
      of_stream_[all.t_.operations[waits[i]].stream].push_back(i);
  }

  // What came behind `earlier` by way of a wait comes behind so many of the wait's stream, or is
  // the last of them. Of a stream's waits only the last in front of that count, and those right in
  // front of it: those before them stay in front of these.
  template <class Tell>
  void tell(const lost_order& lost, Tell tell) const {
    const device_order& order = all_.as_it_is_;
    for (const auto& [stream, list] : of_stream_) {
      const bool own = lost.later != none && all_.t_.operations[lost.later].stream == stream;
      const std::uint32_t last = own ? order.place(lost.later) : lost.known[stream];
      auto next = std::partition_point(
          list.begin(), list.end(), [&](std::size_t i) { return order.place(waits_[i]) < last; });
      if (next == list.begin()) continue;
      const std::uint32_t place = order.place(waits_[*(next - 1)]);
      while (next != list.begin() && order.place(waits_[*(next - 1)]) == place) {
        --next;
        if (all_.provides(waits_[*next], lost.earlier)) tell(*next, last);
      }
    }
  }

 private:
  const wait_windows& all_;
  const std::vector<number>& waits_;
  std::map<number, std::vector<std::size_t>> of_stream_;  // places in the list, in order
};

// An operation is in front of the record that is waited for.
bool wait_windows::provides(number wait, number earlier) const {
  const number record = p_.tasks[wait].record;
  return record != none &&
         as_it_is_.before(record)[t_.operations[earlier].stream] >= as_it_is_.place(earlier);
}

std::optional<std::vector<wait_window>> wait_windows::look(const program& less,
                                                           const std::vector<number>& waits) const {
  std::vector<wait_window> windows;
  std::vector<moved_wait> moves;
  for (const number wait : waits) {
    windows.push_back(window_of(wait));
    if (!windows.back().behind.empty()) moves.push_back({wait, windows.back().behind.back()});
  }
  program changed = less;
  move_waits(changed, moves);
  // The wait has to stand in front of the last operation of its stream that comes before what needs
  // it, or in front of that itself.
  const providers of(*this, waits);
  const auto limit = [&](const lost_order& lost) {
    of.tell(lost, [&](std::size_t i, std::uint32_t last) {
      wait_window& w = windows[i];
      w.free = std::min<std::size_t>(w.free, last - as_it_is_.place(w.wait) - 1);
    });
    return true;
  };
  if (!for_each_lost(t_, allocation_parts(), as_it_is_, device_order(t_, changed), limit))
    return std::nullopt;
  return windows;
}

// How much of the record's stream is over before the wait anyway, at least.
std::uint32_t wait_windows::known_before(number wait) const {
  const number before = previous_[wait], record = p_.tasks[wait].record;
  const std::uint32_t known =
      before == none ? 0 : as_it_is_.before(before)[t_.operations[record].stream];
  const std::uint32_t all = as_it_is_.place(record) - 1;
  return std::min(all, std::max(known, all - std::min<std::uint32_t>(all, far)));
}

std::vector<number> wait_windows::needed_by(const std::vector<number>& waits) const {
  program changed = p_;
  std::vector<std::uint32_t> needed;  // of the record's stream, in front of it
  for (const number wait : waits) {
    number& record = changed.tasks[wait].record;
    needed.push_back(record == none ? 0 : known_before(wait));
    if (record == none) continue;
    const std::vector<number>& theirs = as_it_is_.streams()[t_.operations[record].stream];
    record = needed.back() == 0 ? none : theirs[needed.back() - 1];
  }
  const std::vector<std::uint32_t> known = needed;
  const providers of(*this, waits);
  const auto add = [&](const lost_order& lost) {
    const number stream = t_.operations[lost.earlier].stream;
    const std::uint32_t place = as_it_is_.place(lost.earlier);
    of.tell(lost, [&](std::size_t i, std::uint32_t) {
      // The first of the record's stream with which it is over.
      const number record = p_.tasks[waits[i]].record, own = t_.operations[record].stream;
      const std::vector<number>& theirs = as_it_is_.streams()[own];
      const auto not_over = [&](number o) {
        return (stream == own ? as_it_is_.place(o) : as_it_is_.before(o)[stream]) < place;
      };
      if (needed[i] > 0 && !not_over(theirs[needed[i] - 1])) return;
      const auto first = std::partition_point(
          theirs.begin() + needed[i], theirs.begin() + as_it_is_.place(record) - 1, not_over);
      needed[i] = static_cast<std::uint32_t>(first - theirs.begin()) + 1;
    });
    return true;
  };
  std::vector<number> result(waits.size(), none);
  if (!for_each_lost(t_, allocation_parts(), as_it_is_, device_order(t_, changed), add))
    return result;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const number record = p_.tasks[waits[i]].record;
    if (record != none && needed[i] > known[i] && needed[i] < as_it_is_.place(record))
      result[i] = as_it_is_.streams()[t_.operations[record].stream][needed[i] - 1];
  }
  return result;
}

bool wait_windows::keep_order(const program& changed) const {
  return keeps_order(t_, allocation_parts(), as_it_is_, device_order(t_, changed));
}

}  // namespace sb::analysis
