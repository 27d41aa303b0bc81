#include "engine/cores.hpp"

#include <sched.h>

namespace sb::engine {

void leave_core() {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  const int here = sched_getcpu();
  if (here < 0) return;
  cpu_set_t others = all;
  CPU_CLR(here, &others);
  if (CPU_COUNT(&others) == 0) return;
  if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof all, &all);
}

}  // namespace sb::engine
