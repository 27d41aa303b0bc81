// Calls in a loop that make the host wait: synchronisation and synchronous copies. Each line of a
// loop is changed alone; where several together gain more, they are one finding.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "analysis/events_instead.hpp"
#include "analysis/pinning.hpp"
#include "analysis/rules/lock_turns.hpp"
#include "analysis/rules/loop_lines.hpp"
#include "analysis/sort_stably.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

using lines = std::vector<const loop_line*>;

thread_loops loops_of(const lines& these) {
  thread_loops loops;
  for (const loop_line* l : these) loops.insert(loops.end(), l->loops.begin(), l->loops.end());
  return loops;
}

std::vector<number> calls_of(const program& p, const lines& these) {
  std::vector<number> calls;
  for (const repeated_call* r : loops_of(these)) {
    const std::vector<number> of_thread = calls_of(p, *r);
    calls.insert(calls.end(), of_thread.begin(), of_thread.end());
  }
  std::sort(calls.begin(), calls.end());
  return calls;
}

// A lock that they hold during calls gives their turns an order of its own: a thread that waits
// less may take several in a row, before the others have work of their own. False: where it is let
// go is not known.
bool take_turns_anew(const evidence& e, const lines& these, program& changed) {
  const thread_loops loops = loops_of(these);
  common_lock lock;
  for (const repeated_call* r : loops) lock.threads.insert(r->thread);
  for (const repeated_call* r : loops) {
    for (const step& s : e.p.threads[r->thread]) {
      for (const thread_pause& p : s.pauses) {
        if (!is_for_lock(p) || !lock.threads.contains(p.until.thread)) continue;
        if (p.until.calls == 0 || p.until.pauses != 0 || p.until.after != 0) return false;
        lock.taken.insert(site_of(e, s));
        lock.released.insert(site_of(e, e.p.threads[p.until.thread][p.until.calls - 1]));
      }
    }
  }
  if (!lock.taken.empty()) take_anew(e, lock, lets_go::behind, 0, changed);
  return true;
}

// The run without the waits of some lines.
struct trial {
  lines of;
  nanoseconds pinned_already = 0;  // what that gains where memory is pinned
  nanoseconds cost = 0;            // where it has to be
  assumes_parts parts = assumes_parts::no;
  changed_copies copies;
  pinning pins;
};

// Nothing: it gains nothing, or cannot be told.
std::optional<trial> without(const evidence& e, const lines& these) {
  program changed = e.p;
  if (!take_turns_anew(e, these, changed)) return std::nullopt;
  trial t;
  t.of = these;
  t.parts = keep_data_order(e.t, changed, e.parts());
  bool any_wait = false, any_copy = false;
  for (const loop_line* l : these) {
    const bool is_wait = l->what == loop_line::kind::wait;
    (is_wait ? any_wait : any_copy) = true;
    if (is_wait) wait_less(e, changed, *l);
  }
  for (const loop_line* l : these)
    if (l->what != loop_line::kind::wait) copy_less(e, changed, *l, t.copies);
  if (any_copy && t.copies.all.size() < 3) return std::nullopt;
  wait_before_reuse(e.t, changed, t.copies.asynchronous);
  add_events_instead(e.t, e.p, changed);
  if (any_wait) keep_pool_memory(e, changed, pool_waits::left);
  t.pinned_already = t.cost = e.gain(changed);
  if (!e.worth(t.cost)) return std::nullopt;
  if (!t.copies.pageable.empty()) {
    t.pins = pinning_of(e.t, t.copies.pageable);
    add_pinning(e.t, changed, t.copies.pageable);
    t.cost = e.gain(changed);
  }
  return t;
}

std::string of_threads(const loop_line& l) {
  return l.loops.size() == 1 ? "" : fmt::format(" of {} threads", l.loops.size());
}

std::string change_of(const evidence& e, const loop_line& l) {
  return l.what == loop_line::kind::wait ? change_of_waits(l.use) + words_of_clock(e, l)
                                         : change_of_copies(e, l);
}

std::string title_of(const loop_line& l) {
  const std::string begin = fmt::format("{}{} in a loop{}", l.first().name,
                                        l.polled ? " until the work is done," : "", of_threads(l));
  if (l.what != loop_line::kind::wait || l.use == host_use::none) return begin;
  return begin + (l.use == host_use::in_turn ? ", though its turns use other buffers"
                                             : ", for a result of each turn");
}

finding finding_of(const evidence& e, const trial& t) {
  const bool pays = e.worth(t.cost);
  finding f;
  add_loop(e, f, calls_of(e.p, t.of), pays ? t.cost : 0);
  add_assumption(f, t.parts);
  f.weight = pays ? severity::cost : severity::warning;
  f.rule = t.copies.all.empty() ? "wait-in-loop" : "synchronous-copy-in-loop";
  if (!t.copies.all.empty()) add_operations(e.t, f, t.copies.all);
  return f;
}

void add_words_of_pinning(const trial& t, finding& f) {
  if (t.copies.pageable.empty()) return;
  f.change += ' ' + (f.weight == severity::cost
                         ? words_of(t.pins, t.cost)
                         : words_of_use(t.pins, t.pinned_already, t.copies.all.size()));
}

