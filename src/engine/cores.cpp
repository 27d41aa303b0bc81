#include "engine/cores.hpp"

namespace sb::engine {

void core_of_sleeper::keep_off_this_core(pid_t thread) {
  if (kept_off_ || sched_getaffinity(thread, sizeof all_, &all_) != 0) return;
  const int here = sched_getcpu();
  if (here < 0) return;
  cpu_set_t others = all_;
  CPU_CLR(here, &others);
  if (CPU_EQUAL(&others, &all_) || CPU_COUNT(&others) == 0) return;
  kept_off_ = sched_setaffinity(thread, sizeof others, &others) == 0;
}

void core_of_sleeper::let_free() {
  if (!kept_off_) return;
  kept_off_ = false;
  sched_setaffinity(0, sizeof all_, &all_);
}

}  // namespace sb::engine
