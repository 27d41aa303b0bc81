// The threads, locks and conditions of <threads.h>. The C library's are those of <pthread.h> under
// other names, and call each other inside of it: here they call ours.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>

#include "interpose/hooks.hpp"

namespace {

static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t) && sizeof(cnd_t) >= sizeof(pthread_cond_t));

pthread_mutex_t* mutex_of(mtx_t* lock) { return reinterpret_cast<pthread_mutex_t*>(lock); }
pthread_cond_t* condition_of(cnd_t* condition) {
  return reinterpret_cast<pthread_cond_t*>(condition);
}

int status_of(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case ENOMEM:
      return thrd_nomem;
    case ETIMEDOUT:
      return thrd_timedout;
    case EBUSY:
      return thrd_busy;
    default:
      return thrd_error;
  }
}

void* as_pointer(int result) { return reinterpret_cast<void*>(static_cast<std::intptr_t>(result)); }

struct beginning {
  thrd_start_t run;
  void* argument;
};
void* begin(void* given) {
  const beginning b = *static_cast<beginning*>(given);
  delete static_cast<beginning*>(given);
  return as_pointer(b.run(b.argument));
}

}  // namespace

SB_INTERPOSED int thrd_create(thrd_t* out, thrd_start_t run, void* argument) {
  auto* b = new beginning{run, argument};  // the new thread's, once there is one
  const int error = pthread_create(out, nullptr, &begin, b);
  if (error != 0) delete b;
  return error == EAGAIN ? thrd_nomem : status_of(error);
}

SB_INTERPOSED int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  const int error = pthread_join(thread, &value);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  return status_of(error);
}

SB_INTERPOSED void thrd_exit(int result) { pthread_exit(as_pointer(result)); }

SB_INTERPOSED int thrd_sleep(const timespec* wanted, timespec* left) {
  const int error = clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
  return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

SB_INTERPOSED void thrd_yield() { sched_yield(); }

SB_INTERPOSED int mtx_lock(mtx_t* lock) { return status_of(pthread_mutex_lock(mutex_of(lock))); }

SB_INTERPOSED int mtx_timedlock(mtx_t* lock, const timespec* until) {
  return status_of(pthread_mutex_timedlock(mutex_of(lock), until));
}

SB_INTERPOSED int mtx_unlock(mtx_t* lock) {
  return status_of(pthread_mutex_unlock(mutex_of(lock)));
}

SB_INTERPOSED int cnd_wait(cnd_t* condition, mtx_t* lock) {
  return status_of(pthread_cond_wait(condition_of(condition), mutex_of(lock)));
}

SB_INTERPOSED int cnd_timedwait(cnd_t* condition, mtx_t* lock, const timespec* until) {
  return status_of(pthread_cond_timedwait(condition_of(condition), mutex_of(lock), until));
}

SB_INTERPOSED int cnd_signal(cnd_t* condition) {
  return status_of(pthread_cond_signal(condition_of(condition)));
}

SB_INTERPOSED int cnd_broadcast(cnd_t* condition) {
  return status_of(pthread_cond_broadcast(condition_of(condition)));
}
