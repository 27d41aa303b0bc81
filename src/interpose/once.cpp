// What is done once (pthread_once, and std::call_once, which calls it), in modelled time: those
// that come while it is done give their turn away.
#include <pthread.h>

#include <cstddef>
#include <set>

#include "interpose/hooks.hpp"

using sb::interpose::following;
using sb::interpose::never;
using sb::interpose::wait_until;

namespace {

// What is being done. Guarded by its lock.
struct once_table {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  std::set<const pthread_once_t*> under_way;
};
once_table& table() {
  static auto* one = new once_table;  // threads may outlive the process's statics
  return *one;
}

// The table's own lock is none that the program waits for.
template <class Body>
auto with_table(Body body) {
  SB_NEXT(pthread_mutex_lock);
  SB_NEXT(pthread_mutex_unlock);
  real_pthread_mutex_lock(&table().lock);
  const auto result = body(table().under_way);
  real_pthread_mutex_unlock(&table().lock);
  return result;
}

// A bit that the C library sets.
bool is_done(const pthread_once_t* what) {
  constexpr int done = 2;
  return (__atomic_load_n(what, __ATOMIC_ACQUIRE) & done) != 0;
}

// One that is left by an exception or cancelled has not been done: the next one does it.
class turn_to_do_it {
 public:
  explicit turn_to_do_it(const pthread_once_t* what) : what_(what) {}
  ~turn_to_do_it() {
    with_table([this](auto& under_way) { return under_way.erase(what_); });
    if (const auto* h = following(); h != nullptr) h->wake(what_, ~std::size_t{0});
  }
  turn_to_do_it(const turn_to_do_it&) = delete;
  turn_to_do_it& operator=(const turn_to_do_it&) = delete;

 private:
  const pthread_once_t* what_;
};

}  // namespace

SB_INTERPOSED int pthread_once(pthread_once_t* control, void (*routine)()) {
  SB_NEXT(pthread_once);
  const auto* h = is_done(control) ? nullptr : following();
  if (h == nullptr) return real_pthread_once(control, routine);
  const auto begun = [&] {
    return with_table([&](auto& under_way) { return under_way.insert(control).second; });
  };
  if (!begun() && !wait_until(*h, sb::interpose::once_done, control, never, begun))
    return real_pthread_once(control, routine);  // the process ends
  const turn_to_do_it own(control);
  return real_pthread_once(control, routine);
}
