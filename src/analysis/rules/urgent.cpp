// How late urgent work is: what a priority is for is not the end of the run but that of the work
// that has it.
#include <fmt/format.h>

#include <set>

#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

bool is_more_urgent(const trace::trace& t, number operation, number other) {
  // A lower number is a higher priority.
  return t.streams[t.operations[operation].stream].priority <
         t.streams[t.operations[other].stream].priority;
}

urgent_gain gain_of_urgent(const evidence& e, const program& changed,
                           const std::vector<held_operation>& held) {
  std::set<number> streams;
  for (const held_operation& h : held) {
    if (is_more_urgent(e.t, h.operation, h.by.from))
      streams.insert(e.t.operations[h.operation].stream);
  }
  if (streams.empty() || e.base.hung) return {};
  const timing then = replay(changed);
  if (then.hung || (then.end > e.base.end && e.worth(then.end - e.base.end))) return {};
  urgent_gain most;
  for (number i = 0; i < e.t.operations.size(); ++i) {
    const trace::operation& o = e.t.operations[i];
    if (o.engine == trace::engine_kind::none || !streams.contains(o.stream)) continue;
    const nanoseconds ended = e.base.operations[i].ended, earlier = then.operations[i].ended;
    if (ended != never && earlier < ended && ended - earlier > most.time)
      most = {ended - earlier, i};
  }
  return e.worth(most.time) ? most : urgent_gain{};
}

std::string words_of(const trace::trace& t, const urgent_gain& gain) {
  const trace::stream& s = t.streams[t.operations[gain.operation].stream];
  return fmt::format(
      " The run as a whole ends no earlier without it. But the stream has a higher priority ({}) "
      "than what it waits for, and {} would end {} earlier: that is the cost.",
      s.priority, name_with_stream(t, gain.operation), text_of_time(gain.time));
}

}  // namespace sb::analysis
