// Waits for files. When a file of the system is ready has no modelled time: it comes from outside,
// and the wait is the system's; one whose time came first has taken that time. Where all files of a
// wait are the program's own (timers, counters, signals that timers send), the thread waits in
// modelled time. So does one that waits for no files.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "interpose/hooks.hpp"
#include "interpose/own_files.hpp"
#include "interpose/signals.hpp"
#include "interpose/timer_table.hpp"

using sb::interpose::following;
using sb::interpose::following_from_now;
using sb::interpose::interruptions;
using sb::interpose::is_time;
using sb::interpose::never;
using sb::interpose::ns_of;
using sb::interpose::other_mask;

namespace {

constexpr std::uint64_t look_ns = 1000;  // of a call that only looks
constexpr std::uint64_t ms_ns = 1'000'000;

int fails(int error) {
  errno = error;
  return -1;
}

enum class waits_for : std::uint8_t { time, own_files, files };

std::atomic<int> waiting{0};  // threads that wait for files in modelled time

// `look` asks the system without waiting; `real` waits, as the process ends.
template <class Look, class Real>
auto wait_in_turn(const streambed_clock_hooks& h, std::uint64_t until_ns, const Look& look,
                  const Real& real) -> decltype(look()) {
  const interruptions since;
  struct counted {
    counted() { ++waiting; }
    ~counted() { --waiting; }
  } const own;
  for (;;) {
    pthread_testcancel();
    h.prepare(&sb::interpose::file_changes, until_ns, &sb::interpose::signal_or_file);
    if (const auto ready = look(); ready != 0) {
      h.cancel();
      return ready;
    }
    const int how = h.wait();
    if (since.any()) return fails(EINTR);
    if (how == 0) return until_ns == never ? real() : look();
  }
}

std::uint64_t end_of(const streambed_clock_hooks& h, std::uint64_t limit_ns) {
  return limit_ns == never ? never : h.now() + limit_ns;
}

// `real` waits as the system does, and `look` does not wait. A negative limit of the call is never.
template <class Look, class Real>
int wait(waits_for what, std::uint64_t limit_ns, const sigset_t* mask, const Look& look,
         const Real& real) {
  const bool own = what == waits_for::own_files || sb::interpose::signals_are_due();
  const auto* h = limit_ns != never ? following_from_now() : own ? following() : nullptr;
  if (h == nullptr) return real();
  if (what == waits_for::own_files && limit_ns != 0) {
    const other_mask of_the_call(mask);
    return wait_in_turn(*h, end_of(*h, limit_ns), look, real);
  }
  if (what == waits_for::files || what == waits_for::own_files) {
    if (const int ready = real(); ready != 0 || limit_ns == never) return ready;
  }
  const other_mask of_the_call(mask);
  const int error = errno;
  if (limit_ns == never) return sb::interpose::await_handler(*h);
  if (limit_ns == 0)
    h->pass(look_ns);
  else if (sb::interpose::sleep_in_turn(*h, limit_ns) != 0)
    return fails(EINTR);
  errno = error;
  return 0;
}

std::uint64_t limit_of(int ms) { return ms < 0 ? never : static_cast<std::uint64_t>(ms) * ms_ns; }

std::uint64_t limit_of(const timespec* t) { return t == nullptr ? never : ns_of(*t); }

// Nothing but time may end a wait without files.
template <class AreOwn>
waits_for what_of(bool has_files, const AreOwn& are_own) {
  if (!has_files) return waits_for::time;
  return sb::interpose::timers_in_use() && are_own() ? waits_for::own_files : waits_for::files;
}

waits_for what_of(const pollfd* files, nfds_t count) {
  return what_of(count != 0, [=] {
    for (nfds_t i = 0; i < count; ++i)
      if (files[i].fd >= 0 && !sb::interpose::is_own_file(files[i].fd)) return false;
    return true;
  });
}

// The sets of files of select, which the system changes even if it only looks.
struct file_sets {
  int count;
  fd_set *read, *write, *except;
  fd_set given[3]{};

  file_sets(int n, fd_set* r, fd_set* w, fd_set* e) : count(n), read(r), write(w), except(e) {
    fd_set* const all[] = {read, write, except};
    for (int i = 0; i < 3; ++i)
      if (all[i] != nullptr) given[i] = *all[i];
  }
  [[nodiscard]] waits_for what() const {
    return what_of(count != 0, [this] {
      for (int file = 0; file < count; ++file) {
        const bool asked =
            FD_ISSET(file, &given[0]) || FD_ISSET(file, &given[1]) || FD_ISSET(file, &given[2]);
        if (asked && !sb::interpose::is_own_file(file)) return false;
      }
      return true;
    });
  }
  int look() const {
    SB_NEXT(select);
    fd_set* const all[] = {read, write, except};
    for (int i = 0; i < 3; ++i)
      if (all[i] != nullptr) *all[i] = given[i];
    timeval at_once{};
    return real_select(count, read, write, except, &at_once);
  }
};

int wait_for_set(int set, epoll_event* events, int count, int timeout, const sigset_t* mask) {
  SB_NEXT(epoll_wait);
  SB_NEXT(epoll_pwait);
  const waits_for what = what_of(true, [=] { return sb::interpose::is_own_file(set); });
  return wait(
      what, limit_of(timeout), mask, [&] { return real_epoll_wait(set, events, count, 0); },
      [&] { return real_epoll_pwait(set, events, count, timeout, mask); });
}

}  // namespace

