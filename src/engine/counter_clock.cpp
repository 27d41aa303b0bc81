#include "engine/counter_clock.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace sb::engine {

namespace {

struct moment {
  std::uint64_t ticks = 0, ns = 0;
};

// The counter and the system's clock at the same time: of some attempts the one that took least.
template <class Ticks>
moment both(Ticks ticks) {
  moment best;
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = ticks();
    const std::uint64_t ns = steady_ns();
    const std::uint64_t took = ticks() - before;
    if (took >= least) continue;
    least = took;
    best = {before + took / 2, ns};
  }
  return best;
}

// Linux itself takes its time from the counter only where that is even and common to all cores.
bool is_the_systems_clock() {
  std::ifstream in("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return (in >> name) && name == "tsc";
}

}  // namespace

counter_clock::counter_clock() {
#if defined(__aarch64__)
  std::uint64_t frequency = 0;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  const moment begin = both(&counter_clock::ticks);
  begin_ticks_ = begin.ticks;
  begin_ns_ = begin.ns;
  scale_ = static_cast<std::int64_t>((std::uint64_t{1'000'000'000} << shift) / frequency);
  state_.store(state::counts, std::memory_order_release);
#endif
}

std::uint64_t counter_clock::ask_system() const {
  const std::uint64_t now = steady_ns();
  const state known = state_.load(std::memory_order_acquire);
  if (known == state::not_looked_at || known == state::settling) look(now);
  return now;
}

// The counter's frequency is what it counts between two moments that lie far enough apart.
void counter_clock::look(std::uint64_t now) const {
  constexpr std::uint64_t far_enough_ns = 20'000'000;
  state known = state_.load(std::memory_order_acquire);
  if (known == state::settling && now < settles_ns_.load(std::memory_order_relaxed)) return;
  if ((known != state::not_looked_at && known != state::settling) ||
      !state_.compare_exchange_strong(known, state::busy, std::memory_order_acquire))
    return;
  if (known == state::not_looked_at && !is_the_systems_clock()) {
    state_.store(state::unusable, std::memory_order_release);
    return;
  }
  const moment m = both(&counter_clock::ticks);
  const bool is_first = known == state::not_looked_at;
  if (!is_first) {
    __extension__ using wide = unsigned __int128;
    scale_ =
        static_cast<std::int64_t>((wide{m.ns - begin_ns_} << shift) / (m.ticks - begin_ticks_));
  }
  begin_ticks_ = m.ticks;
  begin_ns_ = m.ns;
  if (is_first) settles_ns_.store(m.ns + far_enough_ns, std::memory_order_relaxed);
  state_.store(is_first ? state::settling : state::counts, std::memory_order_release);
}

}  // namespace sb::engine
