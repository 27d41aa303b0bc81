// Waits for events that order nothing that the data needs. A wait is needless when everything that
// meets in memory, and is ordered with the wait, is ordered without it: by its stream, by other
// waits or by the host. A line's waits are left out together; where some are needed, those that can
// be told from them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/rules/rules.hpp"
#include "analysis/rules/wait_windows.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

constexpr std::size_t most_told = 3;
constexpr std::size_t most_checks = 32;  // of an order of all operations
constexpr std::size_t most_turns = 4;    // of which one is told from the others

std::vector<held_operation> held_by_records(const trace::trace& t) {
  std::vector<held_operation> held;
  for (const held_operation& h : held_by(t, trace::wait_cause::event)) {
    const trace::operation& o = t.operations[h.operation];
    if (o.kind == trace::operation_kind::event_wait && o.record != none) held.push_back(h);
  }
  return held;
}

// What tells some of a line's waits from the others, the plainest first.
enum class told_by : std::uint8_t { streams, event, next, turn };

class needless_search {
 public:
  explicit needless_search(const evidence& e) : e_(e), t_(e.t), order_(e.t, e.p), changed_(e.p) {
    for (const held_operation& h : held_by_records(t_)) held_[h.operation] = h.time;
  }
  [[nodiscard]] std::vector<needless_part> find();

 private:
  [[nodiscard]] std::vector<wait_line> lines() const;
  [[nodiscard]] bool leave_out(const std::vector<number>& waits);
  struct alike;
  [[nodiscard]] std::vector<alike> not_needed(const std::vector<wait_window>& windows, told_by what,
                                              std::size_t turns) const;
  bool leave_out_some(const wait_line& l, const std::vector<wait_window>& windows, told_by what,
                      std::size_t turns);
  [[nodiscard]] std::vector<std::size_t> key_of(const wait_window& w, told_by what) const;
  [[nodiscard]] std::string words_of(const wait_window& w, told_by what, std::size_t turns,
                                     std::size_t turn) const;

  const evidence& e_;
  const trace::trace& t_;
  const wait_windows order_;
  std::map<number, nanoseconds> held_;
  program changed_;
  std::vector<needless_part> found_;
  std::size_t checks_ = 0;
};

std::vector<wait_line> needless_search::lines() const {
  return longest_lines(t_, [&](number wait) -> std::optional<nanoseconds> {
    const auto h = held_.find(wait);
    return h != held_.end() ? h->second : 0;
  });
}

// Where everything that meets in memory keeps its order without them.
bool needless_search::leave_out(const std::vector<number>& waits) {
  if (++checks_ > most_checks) return false;
  program less = changed_;
  for (const number wait : waits) less.tasks[wait].record = none;
  if (!order_.keep_order(less)) return false;
  changed_ = std::move(less);
  return true;
}

std::vector<std::size_t> needless_search::key_of(const wait_window& w, told_by what) const {
  const number record = e_.p.tasks[w.wait].record;
  if (record == none) return {};
  std::vector<std::size_t> key{t_.operations[w.wait].stream, t_.operations[record].stream,
                               place_of(t_, record)};
  const number next = w.behind.empty() ? none : w.behind.front();
  if (what == told_by::event) key.push_back(t_.operations[record].event);
  if (what == told_by::next && next != none)
    key.insert(key.end(), {place_of(t_, next), t_.operations[next].name});
  return key;
}

std::string needless_search::words_of(const wait_window& w, told_by what, std::size_t turns,
                                      std::size_t turn) const {
  const number record = e_.p.tasks[w.wait].record;
  const std::string streams =
      fmt::format("{} waits for {}", stream_name(t_, t_.operations[w.wait].stream),
                  name_with_stream(t_, record) + place_in_brackets(t_, record));
  switch (what) {
    case told_by::streams:
    case told_by::event:
      return "where " + streams;
    case told_by::next:
      if (w.behind.empty()) return fmt::format("where {} and is given nothing more then", streams);
      return fmt::format("where {} in front of {}{}", streams, name_of(t_, w.behind.front()),
                         place_in_brackets(t_, w.behind.front()));
    case told_by::turn:
      break;
  }
  return fmt::format("where {}: of each {} turns, number {}", streams, turns, turn + 1);
}

// Waits of a line that have something in common.
struct needless_search::alike {
  std::vector<const wait_window*> windows;
  nanoseconds held = 0;
  bool needed = false;
  std::size_t turn = 0;
};

std::vector<needless_search::alike> needless_search::not_needed(
    const std::vector<wait_window>& windows, told_by what, std::size_t turns) const {
  std::map<std::vector<std::size_t>, alike> all;
  std::map<std::vector<std::size_t>, std::size_t> seen;
  for (const wait_window& w : windows) {
    std::vector<std::size_t> key = key_of(w, what);
    if (key.empty()) continue;  // it waits for nothing
    const std::size_t turn = seen[key]++ % turns;
    key.push_back(turn);
    alike& a = all[key];
    a.windows.push_back(&w);
    a.turn = turn;
    a.needed |= w.free < w.behind.size();
    const auto h = held_.find(w.wait);
    if (h != held_.end() && !w.behind.empty()) a.held += h->second;
  }
  std::vector<alike> result;
  for (auto& [key, a] : all) {
    // What comes once is no turn.
    if (!a.needed && a.held > 0 && (what != told_by::turn || a.windows.size() > 1))
      result.push_back(std::move(a));
  }
  return result;
}

