// A stream of high priority that waits for one of lower priority.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/rules/rules.hpp"
#include "analysis/rules/stream_lists.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

nanoseconds last_end(const timing& t, const std::vector<number>& operations) {
  nanoseconds last = 0;
  for (const number o : operations) {
    if (t.operations[o].ended != never) last = std::max(last, t.operations[o].ended);
  }
  return last;
}

constexpr std::size_t far = 256;          // operations looked at on either side
constexpr std::size_t most_waits = 1000;  // looked at

bool is_work(const trace::operation& o) { return o.engine != trace::engine_kind::none; }

// A kernel without pointers uses no memory: one that may reach any is marked so.
bool is_known(const trace::operation& o) {
  const bool has_list = !o.ranges.empty() || o.kind == trace::operation_kind::kernel;
  return has_list && !touches_anything(o);
}

// Of the work in front of a record, what the stream behind a wait for it needs, directly or by way
// of other work of these; the last first. None when it needs all of it, or nobody knows.
struct needed_work {
  std::vector<number> operations;
  number limit = none;  // the operations up to this one were not looked at
};

needed_work needed_behind(const trace::trace& t, const stream_lists& lists, number wait) {
  const number record = t.operations[wait].record;
  const std::vector<number>& theirs = lists.of[t.operations[record].stream];
  const std::vector<number>& ours = lists.of[t.operations[wait].stream];
  std::vector<number> users;
  for (std::size_t k = lists.at[wait] + 1; k < std::min(ours.size(), lists.at[wait] + far); ++k) {
    const trace::operation& o = t.operations[ours[k]];
    if (!is_work(o)) continue;
    if (!is_known(o) || o.in_graph) return {};
    users.push_back(ours[k]);
  }
  needed_work found;
  bool others = false;
  const std::size_t end = lists.at[record];
  for (std::size_t i = end; i-- > 0;) {
    if (end - i >= far) {
      found.limit = theirs[i];
      break;
    }
    const trace::operation& before = t.operations[theirs[i]];
    if (!is_work(before)) continue;
    if (!is_known(before) || before.in_graph) return {};
    if (std::any_of(users.begin(), users.end(), [&](number user) {
          return share_data(before, t.operations[user], data_view::careful);
        })) {
      found.operations.push_back(theirs[i]);
      users.push_back(theirs[i]);
    } else {
      others = true;
    }
  }
  return others ? found : needed_work{};
}

// The work goes to the stream that needs it. What was behind it in its own comes behind it still,
// and it comes behind what its own stream had waited for.
void move_to_user(const trace::trace& t, const stream_lists& lists, program& p, number wait,
                  const needed_work& needed) {
  const std::vector<number>& theirs = lists.of[t.operations[t.operations[wait].record].stream];
  for (const number one : needed.operations) {
    task& moved = p.tasks[one];
    if (moved.stream == t.operations[wait].stream) continue;  // for an earlier wait
    if (needed.limit != none) moved.after.push_back(needed.limit);
    for (std::size_t i = lists.at[one]; i-- > 0 && lists.at[one] - i < far;) {
      if (t.operations[theirs[i]].kind != trace::operation_kind::event_wait) continue;
      moved.after.push_back(theirs[i]);
      break;
    }
    for (std::size_t i = lists.at[one] + 1; i < theirs.size(); ++i) {
      task& behind = p.tasks[theirs[i]];
      if (!is_work(t.operations[theirs[i]]) || behind.stream == t.operations[wait].stream) continue;
      behind.after.push_back(one);
      break;
    }
    moved.stream = t.operations[wait].stream;
    moved.what.priority = static_cast<std::int8_t>(
        std::min<std::int32_t>(moved.what.priority, t.streams[moved.stream].priority));
  }
  p.tasks[wait].record = none;
}

// The last record of a stream that another one waits for, also where that holds nothing now: what
// its stream is given later comes sooner when what holds it does. 0: none.
number last_awaited(const trace::trace& t, number stream, number waits) {
  number last = 0;
  for (const trace::operation& o : t.operations) {
    if (o.kind == trace::operation_kind::event_wait && o.stream == waits && o.record != none &&
        t.operations[o.record].stream == stream)
      last = std::max(last, o.record);
  }
  return last;
}

// "kernel make (turns.cu:31), 8 times, and kernel fill (turns.cu:28)": by line.
std::string words_of_moved(const trace::trace& t, const std::set<number>& operations) {
  constexpr std::size_t most = 4;
  std::vector<std::pair<std::string, std::size_t>> lines;
  for (const number o : operations) {
    std::string words = name_of(t, o) + place_in_brackets(t, o);
    const auto same = std::find_if(lines.begin(), lines.end(),
                                   [&](const auto& line) { return line.first == words; });
    if (same != lines.end())
      ++same->second;
    else
      lines.emplace_back(std::move(words), 1);
  }
  std::string all;
  for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) {
    const auto& [words, times] = lines[i];
    const bool last = i + 1 == lines.size();
    all += i == 0 ? "" : last ? " and " : ", ";
    all += times == 1 ? words : fmt::format("{}, {} times{}", words, times, last ? "" : ",");
  }
  if (lines.size() > most) all += fmt::format(" and work of {} more lines", lines.size() - most);
  return all;
}

