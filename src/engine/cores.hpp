// Which cores threads run on.
#pragma once

#include <sched.h>
#include <sys/types.h>

namespace sb::engine {

// Of a thread that sleeps and is woken by others. Whoever calls anything of it holds a lock.
class core_of_sleeper {
 public:
  // By whoever is about to wake the thread: it comes on another core than this, if it may use one.
  void keep_off_this_core(pid_t thread);
  // By the thread, once it runs: it may use all its cores again, unless somebody else has said
  // meanwhile which ones.
  void let_free();

 private:
  cpu_set_t all_, others_;
  bool kept_off_ = false;
};

}  // namespace sb::engine
