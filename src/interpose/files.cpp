// Waits for files with a time. When a file is ready has no modelled time: it comes from outside. A
// wait whose time came first has taken that time, and one without files is a sleep.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <cerrno>

#include "interpose/hooks.hpp"

using sb::interpose::following_from_now;
using sb::interpose::ns_of;

namespace {

constexpr std::uint64_t look_ns = 1000;  // of a call that only looks
constexpr std::uint64_t ms_ns = 1'000'000;

int refused() {
  errno = EINVAL;
  return -1;
}

bool is_time(const timespec& t) {
  return t.tv_sec >= 0 && t.tv_nsec >= 0 && t.tv_nsec < 1'000'000'000;
}

enum class waits_for : bool { time, files };

// `real` waits as the system does. A negative limit of the call is never.
template <class Real>
int wait(waits_for what, std::uint64_t limit_ns, const Real& real) {
  const auto* h = limit_ns != sb::interpose::never ? following_from_now() : nullptr;
  if (h == nullptr) return real();
  if (const int ready = what == waits_for::files ? real() : 0; ready != 0) return ready;
  const int error = errno;
  if (limit_ns == 0)
    h->pass(look_ns);
  else
    sb::interpose::sleep_in_turn(*h, limit_ns);
  errno = error;
  return 0;
}

std::uint64_t limit_of(int ms) {
  return ms < 0 ? sb::interpose::never : static_cast<std::uint64_t>(ms) * ms_ns;
}

std::uint64_t limit_of(const timespec* t) {
  return t == nullptr ? sb::interpose::never : ns_of(*t);
}

waits_for of(bool files) { return files ? waits_for::files : waits_for::time; }

}  // namespace

SB_INTERPOSED int poll(pollfd* files, nfds_t count, int timeout) {
  SB_NEXT(poll);
  return wait(of(count != 0), limit_of(timeout), [&] { return real_poll(files, count, timeout); });
}

SB_INTERPOSED int ppoll(pollfd* files, nfds_t count, const timespec* timeout,
                        const sigset_t* signals) {
  SB_NEXT(ppoll);
  if (timeout != nullptr && !is_time(*timeout)) return refused();
  return wait(of(count != 0), limit_of(timeout),
              [&] { return real_ppoll(files, count, timeout, signals); });
}

SB_INTERPOSED int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  SB_NEXT(select);
  if (timeout == nullptr) return real_select(count, read, write, except, timeout);
  if (timeout->tv_sec < 0 || timeout->tv_usec < 0) return refused();
  const std::uint64_t limit_ns = static_cast<std::uint64_t>(timeout->tv_sec) * 1'000'000'000u +
                                 static_cast<std::uint64_t>(timeout->tv_usec) * 1000u;
  const int ready = wait(of(count != 0), limit_ns,
                         [&] { return real_select(count, read, write, except, timeout); });
  if (ready == 0) *timeout = {};
  return ready;
}

SB_INTERPOSED int pselect(int count, fd_set* read, fd_set* write, fd_set* except,
                          const timespec* timeout, const sigset_t* signals) {
  SB_NEXT(pselect);
  if (timeout != nullptr && !is_time(*timeout)) return refused();
  return wait(of(count != 0), limit_of(timeout),
              [&] { return real_pselect(count, read, write, except, timeout, signals); });
}

SB_INTERPOSED int epoll_wait(int set, epoll_event* events, int count, int timeout) {
  SB_NEXT(epoll_wait);
  return wait(waits_for::files, limit_of(timeout),
              [&] { return real_epoll_wait(set, events, count, timeout); });
}

SB_INTERPOSED int epoll_pwait(int set, epoll_event* events, int count, int timeout,
                              const sigset_t* signals) {
  SB_NEXT(epoll_pwait);
  return wait(waits_for::files, limit_of(timeout),
              [&] { return real_epoll_pwait(set, events, count, timeout, signals); });
}