finding finding_of_one(const evidence& e, const trial& t) {
  const loop_line& line = *t.of.front();
  finding f = finding_of(e, t);
  f.title = title_of(line);
  f.why = line.what == loop_line::kind::wait
              ? "The host waits in every turn, and the device then waits for the host to issue "
                "the next work."
              : "The call returns when the copy is done: the host issues nothing else meanwhile.";
  f.change = change_of(e, line);
  add_words_of_pinning(t, f);
  return f;
}

// "cudaStreamSynchronize (a.cu:12)"
std::string name_of(const evidence& e, const loop_line& l) {
  const std::string place = text_of_place_without_folders(e.t, l.first().place);
  return place.empty() ? l.first().name : fmt::format("{} ({})", l.first().name, place);
}

// `alone`: of the lines of `t`, in their order.
finding finding_of_several(const evidence& e, const trial& t,
                           const std::vector<const trial*>& alone) {
  finding f = finding_of(e, t);
  f.title =
      fmt::format("The host waits in {} lines of a loop{}", t.of.size(), of_threads(*t.of.front()));
  f.why =
      "The host waits several times in every turn, and the device then waits for the host to issue "
      "the next work. Without one of these waits the host waits at the next one.";
  std::vector<std::pair<std::string, std::string>> changes;  // what to do, and with which lines
  for (std::size_t i = 0; i < t.of.size(); ++i) {
    const std::string what = change_of(e, *t.of[i]), name = name_of(e, *t.of[i]);
    f.evidence.push_back(alone[i] != nullptr && e.worth(alone[i]->cost)
                             ? fmt::format("{}: alone {}", name, text_of_time(alone[i]->cost))
                             : fmt::format("{}: alone next to nothing", name));
    const auto same = std::find_if(changes.begin(), changes.end(),
                                   [&](const auto& c) { return c.first == what; });
    if (same == changes.end())
      changes.emplace_back(what, name);
    else
      same->second += ", " + name;
  }
  f.change = "Change them together.";
  for (const auto& [what, names] : changes) f.change += fmt::format(" {}: {}", names, what);
  add_words_of_pinning(t, f);
  return f;
}

// Their turns lie in one another.
bool share_a_loop(const loop_line& a, const loop_line& b) {
  return std::any_of(a.loops.begin(), a.loops.end(), [&](const repeated_call* x) {
    return std::any_of(b.loops.begin(), b.loops.end(), [&](const repeated_call* y) {
      return x->thread == y->thread && x->steps.front() < y->steps.back() &&
             y->steps.front() < x->steps.back();
    });
  });
}

// A line, and the run without its waits alone.
struct candidate {
  loop_line line;
  std::optional<trial> alone;
  bool is_told = false;

  [[nodiscard]] nanoseconds cost() const { return alone ? alone->cost : 0; }
};

// The host still gets all that it got before.
bool keeps_results(const loop_line& l) {
  return l.what != loop_line::kind::result && l.use != host_use::same_result;
}

constexpr std::size_t most_together = 32;

// Where this one and others of its loop gain more together than each of them alone: these, without
// those that add nothing.
std::optional<trial> together_with(const evidence& e, const std::vector<candidate>& all,
                                   std::size_t which) {
  lines these;
  nanoseconds best = 0;
  std::vector<const candidate*> others;
  for (const candidate& c : all) {
    if (c.is_told || these.size() == most_together || !keeps_results(c.line) ||
        !share_a_loop(c.line, all[which].line))
      continue;
    these.push_back(&c.line);
    others.push_back(&c);
    best = std::max(best, c.cost());
  }
  if (these.size() < 2) return std::nullopt;
  const auto gains_more = [&](const std::optional<trial>& t) {
    return t && e.worth(t->cost) && t->cost * 20 > best * 21;
  };
  std::optional<trial> most = without(e, these);
  if (!gains_more(most)) return std::nullopt;
  sort_stably(others, [](const candidate* a, const candidate* b) { return a->cost() < b->cost(); });
  for (const candidate* c : others) {
    lines fewer = most->of;
    std::erase(fewer, &c->line);
    if (fewer.size() < 2) break;
    std::optional<trial> t = without(e, fewer);
    if (t && t->cost * 100 >= most->cost * 98) most = std::move(t);
  }
  return gains_more(most) ? std::move(most) : std::nullopt;
}

}  // namespace

void find_waits_in_loops(const evidence& e, findings& out) {
  std::vector<candidate> all;
  for (loop_line& l : lines_that_wait(e)) all.push_back({std::move(l), std::nullopt});
  for (loop_line& l : lines_that_copy(e)) all.push_back({std::move(l), std::nullopt});
  // As they come in a turn.
  sort_stably(all, [&](const candidate& a, const candidate& b) {
    return std::pair(a.line.first().thread, a.line.first().steps[1]) <
           std::pair(b.line.first().thread, b.line.first().steps[1]);
  });
  for (candidate& c : all) c.alone = without(e, {&c.line});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].is_told) continue;
    const std::optional<trial> several =
        keeps_results(all[i].line) ? together_with(e, all, i) : std::nullopt;
    if (several) {
      std::vector<const trial*> alone;
      for (const loop_line* l : several->of)
        for (const candidate& c : all)
          if (&c.line == l) alone.push_back(c.alone ? &*c.alone : nullptr);
      out.push_back(finding_of_several(e, *several, alone));
      for (candidate& c : all)
        c.is_told |= keeps_results(c.line) && share_a_loop(c.line, all[i].line);
    } else if (all[i].alone) {
      out.push_back(finding_of_one(e, *all[i].alone));
    }
    all[i].is_told = true;
  }
}

}  // namespace sb::analysis
