// Waits for events that stand too early in their stream: between the wait and the first operation
// that needs it there is work that does not, and is held all the same. The call of the wait is
// moved behind that work, at all turns of its line alike, and what that gains is the cost.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/plural.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/rules/wait_windows.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

constexpr std::size_t most_places = 8, most_told = 3;
constexpr std::size_t most_checks = 32;  // of an order of all operations

// The waits of a line, or those of it with which one stream waits for one place of another.
struct early_wait {
  std::vector<wait_window> windows;  // of the waits that can be moved
  std::vector<moved_wait> moves;
  std::size_t of = 0;     // waits of the line
  nanoseconds held = 0;   // by them, all waits together
  number longest = none;  // which held longest
};

std::map<number, held_operation> held_waits(const trace::trace& t) {
  std::map<number, held_operation> held;
  for (const held_operation& h : held_by(t, trace::wait_cause::event)) {
    if (t.operations[h.operation].kind == trace::operation_kind::event_wait)
      held.emplace(h.operation, h);
  }
  return held;
}

class early_waits {
 public:
  explicit early_waits(const evidence& e)
      : e_(e), t_(e.t), held_(held_waits(e.t)), order_(e.t, e.p), less_(e.p) {
    for (const number wait : e.needless_waits()) less_.tasks[wait].record = none;
  }

  [[nodiscard]] std::vector<early_wait> find();
  [[nodiscard]] program moved(const program& from, const std::vector<early_wait>& lines) const;
  // The lines whose waits hold work that is more urgent than what they wait for, and these.
  [[nodiscard]] std::vector<early_wait> of_urgent_streams(const std::vector<early_wait>& lines,
                                                          std::vector<held_operation>& held) const;

 private:
  [[nodiscard]] std::vector<wait_line> lines() const;
  [[nodiscard]] bool add(std::vector<early_wait>& found, std::vector<wait_window> windows,
                         std::size_t of);
  [[nodiscard]] bool place_behind(early_wait& line, number place) const;
  [[nodiscard]] bool count_behind(early_wait& line, std::size_t at, number place) const;
  [[nodiscard]] bool holds_work(const wait_window& w, std::size_t until) const;

  const evidence& e_;
  const trace::trace& t_;
  const std::map<number, held_operation> held_;
  const wait_windows order_;
  program less_;  // without the waits that nothing needs
  std::size_t checks_ = 0;
};

// But for the waits that nothing needs.
std::vector<wait_line> early_waits::lines() const {
  const std::vector<number>& needless = e_.needless_waits();
  return longest_lines(t_, [&](number wait) -> std::optional<nanoseconds> {
    if (std::binary_search(needless.begin(), needless.end(), wait)) return std::nullopt;
    const auto h = held_.find(wait);
    return h != held_.end() ? h->second.time : 0;
  });
}

bool early_waits::holds_work(const wait_window& w, std::size_t until) const {
  return std::any_of(w.behind.begin(), w.behind.begin() + static_cast<std::ptrdiff_t>(until),
                     [&](number o) { return e_.p.tasks[o].duration > 0; });
}

// Each wait goes behind the last operation of that place that follows it. None may be among what
// needs the wait, and none of the waits may be without.
bool early_waits::place_behind(early_wait& line, number place) const {
  line.moves.clear();
  for (const wait_window& w : line.windows) {
    if (w.behind.empty()) continue;  // nothing that it could be moved over
    const auto last = std::find_if(w.behind.rbegin(), w.behind.rend(),
                                   [&](number o) { return place_of(t_, o) == place; });
    if (last == w.behind.rend() || static_cast<std::size_t>(w.behind.rend() - last) > w.free)
      return false;
    line.moves.push_back({w.wait, *last});
  }
  return true;
}

// The same where one line of the program issues what needs the wait and what does not: each wait
// goes behind the operation of that number that follows it, which is from the same place each time.
bool early_waits::count_behind(early_wait& line, std::size_t at, number place) const {
  line.moves.clear();
  for (const wait_window& w : line.windows) {
    if (w.behind.empty()) continue;
    if (at >= w.free || place_of(t_, w.behind[at]) != place) return false;
    line.moves.push_back({w.wait, w.behind[at]});
  }
  return true;
}