// Those of the line's waits that nothing needs until the next one, if something tells them from
// the others. True when there were any.
bool needless_search::leave_out_some(const wait_line& l, const std::vector<wait_window>& windows,
                                     told_by what, std::size_t turns) {
  std::vector<needless_part> parts;
  std::vector<number> all;
  for (const alike& a : not_needed(windows, what, turns)) {
    needless_part part{{}, l.waits.size(), words_of(*a.windows.front(), what, turns, a.turn)};
    for (const wait_window* w : a.windows) part.waits.push_back(w->wait);
    all.insert(all.end(), part.waits.begin(), part.waits.end());
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return false;
  const std::size_t before = found_.size();
  const bool together = leave_out(all);
  for (needless_part& part : parts) {
    if (together || (parts.size() > 1 && leave_out(part.waits))) found_.push_back(std::move(part));
  }
  return found_.size() > before;
}

std::vector<needless_part> needless_search::find() {
  std::vector<wait_line> some;
  for (wait_line& l : lines()) {
    if (leave_out(l.waits))
      found_.push_back({l.waits, l.waits.size(), ""});
    else if (l.waits.size() > 1)
      some.push_back(std::move(l));
  }
  for (const wait_line& l : some) {
    if (++checks_ > most_checks) break;
    const auto windows = order_.look(changed_, l.waits);
    if (!windows || std::all_of(windows->begin(), windows->end(),
                                [](const wait_window& w) { return w.free < w.behind.size(); }))
      continue;
    bool any = leave_out_some(l, *windows, told_by::streams, 1) ||
               leave_out_some(l, *windows, told_by::event, 1) ||
               leave_out_some(l, *windows, told_by::next, 1);
    for (std::size_t turns = 2; turns <= most_turns && !any; ++turns)
      any = leave_out_some(l, *windows, told_by::turn, turns);
  }
  return std::move(found_);
}

program without(const program& p, const std::vector<number>& waits) {
  program less = p;
  for (const number wait : waits) less.tasks[wait].record = none;
  return less;
}

}  // namespace

const std::vector<needless_part>& evidence::needless_parts() const {
  if (!parts_needless_) {
    const bool any = worth(total(held_by_records(t))) && can_be_followed(t, p);
    parts_needless_ = any ? needless_search(*this).find() : std::vector<needless_part>();
  }
  return *parts_needless_;
}

const std::vector<number>& evidence::needless_waits() const {
  if (!needless_) {
    needless_.emplace();
    for (const needless_part& part : needless_parts())
      needless_->insert(needless_->end(), part.waits.begin(), part.waits.end());
    std::sort(needless_->begin(), needless_->end());
  }
  return *needless_;
}

namespace {

// Says which of a line's waits are meant, where it is not all of them.
void name_parts(const evidence& e, finding& f, const std::vector<number>& waits) {
  std::size_t told = 0, more = 0;
  for (const needless_part& part : e.needless_parts()) {
    const bool meant = std::any_of(part.waits.begin(), part.waits.end(), [&](number wait) {
      return std::binary_search(waits.begin(), waits.end(), wait);
    });
    if (part.waits.size() == part.of || !meant) continue;
    if (told++ == 0) f.change += " Of a line that others need, only the waits that are named here.";
    if (told <= most_told)
      f.evidence.push_back(fmt::format("{} of {} waits of a line{}: {}", part.waits.size(), part.of,
                                       place_in_brackets(e.t, part.waits[0]), part.which));
    else
      more += part.waits.size();
  }
  if (more > 0) f.evidence.push_back(fmt::format("and {} of other streams or places", more));
}

}  // namespace

void find_needless_waits(const evidence& e, findings& out) {
  const trace::trace& t = e.t;
  std::vector<number> waits = e.needless_waits();
  if (waits.empty()) return;
  std::vector<held_operation> held = held_by_records(t);
  std::erase_if(held, [&](const held_operation& h) {
    return !std::binary_search(waits.begin(), waits.end(), h.operation);
  });

  nanoseconds cost = e.gain(without(e.p, waits));
  urgent_gain urgent;
  if (!e.worth(cost)) {
    // Without the others, too, all that meets in memory keeps its order.
    std::erase_if(
        held, [&](const held_operation& h) { return !is_more_urgent(t, h.operation, h.by.from); });
    waits = operations_of(held);
    urgent = gain_of_urgent(e, without(e.p, waits), held);
    if (urgent.operation == none) return;
    cost = urgent.time;
  }

  finding f;
  f.rule = "needless-event-wait";
  f.title = fmt::format("{} wait{} for an event that the data does not need", waits.size(),
                        waits.size() == 1 ? "" : "s");
  f.why =
      "Nothing in front of the event writes memory that is used behind the wait, and nothing "
      "behind "
      "the wait writes memory that is used in front of the event.";
  if (urgent.operation != none) f.why += words_of(t, urgent);
  f.change = "Leave out the cudaStreamWaitEvent.";
  f.cost = cost;
  add_operations(t, f, waits);
  describe(t, f, held);
  name_parts(e, f, waits);
  add_assumption_of_times(t, f);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
