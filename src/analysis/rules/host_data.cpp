// What the host may do with its memory between the waits of a loop. What it reads and writes itself
// is not in a trace: where copies of different turns use the same bytes of it, or work of the
// device uses it directly, a wait between them may be what keeps the data right.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/rules/loop_calls.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/rules/waits_give.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

bool is_shared_memory(const trace::allocation& a) {
  return a.kind == trace::memory_kind::pinned || a.kind == trace::memory_kind::managed;
}

bool is_host_memory(const trace::trace& t, const trace::byte_range& r) {
  return r.allocation < t.allocations.size() && is_shared_memory(t.allocations[r.allocation]);
}

namespace {

struct host_touch {
  trace::byte_range range;
  std::size_t turn = 0;
};

// Operations that were issued from the turn before a loop's first wait up to its last one.
class turns {
 public:
  turns(const evidence& e, const repeated_call& r)
      : e_(e),
        has_host_memory_(
            std::any_of(e.t.allocations.begin(), e.t.allocations.end(), is_shared_memory)) {
    const std::vector<step>& steps = e.p.threads[r.thread];
    const std::size_t length = r.steps[1] - r.steps[0];
    begin_ = e.t.calls[steps[r.steps[0] - std::min(r.steps[0], length - 1)].call].begin;
    for (const std::size_t i : r.steps) ends_.push_back(e.t.calls[steps[i].call].end);
  }

  // False when it is not known what bytes of the host are used, or by whom.
  bool look() {
    for (const trace::operation& o : e_.t.operations) {
      if (o.called == never || o.called < begin_ || o.called >= ends_.back()) continue;
      if (!add(o)) return false;
    }
    std::sort(touches_.begin(), touches_.end(), [](const host_touch& a, const host_touch& b) {
      return std::pair(a.range.allocation, a.range.offset) <
             std::pair(b.range.allocation, b.range.offset);
    });
    return true;
  }

  // Bytes that different turns use; `by_all` asks each of those uses.
  template <class Predicate>
  [[nodiscard]] std::pair<bool, bool> used_again(Predicate by_all) const {
    bool again = false, all = true;
    for_bytes_together([&](std::size_t first, std::size_t end) {
      bool differ = false;
      for (std::size_t i = first; i < end; ++i) differ |= touches_[i].turn != touches_[first].turn;
      again |= differ;
      for (std::size_t i = first; i < end; ++i) all &= !differ || by_all(touches_[i]);
    });
    return {again, all};
  }

  // After how many turns bytes are used again, at least; never: no turn does so.
  [[nodiscard]] std::size_t turns_until_use() const {
    std::size_t least = never;
    for_bytes_together([&](std::size_t first, std::size_t end) {
      std::vector<std::size_t> used;
      for (std::size_t i = first; i < end; ++i) used.push_back(touches_[i].turn);
      std::sort(used.begin(), used.end());
      for (std::size_t i = 1; i < used.size(); ++i)
        if (used[i] != used[i - 1]) least = std::min(least, used[i] - used[i - 1]);
    });
    return least;
  }

  // The turn in which an operation was issued.
  [[nodiscard]] std::size_t turn_of(const trace::operation& o) const {
    return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), o.called) -
                                    ends_.begin());
  }

  [[nodiscard]] bool uploads() const { return uploads_; }
  [[nodiscard]] std::uint64_t largest_result() const {
    std::uint64_t largest = 0;
    for (const host_touch& h : touches_)
      if (is_result(h)) largest = std::max(largest, h.range.bytes);
    return largest;
  }

  static bool is_result(const host_touch& h) { return h.range.how != trace::access::read; }

 private:
  // Those that lie over each other.
  template <class Body>
  void for_bytes_together(Body body) const {
    for (std::size_t i = 0; i < touches_.size();) {
      const std::size_t first = i;
      std::uint64_t end = 0;
      for (; i < touches_.size() &&
             touches_[i].range.allocation == touches_[first].range.allocation &&
             (i == first || touches_[i].range.offset < end);
           ++i)
        end = std::max(end, touches_[i].range.offset + touches_[i].range.bytes);
      body(first, i);
    }
  }

  bool add(const trace::operation& o) {
    if (o.kind == trace::operation_kind::host_function) return false;
    const std::size_t turn = turn_of(o);
    uploads_ |= gets_from_host(e_.t, o);
    bool found = false;
    if (o.kind == trace::operation_kind::kernel && touches_anything(o) && has_host_memory_)
      return false;
    for (const trace::byte_range& r : o.ranges) {
      if (!is_host_memory(e_.t, r)) continue;
      if (o.kind != trace::operation_kind::copy || !r.exact) return false;
      touches_.push_back({r, turn});
      found = true;
    }
    // A copy of pageable memory has left it, or is there, when its call returns.
    return found || o.kind != trace::operation_kind::copy ||
           o.host_memory == trace::memory_kind::device ||
           (o.host_memory == trace::memory_kind::pageable && !o.in_graph);
  }

  const evidence& e_;
  bool has_host_memory_;  // that kernels can reach
  nanoseconds begin_ = 0;
  std::vector<nanoseconds> ends_;  // of the waits
  std::vector<host_touch> touches_;
  bool uploads_ = false;  // the device gets something from the host
};