// True where there is a place behind which all of these waits can stand.
bool early_waits::add(std::vector<early_wait>& found, std::vector<wait_window> windows,
                      std::size_t of) {
  early_wait line{.windows = std::move(windows), .moves = {}, .of = of};
  const wait_window* longest = nullptr;
  nanoseconds most = 0;
  for (const wait_window& w : line.windows) {
    const auto h = held_.find(w.wait);
    if (h == held_.end() || !holds_work(w, w.free)) continue;
    line.held += h->second.time;
    if (h->second.time <= most) continue;
    most = h->second.time;
    longest = &w;
  }
  if (longest == nullptr) return false;
  line.longest = longest->wait;
  std::set<number> tried;
  for (std::size_t i = longest->free; i-- > 0 && tried.size() < most_places;) {
    if (!holds_work(*longest, i + 1)) break;
    const number place = place_of(t_, longest->behind[i]);
    const bool is_new = tried.insert(place).second;
    if (!(is_new && place != none && place_behind(line, place)) && !count_behind(line, i, place))
      continue;
    if (++checks_ > most_checks) return false;
    found.push_back(std::move(line));
    if (order_.keep_order(moved(less_, found))) return true;
    found.pop_back();
    return false;
  }
  return false;
}

std::vector<early_wait> early_waits::find() {
  std::vector<early_wait> found;
  for (const wait_line& l : lines()) {
    if (++checks_ > most_checks) break;
    const auto windows = order_.look(moved(less_, found), l.waits);
    if (!windows || add(found, *windows, l.of)) continue;
    // One line may do the waits of several streams, or for several places.
    std::map<std::tuple<number, number, number>, std::vector<wait_window>> parts;
    for (const wait_window& w : *windows) {
      const number record = e_.p.tasks[w.wait].record;
      if (record == none) continue;
      parts[{place_of(t_, record), t_.operations[record].stream, t_.operations[w.wait].stream}]
          .push_back(w);
    }
    if (parts.size() < 2) continue;
    for (auto& [key, part] : parts) (void)add(found, std::move(part), l.of);
  }
  return found;
}

program early_waits::moved(const program& from, const std::vector<early_wait>& lines) const {
  std::vector<moved_wait> moves;
  for (const early_wait& line : lines)
    moves.insert(moves.end(), line.moves.begin(), line.moves.end());
  // Waits that come behind the same operation keep their order.
  std::sort(moves.begin(), moves.end(),
            [](const moved_wait& a, const moved_wait& b) { return a.wait < b.wait; });
  program changed = from;
  move_waits(changed, moves);
  return changed;
}

std::vector<early_wait> early_waits::of_urgent_streams(const std::vector<early_wait>& lines,
                                                       std::vector<held_operation>& held) const {
  std::vector<early_wait> result;
  for (const early_wait& line : lines) {
    bool urgent = true;
    for (const moved_wait& m : line.moves) {
      const auto h = held_.find(m.wait);
      if (h == held_.end()) continue;
      urgent = urgent && is_more_urgent(t_, m.wait, h->second.by.from);
      if (urgent) held.push_back(h->second);
    }
    if (urgent) result.push_back(line);
  }
  return result;
}

// Lines without which as much is gained are left out: what others hold as well.
nanoseconds keep_what_gains(const evidence& e, const early_waits& early,
                            std::vector<early_wait>& lines) {
  nanoseconds cost = e.gain(early.moved(e.p, lines));
  for (std::size_t i = lines.size(); i-- > 0 && lines.size() > 1;) {
    std::vector<early_wait> others = lines;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const nanoseconds gain = e.gain(early.moved(e.p, others));
    if (gain < cost) continue;
    cost = gain;
    lines = std::move(others);
  }
  return cost;
}

const moved_wait& longest_of(const early_wait& line) {
  return *std::find_if(line.moves.begin(), line.moves.end(),
                       [&](const moved_wait& m) { return m.wait == line.longest; });
}

