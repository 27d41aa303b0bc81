#include "engine/cores.hpp"

namespace sb::engine {

void core_of_sleeper::keep_off_this_core(pid_t thread) {
  if (kept_off_ || sched_getaffinity(thread, sizeof all_, &all_) != 0) return;
  const int here = sched_getcpu();
  if (here < 0) return;
  others_ = all_;
  CPU_CLR(here, &others_);
  if (CPU_EQUAL(&others_, &all_) || CPU_COUNT(&others_) == 0) return;
  kept_off_ = sched_setaffinity(thread, sizeof others_, &others_) == 0;
}

void core_of_sleeper::let_free() {
  if (!kept_off_) return;
  kept_off_ = false;
  cpu_set_t now;
  if (sched_getaffinity(0, sizeof now, &now) != 0 || !CPU_EQUAL(&now, &others_)) return;
  sched_setaffinity(0, sizeof all_, &all_);
}

}  // namespace sb::engine
