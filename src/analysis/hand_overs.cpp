// What threads hand over to each other, turn by turn. A thread that comes late finds that it need
// not wait, and a trace says nothing then; it is taken that it would have had to, had it come
// sooner.
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/thread_order.hpp"

namespace sb::analysis {

namespace {

// Where calls are made: in a loop the same place, turn by turn.
struct place {
  number thread = none, line = none;
  std::string_view call;
  auto operator<=>(const place&) const = default;
};

bool is_handed_over(trace::awaited what) {
  return what != trace::awaited::lock && what != trace::awaited::thread;
}

class hand_overs {
 public:
  hand_overs(const trace::trace& recorded, program& p) : recorded_(recorded), program_(p) {
    for (number thread = 0; thread < p.threads.size(); ++thread)
      for (std::size_t i = 0; i < p.threads[thread].size(); ++i)
        steps_[place_of(thread, i)].push_back(i);
  }

  void add() {
    for (const auto& [at, waits] : seen()) {
      if (waits.size() != 1 || waits.begin()->second.size() != 1) continue;  // not turn by turn
      const auto& [other, turns] = *waits.begin();
      add(at, other, *turns.begin());
    }
  }

 private:
  // So many turns behind, and how long at least behind the other one's call.
  using distances = std::map<std::ptrdiff_t, nanoseconds>;
  using waits_by_place = std::map<place, std::map<place, distances>>;

  [[nodiscard]] place place_of(number thread, std::size_t step) const {
    const trace::call& c = recorded_.calls[program_.threads[thread][step].call];
    return {thread, c.place, c.name};
  }

  [[nodiscard]] std::ptrdiff_t turn_of(const place& at, std::size_t step) const {
    const std::vector<std::size_t>& all = steps_.at(at);
    return std::lower_bound(all.begin(), all.end(), step) - all.begin();
  }

  [[nodiscard]] waits_by_place seen() const {
    waits_by_place found;
    for (number thread = 0; thread < program_.threads.size(); ++thread) {
      const std::vector<step>& steps = program_.threads[thread];
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const place at = place_of(thread, i);
        for (const thread_pause& p : steps[i].pauses) {
          if (!is_handed_over(p.what) || p.until.calls == 0) continue;
          const place other = place_of(p.until.thread, p.until.calls - 1);
          const std::ptrdiff_t turns = turn_of(at, i) - turn_of(other, p.until.calls - 1);
          const nanoseconds behind = behind_call(p.until);
          const auto known = found[at][other].emplace(turns, behind).first;
          known->second = std::min(known->second, behind);
        }
      }
    }
    return found;
  }

  // How long behind the last of the other one's calls.
  [[nodiscard]] nanoseconds behind_call(const thread_point& p) const {
    if (p.pauses == 0) return p.after;
    const nanoseconds from = pauses_before(program_, p.thread, p.calls)[p.pauses - 1].to;
    return from - before(p.thread, p.calls) + p.after;
  }

  // From where on a thread could have come to its step.
  [[nodiscard]] nanoseconds before(number thread, std::size_t step) const {
    return step == 0 ? 0 : recorded_.calls[program_.threads[thread][step - 1].call].end;
  }

  void add(const place& at, const place& other, const distances::value_type& apart) {
    struct late {
      std::size_t step;
      thread_point until;
      nanoseconds reached;
    };
    std::vector<late> all;
    const std::vector<std::size_t>&mine = steps_.at(at), &theirs = steps_.at(other);
    for (std::size_t turn = 0; turn < mine.size(); ++turn) {
      const std::ptrdiff_t their = static_cast<std::ptrdiff_t>(turn) - apart.first;
      if (their < 0 || their >= static_cast<std::ptrdiff_t>(theirs.size())) continue;
      const step& s = program_.threads[at.thread][mine[turn]];
      if (!s.pauses.empty()) continue;
      const std::size_t call = theirs[static_cast<std::size_t>(their)];
      const nanoseconds reached =
          recorded_.calls[program_.threads[other.thread][call].call].end + apart.second;
      if (reached > recorded_.calls[s.call].begin) return;  // it did not wait for that
      all.push_back({mine[turn], {other.thread, call + 1, 0, apart.second}, reached});
    }
    for (const late& one : all) {
      step& s = program_.threads[at.thread][one.step];
      const nanoseconds from = before(at.thread, one.step);
      const nanoseconds own = one.reached > from ? std::min(s.gap, one.reached - from) : 0;
      s.gap -= own;
      const nanoseconds since = from + own;
      s.pauses.push_back({own, one.until, trace::awaited::memory, since, since});
    }
  }

  const trace::trace& recorded_;
  program& program_;
  std::map<place, std::vector<std::size_t>> steps_;
};

}  // namespace

void add_hand_overs(const trace::trace& recorded, program& p) {
  const auto& waits = recorded.thread_waits;
  if (std::any_of(waits.begin(), waits.end(), [](const auto& w) { return is_handed_over(w.what); }))
    hand_overs(recorded, p).add();
}

}  // namespace sb::analysis
