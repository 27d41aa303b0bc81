#include "analysis/events_instead.hpp"

#include <algorithm>
#include <set>

#include "analysis/changes.hpp"
#include "analysis/device_order.hpp"
#include "analysis/rates.hpp"

namespace sb::analysis {

namespace {

using positions = device_order::positions;

void join(positions& to, const positions& from) {
  for (std::size_t i = 0; i < std::min(to.size(), from.size()); ++i)
    to[i] = std::max(to[i], from[i]);
}

// The edges are for the order alone: whether a change leaves it to events.
device_order without_edges(const trace::trace& t, const program& as_it_is, const program& changed) {
  program bare = changed;
  for (std::size_t i = 0; i < bare.tasks.size(); ++i) bare.tasks[i].after = as_it_is.tasks[i].after;
  return {t, bare};
}

}  // namespace

void add_events_instead(const trace::trace& t, const program& as_it_is, program& changed) {
  if (!can_be_ordered(t, as_it_is)) return;
  const device_order known = without_edges(t, as_it_is, changed);
  const timing_profile& timing = timing_or_h200(t);
  const nanoseconds wait = rounded_ns(call_cost_ns(timing, "cudaStreamWaitEvent"));
  const nanoseconds record = rounded_ns(call_cost_ns(timing, "cudaEventRecord"));
  const std::vector<step_place> places = issuers(changed);
  // By stream: what its next work comes behind by the events that were added.
  std::vector<positions> added(t.streams.size());
  std::set<number> recorded;
  for (const std::vector<step>& steps : as_it_is.threads) {
    for (const step& s : steps) {
      for (const issue& k : s.issues) {
        const number later = k.operation;
        const number own = changed.tasks[later].stream;
        positions& mine = added[own];
        mine.resize(t.streams.size(), 0);
        for (const number earlier : changed.tasks[later].after) {
          const number stream = changed.tasks[earlier].stream;
          const std::uint32_t place = known.place(earlier);
          if (stream == own || mine[stream] >= place || known.before(later)[stream] >= place)
            continue;
          mine[stream] = place;
          join(mine, known.before(earlier));
          join(mine, added[stream]);
          const step_place waits = places[later], records = places[earlier];
          changed.threads[waits.thread][waits.index].before += wait;
          if (recorded.insert(earlier).second)
            changed.threads[records.thread][records.index].after += record;
        }
      }
    }
  }
}

}  // namespace sb::analysis