// Streams that differ in nothing but their priority.
bool are_alike(const trace::trace& t, number a, number b) {
  return t.streams[a].kind == t.streams[b].kind && t.streams[a].device == t.streams[b].device;
}

}  // namespace

void find_priority_inversion(const evidence& e, findings& out) {
  std::vector<held_operation> held;
  program changed = e.p;
  std::set<number> urgent_streams;
  std::optional<stream_lists> lists;
  std::set<number> moved;
  std::size_t moves = 0;
  bool raised = false, queues = false, copies = false;
  std::vector<step_place> places = issuers(changed);
  const auto priority = [&](number operation) {
    return e.t.streams[e.t.operations[operation].stream].priority;
  };
  const auto needed_by = [&](number wait) -> needed_work {
    const trace::operation& o = e.t.operations[wait];
    if (o.kind != trace::operation_kind::event_wait || o.record == none || moves >= most_waits ||
        e.t.operations[o.record].stream >= e.t.streams.size() ||
        !are_alike(e.t, o.stream, e.t.operations[o.record].stream)) {
      return {};
    }
    if (!lists) lists.emplace(e.t);
    return needed_behind(e.t, *lists, wait);
  };
  for (const trace::wait_cause cause :
       {trace::wait_cause::event, trace::wait_cause::queue_head, trace::wait_cause::engine_busy}) {
    for (const held_operation& h : held_by(e.t, cause)) {
      const trace::operation &o = e.t.operations[h.operation], &by = e.t.operations[h.by.from];
      if (o.stream == by.stream || !is_more_urgent(e.t, h.operation, h.by.from)) continue;
      // No priority is to be given to what need not be waited for; another rule tells of that.
      if (cause == trace::wait_cause::event &&
          std::binary_search(e.needless_waits().begin(), e.needless_waits().end(), h.operation))
        continue;
      if (cause == trace::wait_cause::queue_head) {
        set_connections(changed, 32);
        queues = true;
      } else if (cause == trace::wait_cause::engine_busy) {
        // An engine takes copies of any priority as they come.
        if (!issue_before(changed, places, h.operation, h.by.from)) continue;
        copies = true;
      } else if (needed_work needed = needed_by(h.operation); !needed.operations.empty()) {
        // What it needs stands behind work that it does not need, which no priority changes.
        if (moves++ == 0) keep_data_order(e.t, changed, allocation_parts());
        move_to_user(e.t, *lists, changed, h.operation, needed);
        moved.insert(needed.operations.begin(), needed.operations.end());
      } else {
        raised = true;
        const number last = std::max(h.by.from, last_awaited(e.t, by.stream, o.stream));
        for (number i = 0; i < changed.tasks.size(); ++i) {
          task& t = changed.tasks[i];
          if (t.stream == by.stream && i <= last) {
            t.what.priority = static_cast<std::int8_t>(
                std::min<std::int32_t>(t.what.priority, priority(h.operation)));
          }
        }
      }
      urgent_streams.insert(o.stream);
      held.push_back(h);
    }
  }
  if (held.empty()) return;
  std::vector<number> urgent;
  for (number i = 0; i < e.t.operations.size(); ++i) {
    if (urgent_streams.contains(e.t.operations[i].stream)) urgent.push_back(i);
  }
  // What a priority is for is not the end of the run but that of the urgent work.
  const timing without = replay(changed);
  const nanoseconds now = last_end(e.base, urgent), then = last_end(without, urgent);
  if (without.hung || then >= now || !e.worth(now - then)) return;

  finding f;
  f.rule = "priority-inversion";
  f.title = "Work of high priority waits for work of lower priority";
  f.why = fmt::format(
      "A priority counts only among kernels that could start. Here the urgent stream waits for "
      "another one that gets its turn late; without that its last operation would end {} earlier.",
      text_of_time(now - then));
  if (raised) f.change += "Give the work that the urgent stream waits for the same priority. ";
  if (!moved.empty())
    f.change += fmt::format(
        "In its stream the work that the urgent one waits for, directly or by way of other such "
        "work, comes behind work that the urgent stream does not need: issue {} in the urgent "
        "stream, or in one of its own with that priority. ",
        words_of_moved(e.t, moved));
  if (queues)
    f.change += "Use as many connections as streams, so that they share no hardware queue. ";
  if (copies)
    f.change +=
        "Copies have no priorities: issue the urgent one before the long one in the same "
        "direction. ";
  f.change.pop_back();
  f.cost = now - then;
  add_operations(e.t, f, operations_of(held));
  describe(e.t, f, held);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