using host_place = std::pair<number, std::uint64_t>;  // an allocation, and where in it

// Where the copy to the host that stands directly in front of a step writes; none when something
// else stands there.
std::optional<host_place> result_before(const evidence& e, const std::vector<step>& steps,
                                        std::size_t from, std::size_t wait) {
  for (std::size_t i = wait; i-- > from;) {
    for (auto k = steps[i].issues.rbegin(); k != steps[i].issues.rend(); ++k) {
      const trace::operation& o = e.t.operations[k->operation];
      if (o.kind == trace::operation_kind::event_record) continue;
      if (o.kind != trace::operation_kind::copy || o.direction != copy_direction::device_to_host) {
        return std::nullopt;
      }
      for (const trace::byte_range& r : o.ranges) {
        if (r.how == trace::access::write && r.exact) return std::pair(r.allocation, r.offset);
      }
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// As many turns between two looks are a few: with two buffers in turn, each has half of the
// advice's.
constexpr std::size_t few_turns = turns_per_look / 2;

// How often the same launch, with the same pointers, comes in these steps, at most: those that do
// so with several buffers in turn count together. A few of them alone may be parts of one turn.
std::size_t most_equal_launches(const evidence& e, const std::vector<step>& steps, std::size_t from,
                                std::size_t to) {
  using place = std::pair<number, std::uint64_t>;
  using launch = std::tuple<number, number, number>;
  std::map<launch, std::map<std::vector<place>, std::size_t>> launches;
  for (std::size_t i = from; i < to; ++i) {
    for (const issue& k : steps[i].issues) {
      const trace::operation& o = e.t.operations[k.operation];
      if (o.kind != trace::operation_kind::kernel) continue;
      std::vector<place> pointers;
      for (const trace::byte_range& r : o.ranges) pointers.emplace_back(r.allocation, r.offset);
      ++launches[{o.name, o.stream, place_of(e.t, k.operation)}][pointers];
    }
  }
  std::size_t most = 0;
  for (const auto& [what, by_pointers] : launches) {
    std::size_t equal = 0;
    for (const auto& [pointers, times] : by_pointers)
      if (times >= few_turns) equal += times;
    most = std::max(most, equal);
  }
  return most;
}

// How many copies to the host write there in these steps.
std::size_t results_at(const evidence& e, const std::vector<step>& steps, host_place place,
                       std::size_t from, std::size_t to) {
  std::size_t found = 0;
  for (std::size_t i = from; i < to; ++i)
    for (const issue& k : steps[i].issues)
      for (const trace::byte_range& r : e.t.operations[k.operation].ranges)
        if (r.how == trace::access::write && host_place(r.allocation, r.offset) == place) ++found;
  return found;
}

// Each turn copies to the same bytes of the host and waits. A program that waits behind several
// such copies looks at a result of every few turns already.
bool same_result_each_turn(const evidence& e, const repeated_call& r) {
  const std::vector<step>& steps = e.p.threads[r.thread];
  const auto first = result_before(e, steps, r.steps[0] + 1, r.steps[1]);
  if (!first || results_at(e, steps, *first, r.steps[0] + 1, r.steps[1]) >= few_turns) return false;
  if (looks_in_some_turns(e, r)) return false;
  for (std::size_t i = 2; i < r.steps.size(); ++i) {
    if (result_before(e, steps, r.steps[i - 1] + 1, r.steps[i]) != first) return false;
  }
  return true;
}

// What comes behind the last wait is still of that turn: work that is launched in each turn. The
// host may make its arguments of the result.
bool turns_go_on_behind(const evidence& e, const repeated_call& r) {
  const std::vector<step>& steps = e.p.threads[r.thread];
  const auto launched = [&](std::size_t from, std::size_t to) {
    std::set<number> places;
    for (std::size_t i = from; i < to; ++i)
      for (const issue& k : steps[i].issues)
        if (e.t.operations[k.operation].kind == trace::operation_kind::kernel)
          places.insert(place_of(e.t, k.operation));
    places.erase(none);
    return places;
  };
  const std::set<number> of_turn = launched(r.steps[r.steps.size() - 2] + 1, r.steps.back());
  const std::set<number> behind = launched(r.steps.back() + 1, steps.size());
  return std::any_of(behind.begin(), behind.end(), [&](number p) { return of_turn.contains(p); });
}

// How many turns ago what the waits wait for was issued, at most; none: there is a wait of which
// nobody knows.
std::optional<std::size_t> turns_awaited(const evidence& e, const repeated_call& r,
                                         const turns& all) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < r.steps.size(); ++i) {
    const auto awaits = [&](std::size_t step) {
      const number waited = e.t.calls[e.p.threads[r.thread][step].call].blocked_on;
      if (waited == none) return false;
      const std::size_t issued = all.turn_of(e.t.operations[waited]);
      most = std::max(most, i - std::min(i, issued));
      return true;
    };
    if (!awaits(r.steps[i])) return std::nullopt;
    for (const std::size_t step : beside(r, i)) awaits(step);
  }
  return most;
}

// A wait one turn later is still in front of what uses the same memory of the host.
bool may_wait_later(const evidence& e, const repeated_call& r, const turns& all) {
  const std::optional<std::size_t> awaited = turns_awaited(e, r, all);
  return awaited && all.turns_until_use() >= *awaited + 2;
}

// The program asks for times between the waits, or another thread waits for this one there.
bool others_follow(const evidence& e, const repeated_call& r) {
  const std::vector<step>& steps = e.p.threads[r.thread];
  for (std::size_t i = r.steps.front(); i < r.steps.back(); ++i) {
    if (e.t.calls[steps[i].call].name.starts_with("cudaEventElapsedTime")) return true;
  }
  const nanoseconds begin = e.t.calls[steps[r.steps.front()].call].end;
  const nanoseconds end = e.t.calls[steps[r.steps.back()].call].begin;
  return std::any_of(e.t.thread_waits.begin(), e.t.thread_waits.end(),
                     [&](const trace::thread_wait& w) {
                       return w.what != trace::awaited::lock && w.other == r.thread &&
                              w.end > w.begin && w.end >= begin && w.end < end;
                     });
}

}  // namespace