SB_INTERPOSED int poll(pollfd* files, nfds_t count, int timeout) {
  SB_NEXT(poll);
  return wait(
      what_of(files, count), limit_of(timeout), nullptr, [&] { return real_poll(files, count, 0); },
      [&] { return real_poll(files, count, timeout); });
}

SB_INTERPOSED int ppoll(pollfd* files, nfds_t count, const timespec* timeout,
                        const sigset_t* signals) {
  SB_NEXT(poll);
  SB_NEXT(ppoll);
  if (timeout != nullptr && !is_time(*timeout)) return fails(EINVAL);
  return wait(
      what_of(files, count), limit_of(timeout), signals, [&] { return real_poll(files, count, 0); },
      [&] { return real_ppoll(files, count, timeout, signals); });
}

SB_INTERPOSED int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  SB_NEXT(select);
  if (timeout != nullptr && (timeout->tv_sec < 0 || timeout->tv_usec < 0)) return fails(EINVAL);
  const file_sets sets(count, read, write, except);
  const auto* h = timeout != nullptr ? following_from_now() : nullptr;
  const std::uint64_t limit_ns =
      timeout == nullptr ? never
                         : static_cast<std::uint64_t>(timeout->tv_sec) * 1'000'000'000u +
                               static_cast<std::uint64_t>(timeout->tv_usec) * 1000u;
  const std::uint64_t begin = h != nullptr ? h->now() : 0;
  const waits_for what = sets.what();
  const int ready = wait(
      what, limit_ns, nullptr, [&] { return sets.look(); },
      [&] { return real_select(count, read, write, except, timeout); });
  if (h == nullptr || (ready > 0 && what == waits_for::files)) return ready;
  const std::uint64_t took = h->now() - begin, left = limit_ns - std::min(limit_ns, took);
  *timeout = {static_cast<time_t>(left / 1'000'000'000u),
              static_cast<suseconds_t>(left % 1'000'000'000u / 1000)};
  return ready;
}

SB_INTERPOSED int pselect(int count, fd_set* read, fd_set* write, fd_set* except,
                          const timespec* timeout, const sigset_t* signals) {
  SB_NEXT(pselect);
  if (timeout != nullptr && !is_time(*timeout)) return fails(EINVAL);
  const file_sets sets(count, read, write, except);
  return wait(
      sets.what(), limit_of(timeout), signals, [&] { return sets.look(); },
      [&] { return real_pselect(count, read, write, except, timeout, signals); });
}

SB_INTERPOSED int epoll_wait(int set, epoll_event* events, int count, int timeout) {
  return wait_for_set(set, events, count, timeout, nullptr);
}

SB_INTERPOSED int epoll_pwait(int set, epoll_event* events, int count, int timeout,
                              const sigset_t* signals) {
  return wait_for_set(set, events, count, timeout, signals);
}

// A file that is ready is read at once. One of the program's own that is not is waited for.
SB_INTERPOSED ssize_t read(int file, void* out, std::size_t bytes) {
  SB_NEXT(read);
  SB_NEXT(poll);
  const auto* h = sb::interpose::timers_in_use() ? following() : nullptr;
  if (h == nullptr) return real_read(file, out, bytes);
  pollfd one{file, POLLIN, 0};
  const auto look = [&] { return real_poll(&one, 1, 0); };
  if (look() == 0 && sb::interpose::is_own_file(file) && !sb::interpose::is_nonblocking(file)) {
    int ready = -1;
    do {  // handlers that let calls go on do
      const interruptions since;
      ready = wait_in_turn(*h, never, look, [] { return 1; });
      if (ready < 0 && since.ends_restarted()) return -1;
    } while (ready < 0);
  }
  const ssize_t got = real_read(file, out, bytes);
  if (got > 0) sb::interpose::note_read_signals(file, out, static_cast<std::size_t>(got));
  return got;
}

// Who waits for what the program writes itself looks again.
SB_INTERPOSED ssize_t write(int file, const void* in, std::size_t bytes) {
  SB_NEXT(write);
  const ssize_t put = real_write(file, in, bytes);
  if (waiting.load(std::memory_order_relaxed) == 0) return put;
  const int error = errno;
  if (const auto* h = following(); h != nullptr)
    h->wake(&sb::interpose::file_changes, ~std::size_t{0});
  errno = error;
  return put;
}

SB_INTERPOSED int eventfd_write(int file, eventfd_t value) {
  return write(file, &value, sizeof value) == sizeof value ? 0 : -1;
}
