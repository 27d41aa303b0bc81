// Memory that each turn of a loop allocates, registers or frees.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "analysis/call_rules.hpp"
#include "analysis/rules/loop_calls.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/rules/timed_calls.hpp"
#include "analysis/rules/waits_give.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

// What these calls allocated is all there when the last of them is made: a loop that sets up.
bool is_set_up(const evidence& e, const repeated_call& r) {
  const std::vector<number> calls = calls_of(e.p, r);
  std::vector<const trace::allocation*> made;
  for (const trace::allocation& a : e.t.allocations)
    if (std::binary_search(calls.begin(), calls.end(), a.allocated_by)) made.push_back(&a);
  if (made.size() != calls.size()) return false;
  nanoseconds last = 0;
  for (const trace::allocation* a : made) last = std::max(last, a->from);
  return std::all_of(made.begin(), made.end(),
                     [&](const trace::allocation* a) { return a->to == 0 || a->to >= last; });
}

// The memory of so many turns is there at once: what of it is used again has as many buffers.
std::size_t turns_at_once(const evidence& e, const repeated_call& r) {
  const std::vector<number> calls = calls_of(e.p, r);
  std::vector<std::pair<nanoseconds, int>> changes;
  for (const trace::allocation& a : e.t.allocations) {
    if (!std::binary_search(calls.begin(), calls.end(), a.allocated_by)) continue;
    changes.emplace_back(a.from, 1);
    if (a.to != 0) changes.emplace_back(a.to, -1);
  }
  std::sort(changes.begin(), changes.end());
  int now = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  const std::size_t each = std::max<std::size_t>(1, calls.size() / r.steps.size());
  return std::clamp<std::size_t>((static_cast<std::size_t>(most) + each - 1) / each, 1,
                                 r.steps.size());
}

// Registering takes its time for each buffer, wherever it is done; whether it is the same one each
// time is not in a trace.
bool is_of_registering(const repeated_call& r) {
  return r.name == "cudaHostRegister" || r.name == "cudaHostUnregister";
}

// The calls that a thread makes around one, in turn: the same in two turns of a loop.
bool same_call(const trace::trace& t, const step& a, const step& b) {
  if (a.call == none || b.call == none) return false;
  return t.calls[a.call].place == t.calls[b.call].place &&
         t.calls[a.call].name == t.calls[b.call].name;
}

// The first call of a loop's first turn, and the last one of its last turn.
std::size_t begin_of(const evidence& e, const repeated_call& r) {
  const std::vector<step>& steps = e.p.threads[r.thread];
  const std::size_t first = r.steps[0], second = r.steps[1];
  std::size_t back = 0;
  while (back < first && first + back + 1 < second &&
         same_call(e.t, steps[first - back - 1], steps[second - back - 1]))
    ++back;
  return first - back;
}

std::size_t end_of(const evidence& e, const repeated_call& r) {
  const std::vector<step>& steps = e.p.threads[r.thread];
  const std::size_t last = r.steps.back(), before = r.steps[r.steps.size() - 2];
  std::size_t on = 0;
  while (last + on + 1 < steps.size() && before + on + 1 < last &&
         same_call(e.t, steps[last + on + 1], steps[before + on + 1]))
    ++on;
  return last + on;
}

// A call is made in front of another one of its thread, or behind it.
void make_in_front(std::vector<step>& steps, std::size_t call, std::size_t other) {
  if (call == other) return;
  steps[other].before += steps[call].own();
  take_out(steps[call]);
}

void make_behind(std::vector<step>& steps, std::size_t call, std::size_t other) {
  if (call == other) return;
  step &from = steps[call], &to = steps[other];
  if (to.last.scope == wait_scope::nothing) {
    const bool waits_first = from.first.scope != wait_scope::nothing;
    const nanoseconds until_wait = from.before + (waits_first ? 0 : from.between);
    to.last = waits_first ? from.first : from.last;
    to.between += std::exchange(to.after, 0) + until_wait;
    to.after = from.own() - until_wait;
  } else {
    to.after += from.own();
  }
  take_out(from);
}