namespace {

// The most that one of the waits gives, but for the last one, which stays in any case.
given most_given(const evidence& e, const repeated_call& r) {
  const std::vector<given>& gives = e.given_by_waits(r.thread);
  given most = given::nothing;
  for (std::size_t turn = 0; turn + 1 < r.steps.size(); ++turn) {
    most = std::max(most, gives[r.steps[turn]]);
    for (const std::size_t i : beside(r, turn)) most = std::max(most, gives[i]);
  }
  return most;
}

}  // namespace

host_use use_between_waits(const evidence& e, const repeated_call& r) {
  if (others_follow(e, r)) return host_use::may_need_each_wait;
  const given gives = most_given(e, r);
  if (gives == given::nothing) return host_use::none;
  turns all(e, r);
  if (!all.look()) return host_use::may_need_each_wait;
  const auto [again, results_only] = all.used_again(turns::is_result);
  if (!again) return gives == given::results ? host_use::other_results : host_use::none;
  if (results_only && same_result_each_turn(e, r)) {
    // The host may make what it sends of the result.
    if (all.uploads() || turns_go_on_behind(e, r)) return host_use::may_need_each_wait;
    return all.largest_result() <= few_bytes ? host_use::same_result : host_use::one_buffer;
  }
  return may_wait_later(e, r, all) ? host_use::in_turn : host_use::may_need_each_wait;
}

bool looks_in_some_turns(const evidence& e, const repeated_call& r) {
  const std::vector<step>& steps = e.p.threads[r.thread];
  std::size_t repeat = 0;
  for (std::size_t i = 1; i < r.steps.size(); ++i)
    if (most_equal_launches(e, steps, r.steps[i - 1] + 1, r.steps[i]) >= turns_per_look) ++repeat;
  return 2 * repeat >= r.steps.size();
}

bool share_host_bytes(const trace::trace& t, const trace::operation& a, const trace::operation& b) {
  for (const trace::byte_range& x : a.ranges) {
    if (!is_host_memory(t, x)) continue;
    for (const trace::byte_range& y : b.ranges) {
      if (x.allocation == y.allocation &&
          (!x.exact || !y.exact ||
           (x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes))) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace sb::analysis
