// Memory pools that give their memory back and ask the device for it again.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "analysis/call_rules.hpp"
#include "analysis/plural.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/sort_stably.hpp"
#include "analysis/words.hpp"
#include "model/profile.hpp"

namespace sb::analysis {

namespace {

// The call takes so much less; what it gives the device comes sooner, too.
void shorten(step& s, nanoseconds by) {
  for (nanoseconds* part : {&s.after, &s.between, &s.before}) {
    const nanoseconds less = std::min(*part, by);
    *part -= less;
    by -= less;
  }
  for (issue& i : s.issues) i.offset = std::min(i.offset, s.between);
}

// What calls take in modelled time tells how many chunks of memory a pool got, or gave back.
struct pool_calls {
  const timing_profile& timing;

  [[nodiscard]] std::uint64_t got(const step& s, const std::string& name) const {
    if (name != "cudaMallocAsync" && name != "cudaMallocFromPoolAsync") return 0;
    const double above =
        static_cast<double>(s.own()) - call_cost_ns(timing, name) - timing.pool_grow_ns;
    return chunks(above, timing.pool_chunk_ns);
  }
  [[nodiscard]] std::uint64_t returned(const step& s, const std::string& name) const {
    if (!only_waits(class_of(name))) return 0;
    return static_cast<std::uint64_t>(static_cast<double>(s.own()) / timing.pool_return_ns);
  }
  static std::uint64_t chunks(double time, double each) {
    return time < each / 2 ? 0 : static_cast<std::uint64_t>(std::llround(time / each));
  }
};

}  // namespace

kept_memory keep_pool_memory(const evidence& e, program& changed, pool_waits which) {
  kept_memory kept;
  const profile* known = find_profile(e.t.head.profile);
  if (e.t.head.clock != trace::clock_kind::modelled || known == nullptr) return kept;
  const pool_calls pool{known->timing};
  if (pool.timing.pool_chunk_ns <= 0 || pool.timing.pool_return_ns <= 0) return kept;

  std::vector<std::pair<const step*, step*>> steps;  // as it was, and as it is changed
  for (std::size_t thread = 0; thread < changed.threads.size(); ++thread)
    for (std::size_t i = 0; i < changed.threads[thread].size(); ++i)
      if (const step& s = e.p.threads[thread][i]; s.call != none)
        steps.emplace_back(&s, &changed.threads[thread][i]);
  sort_stably(steps, [&](const auto& a, const auto& b) {
    return e.t.calls[a.first->call].begin < e.t.calls[b.first->call].begin;
  });

  // A pool that keeps its memory asks for more only when it needs more than it has then.
  std::uint64_t had = 0, has = 0;
  std::set<number> grew;  // places: other ones may use other pools
  for (const auto& [was, now] : steps) {
    const trace::call& c = e.t.calls[was->call];
    if (const std::uint64_t back = std::min(had, pool.returned(*was, c.name)); back != 0) {
      had -= back;
      const bool still_waits = was->own() == now->own();
      if (which == pool_waits::left && still_waits) {
        has = had;
        continue;
      }
      const nanoseconds time = rounded_ns(static_cast<double>(back) * pool.timing.pool_return_ns);
      shorten(*now, time);
      kept.gave += time;
      kept.waits.push_back(was->call);
    }
    const std::uint64_t got = pool.got(*was, c.name);
    if (got == 0) continue;
    had += got;
    const std::uint64_t more = had > has ? std::min(got, had - has) : 0;
    has = std::max(has, had);
    if (grew.insert(c.place).second || more == got) continue;
    const nanoseconds time =
        rounded_ns(static_cast<double>(got - more) * pool.timing.pool_chunk_ns +
                   (more == 0 ? pool.timing.pool_grow_ns : 0));
    shorten(*now, time);
    kept.asked += time;
    kept.again.push_back(was->call);
  }
  return kept;
}

void find_returned_pools(const evidence& e, findings& out) {
  program changed = e.p;
  const auto [again, waits, asked, gave] = keep_pool_memory(e, changed, pool_waits::none);
  if (again.empty()) return;
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "pool-gives-memory-back";
  f.title = "A memory pool gives its memory back when the host waits, and asks for it again";
  f.why = fmt::format(
      "A pool gives back what it has beyond its release threshold, which is 0 at first, whenever "
      "the host has waited: {} took {} longer, and {} {} longer, as {} had to ask the device for "
      "memory that the pool had had before.",
      plural(waits.size(), "wait"), text_of_time(gave), plural(again.size(), "allocation"),
      text_of_time(asked), again.size() == 1 ? "it" : "they");
  f.change =
      "Let the pool keep its memory: cudaMemPoolSetAttribute with "
      "cudaMemPoolAttrReleaseThreshold and as many bytes as a turn uses, or UINT64_MAX, once. "
      "cudaDeviceGetDefaultMemPool gives the pool that cudaMallocAsync uses.";
  f.cost = cost;
  add_calls(e.t, f, again);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