// The call waited, too, and the host gets results by that: it waits there by a call of its own.
void only_wait(const evidence& e, step& s) {
  constexpr nanoseconds usual = 1000;
  nanoseconds takes = std::min(shortest_call(e.t, "cudaDeviceSynchronize"),
                               shortest_call(e.t, "cudaStreamSynchronize"));
  if (takes == never) takes = usual;
  s.after = std::min(s.own(), takes);
  s.before = s.between = s.brought = 0;
}

// Where memory is allocated that all turns use. What the first turn has issued before may hide it.
enum class allocated : std::uint8_t { before_the_loop, in_the_first_turn };

// The calls of so many turns are left, or those of all turns are made there.
enum class calls_left : std::uint8_t { some, all };

void move_out_of_loop(const evidence& e, program& p, const repeated_call& r, calls_left left,
                      std::size_t turns, allocated where) {
  std::vector<step>& steps = p.threads[r.thread];
  const bool allocates = class_of(r.name) == call_class::allocate;
  const std::size_t to = allocates
                             ? r.steps.front()
                             : std::max(r.steps.back(), r.beside.empty() ? 0 : r.beside.back());
  std::vector<std::size_t> kept;
  for (std::size_t turn = 0; turn < r.steps.size(); ++turn) {
    const bool is_kept = allocates ? turn < turns : turn + turns >= r.steps.size();
    const auto use = [&](std::size_t i) {
      if (is_kept) return kept.push_back(i);
      if (left == calls_left::all)
        (allocates ? steps[to].before : steps[to].after) += steps[i].own();
      if (allocates || e.given_by_waits(r.thread)[i] != given::results) return take_out(steps[i]);
      only_wait(e, steps[i]);
    };
    use(r.steps[turn]);
    std::ranges::for_each(beside(r, turn), use);
  }
  if (allocates && where == allocated::in_the_first_turn) return;
  const std::size_t place = allocates ? begin_of(e, r) : end_of(e, r);
  for (const std::size_t i : kept)
    allocates ? make_in_front(steps, i, place) : make_behind(steps, i, place);
}

std::string change_of_frees(const std::vector<std::string>& names) {
  std::string change = fmt::format(
      "Free the memory behind the loop, where nothing has to be waited for (that is the cost). "
      "Where turns can use the same memory{}, calls are saved, too.",
      std::find(names.begin(), names.end(), "cudaFree") == names.end()
          ? ""
          : ", or take it with cudaMallocAsync and give it back with cudaFreeAsync, which do not "
            "wait");
  return change;
}

struct kept_allocation {
  allocated where = allocated::before_the_loop;
  nanoseconds gain = 0;
  std::size_t turns = 1;  // whose memory is there at once
};

std::string words_of(const kept_allocation& kept, nanoseconds before) {
  const std::string as_many =
      kept.turns == 1
          ? ""
          : fmt::format(" as many buffers as {} turns have, as that many use theirs at once,",
                        kept.turns);
  if (kept.where == allocated::before_the_loop)
    return fmt::format(
        "Allocate{} before the loop, use the memory again and free it right behind the loop",
        as_many);
  const std::string first =
      kept.turns == 1 ? "turn" : fmt::format("{} turns, which use theirs at once,", kept.turns);
  return fmt::format(
      "Allocate in the first {} only, where it is now, behind work that the device does "
      "meanwhile "
      "(that is the cost; before the loop it would gain {}), use the memory again and free it "
      "right "
      "behind the loop",
      first, before == 0 ? "nothing" : text_of_time(before));
}

std::string change_of_allocations(const std::vector<std::string>& names,
                                  const std::string& advice) {
  const auto any = [&](auto which) { return std::any_of(names.begin(), names.end(), which); };
  const bool registers =
      any([](const std::string& n) { return n.find("egister") != std::string::npos; });
  const bool allocates =
      any([](const std::string& n) { return n.find("egister") == std::string::npos; });
  const bool device_memory = any([](const std::string& n) {
    return n == "cudaMalloc" || n == "cudaMallocPitch" || n == "cudaMalloc3D" || n == "cudaFree";
  });
  std::string change;
  if (registers)
    change =
        "Register each buffer once, before the loop, and unregister it behind (the cost is what "
        "that gains; where it is the same buffer each time, the calls of all turns but one are "
        "saved, too).";
  if (!allocates) return change;
  if (registers) change += ' ';
  change += advice;
  if (device_memory)
    change +=
        "; or use cudaMallocAsync and cudaFreeAsync, which are ordered by the stream and do not "
        "wait";
  return change + '.';
}

