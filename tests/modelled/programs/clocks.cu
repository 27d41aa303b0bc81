// Every sleep, and every wait for files in vain, lets 3 ms pass on every clock; what is no time is
// refused.
#include <cuda_runtime.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <thread>

static double ms_of(const timespec& t) { return t.tv_sec * 1e3 + t.tv_nsec / 1e6; }

static double clock_ms(clockid_t which) {
  timespec now;
  clock_gettime(which, &now);
  return ms_of(now);
}

static bool refuses_what_is_no_time() {
  bool right = true;
  const auto expect = [&](const char* name, bool refused) {
    if (!refused) std::printf("%s does not answer as the system does\n", name);
    right = right && refused;
  };
  for (const timespec& wrong : {timespec{-1, 0}, timespec{0, -1}, timespec{0, 1'000'000'000}}) {
    errno = 0;
    expect("nanosleep", nanosleep(&wrong, nullptr) == -1 && errno == EINVAL);
    for (const int flags : {0, TIMER_ABSTIME})
      expect("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, flags, &wrong, nullptr) == EINVAL);
  }
  for (timeval wrong : {timeval{-1, 0}, timeval{0, -1}}) {
    errno = 0;
    expect("select", select(0, nullptr, nullptr, nullptr, &wrong) == -1 && errno == EINVAL);
  }
  timeval long_microseconds{0, 1'000'000};
  expect("select of more than a second's microseconds",
         select(0, nullptr, nullptr, nullptr, &long_microseconds) == 0);
  return right;
}

int main() {
  cudaFree(nullptr);
  struct named {
    const char* name;
    std::function<double()> run;
  };
  const named clocks[] = {
      {"monotonic", [] { return clock_ms(CLOCK_MONOTONIC); }},
      {"realtime", [] { return clock_ms(CLOCK_REALTIME); }},
      {"gettimeofday",
       [] {
         timeval now;
         gettimeofday(&now, nullptr);
         return now.tv_sec * 1e3 + now.tv_usec / 1e3;
       }},
      {"timespec_get",
       [] {
         timespec now;
         timespec_get(&now, TIME_UTC);
         return ms_of(now);
       }},
      {"chrono",
       [] {
         const auto now = std::chrono::system_clock::now().time_since_epoch();
         return std::chrono::duration<double, std::milli>(now).count();
       }},
  };
  const timespec three{0, 3'000'000};
  int ends[2];  // of a pipe that nobody writes into
  if (pipe(ends) != 0) return 1;
  const int set = epoll_create1(0);
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &wanted);
  const named sleeps[] = {
      {"usleep", [] { return usleep(3000); }},
      {"nanosleep", [&] { return nanosleep(&three, nullptr); }},
      {"clock_nanosleep", [&] { return clock_nanosleep(CLOCK_MONOTONIC, 0, &three, nullptr); }},
      {"poll", [] { return poll(nullptr, 0, 3); }},
      {"select",
       [] {
         timeval limit{0, 3000};
         return select(0, nullptr, nullptr, nullptr, &limit);
       }},
      {"ppoll", [&] { return ppoll(nullptr, 0, &three, nullptr); }},
      {"pselect", [&] { return pselect(0, nullptr, nullptr, nullptr, &three, nullptr); }},
      {"poll of a file",
       [&] {
         pollfd one{ends[0], POLLIN, 0};
         return poll(&one, 1, 3);
       }},
      {"select of a file",
       [&] {
         fd_set one;
         FD_ZERO(&one);
         FD_SET(ends[0], &one);
         timeval limit{0, 3000};
         return select(ends[0] + 1, &one, nullptr, nullptr, &limit);
       }},
      {"epoll_wait",
       [&] {
         epoll_event got;
         return epoll_wait(set, &got, 1, 3);
       }},
      {"epoll_pwait",
       [&] {
         epoll_event got;
         return epoll_pwait(set, &got, 1, 3, nullptr);
       }},
      {"sleep_for",
       [] {
         std::this_thread::sleep_for(std::chrono::milliseconds(3));
         return 0;
       }},
  };
  bool right = refuses_what_is_no_time();
  for (const named& clock : clocks)
    for (const named& sleep : sleeps) {
      const double begin = clock.run();
      sleep.run();
      const double passed = clock.run() - begin;
      if (passed > 2.99 && passed < 3.01) continue;
      std::printf("%s by %s: %.3f ms\n", sleep.name, clock.name, passed);
      right = false;
    }
  // What is ready takes no time.
  const char letter = 'a';
  if (write(ends[1], &letter, 1) != 1) return 1;
  const double begin = clock_ms(CLOCK_MONOTONIC);
  epoll_event got;
  pollfd one{ends[0], POLLIN, 0};
  if (epoll_wait(set, &got, 1, 3) != 1 || poll(&one, 1, 3) != 1 ||
      clock_ms(CLOCK_MONOTONIC) - begin > 0.01) {
    std::puts("a file that is ready is waited for");
    right = false;
  }
  std::puts(right ? "ok" : "wrong");
}