const wait_window& window_of(const early_wait& line) {
  return *std::find_if(line.windows.begin(), line.windows.end(),
                       [&](const wait_window& one) { return one.wait == line.longest; });
}

// Tells it from others of its line, where not all of that place are meant.
std::string which_of(const trace::trace& t, const wait_window& w, number behind) {
  const auto same = [&](number o) { return place_of(t, o) == place_of(t, behind); };
  const auto end = std::find(w.behind.begin(), w.behind.end(), behind) + 1;
  const auto first = std::count_if(w.behind.begin(), end, same);
  if (std::none_of(end, w.behind.end(), same) || place_of(t, behind) == none) return "";
  return fmt::format("operation {} of those that follow from one line, ", first);
}

std::string change_of(const evidence& e, const early_wait& line) {
  const trace::trace& t = e.t;
  const moved_wait& m = longest_of(line);
  const number record = e.p.tasks[m.wait].record;
  std::string which;
  if (line.windows.size() < line.of)
    which = fmt::format(", where {} waits for the event that {} records{},",
                        stream_name(t, t.operations[m.wait].stream),
                        stream_name(t, t.operations[record].stream), place_in_brackets(t, record));
  return fmt::format("Call this cudaStreamWaitEvent{}{} behind {}{}{}.",
                     place_in_brackets(t, m.wait), which, which_of(t, window_of(line), m.behind),
                     name_of(t, m.behind), place_in_brackets(t, m.behind));
}

std::string evidence_of(const evidence& e, const early_wait& line) {
  const trace::trace& t = e.t;
  const wait_window& w = window_of(line);
  const number first = *std::find_if(w.behind.begin(), w.behind.end(),
                                     [&](number o) { return e.p.tasks[o].duration > 0; });
  const std::string needs =
      w.free < w.behind.size()
          ? fmt::format("the first that needs it is {}{}", name_of(t, w.behind[w.free]),
                        place_in_brackets(t, w.behind[w.free]))
          : "nothing that follows in this turn needs it";
  const std::string waits = line.windows.size() < line.of
                                ? fmt::format("{} of {} waits", line.windows.size(), line.of)
                                : plural(line.windows.size(), "wait");
  return fmt::format("{}{}, {} in all: {} stood behind {}; {}", waits,
                     place_in_brackets(t, line.longest), text_of_time(line.held),
                     name_with_stream(t, first), line.windows.size() == 1 ? "it" : "one", needs);
}

}  // namespace

void find_early_waits(const evidence& e, findings& out) {
  const trace::trace& t = e.t;
  if (!e.worth(total(held_by(t, trace::wait_cause::event))) || !can_be_followed(t, e.p)) return;
  early_waits early(e);
  const std::vector<early_wait> all = early.find();
  if (all.empty()) return;
  std::vector<early_wait> lines = all;
  nanoseconds cost = keep_what_gains(e, early, lines);
  urgent_gain urgent;
  if (!e.worth(cost)) {
    std::vector<held_operation> held;
    lines = early.of_urgent_streams(all, held);
    if (lines.empty()) return;
    urgent = gain_of_urgent(e, early.moved(e.p, lines), held);
    if (urgent.operation == none) return;
    cost = urgent.time;
  }

  finding f;
  f.rule = "early-event-wait";
  std::vector<number> waits;
  for (const early_wait& line : lines)
    for (const moved_wait& m : line.moves) waits.push_back(m.wait);
  f.title = fmt::format("{} for an event stand{} in front of work that does not need {}",
                        plural(waits.size(), "wait"), waits.size() == 1 ? "s" : "",
                        waits.size() == 1 ? "it" : "them");
  f.why =
      "A wait holds everything that comes behind it in its stream. Here work that uses other "
      "memory "
      "comes between the wait and the first operation that needs it.";
  if (urgent.operation != none) f.why += words_of(t, urgent);
  for (std::size_t i = 0; i < std::min(lines.size(), most_told); ++i) {
    if (i > 0) f.change += ' ';
    f.change += change_of(e, lines[i]);
    f.evidence.push_back(evidence_of(e, lines[i]));
  }
  f.cost = cost;
  add_operations(t, f, waits);
  add_assumption_of_times(t, f);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