// Loops that allocate or free in each turn, and not those that only set up or clear up.
struct allocating_loops {
  std::vector<const repeated_call*> all;
  bool allocates = false;  // and not only frees
};

allocating_loops loops_of(const evidence& e) {
  allocating_loops loops;
  bool sets_up = false;
  for (const repeated_call& r : e.repeated_calls()) {
    const call_class kind = class_of(r.name);
    if ((kind != call_class::allocate && kind != call_class::free) || measures_call(e, r)) continue;
    if (kind == call_class::allocate && is_set_up(e, r)) {
      sets_up = true;
      continue;
    }
    loops.allocates |= kind == call_class::allocate;
    loops.all.push_back(&r);
  }
  // What frees then is the loop that clears up.
  if (sets_up && !loops.allocates) loops.all.clear();
  return loops;
}

std::size_t turns_at_once(const evidence& e, const allocating_loops& loops) {
  std::size_t turns = 1;
  for (const repeated_call* r : loops.all)
    if (class_of(r->name) == call_class::allocate) turns = std::max(turns, turns_at_once(e, *r));
  return turns;
}

nanoseconds gain_of(const evidence& e, const allocating_loops& loops, std::size_t turns,
                    allocated where) {
  program changed = e.p;
  for (const repeated_call* r : loops.all) {
    const bool all = !loops.allocates || is_of_registering(*r);
    move_out_of_loop(e, changed, *r, all ? calls_left::all : calls_left::some,
                     all ? 1 : std::min(turns, r->steps.size()), where);
  }
  return e.gain(changed);
}

// Before the loop, as one would do it, unless that gains much less.
kept_allocation best_of(const evidence& e, const allocating_loops& loops, std::size_t turns,
                        nanoseconds before) {
  const bool only_allocates =
      loops.allocates && std::none_of(loops.all.begin(), loops.all.end(),
                                      [](const auto* r) { return is_of_registering(*r); });
  const nanoseconds first =
      only_allocates ? gain_of(e, loops, turns, allocated::in_the_first_turn) : 0;
  if (first * 9 > before * 10) return {allocated::in_the_first_turn, first, turns};
  return {allocated::before_the_loop, before, turns};
}

}  // namespace

void find_allocations_in_loops(const evidence& e, findings& out) {
  const allocating_loops loops = loops_of(e);
  if (loops.all.empty()) return;
  const std::size_t turns = turns_at_once(e, loops);
  const nanoseconds before = gain_of(e, loops, turns, allocated::before_the_loop);
  const kept_allocation kept = best_of(e, loops, turns, before);
  if (!e.worth(kept.gain)) return;
  std::vector<number> calls;
  std::vector<std::string> names;
  bool frees_allocated = false;  // and not what was registered
  for (const repeated_call* r : loops.all) {
    frees_allocated |= !is_of_registering(*r);
    const std::vector<number> these = calls_of(e.p, *r);
    calls.insert(calls.end(), these.begin(), these.end());
    if (std::find(names.begin(), names.end(), r->name) == names.end()) names.push_back(r->name);
  }
  const bool gives_results = std::any_of(loops.all.begin(), loops.all.end(), [&](const auto* r) {
    const std::vector<given>& gives = e.given_by_waits(r->thread);
    return class_of(r->name) == call_class::free &&
           std::any_of(r->steps.begin(), r->steps.end(),
                       [&](std::size_t i) { return gives[i] == given::results; });
  });
  std::sort(calls.begin(), calls.end());
  finding f;
  add_loop(e, f, calls, kept.gain);
  f.rule = "allocation-in-loop";
  f.title = fmt::format("{} in a loop", fmt::join(names, ", "));
  f.why =
      "Allocating takes long, and cudaFree, cudaFreeHost and cudaHostUnregister wait for all work "
      "of the device first.";
  f.change = !loops.allocates && frees_allocated
                 ? change_of_frees(names)
                 : change_of_allocations(names, words_of(kept, before));
  if (gives_results)
    f.change +=
        " The host gets results by the wait within the calls that free: where it looks at them, "
        "wait "
        "for them by cudaStreamSynchronize instead (which the cost counts).";
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
