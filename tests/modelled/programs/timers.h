// What programs with timers have in common. Times are microseconds of the program's own clock since
// its timer was set.
#pragma once
#include <cuda_runtime.h>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <thread>

namespace {

__global__ void spin(long long ns) {
  const long long begin = clock64();
  while (clock64() - begin < ns * 1980 / 1000) {
  }
}

std::int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000ll + t.tv_nsec;
}
std::int64_t begin = 0;
void start() { begin = now_ns(); }
double us() { return static_cast<double>(now_ns() - begin) / 1000; }

timespec after(std::int64_t ns) { return {ns / 1'000'000'000, ns % 1'000'000'000}; }
itimerspec times(std::int64_t first, std::int64_t period) { return {after(period), after(first)}; }

volatile std::sig_atomic_t hits = 0;
pthread_t taker;
double hit_us[64];
int overruns[64];
void note(int) {
  taker = pthread_self();
  hit_us[hits % 64] = us();
  hits = hits + 1;
}
void note_all(int, siginfo_t* info, void*) {
  overruns[hits % 64] = info->si_overrun;
  note(0);
}
void handle(int signal, int flags) {
  struct sigaction action{};
  action.sa_handler = note;
  if ((flags & SA_SIGINFO) != 0) action.sa_sigaction = note_all;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}
void tell(const char* what, int result) {
  std::printf("%s %d %s hits %d at %.3f, now %.3f\n", what, result,
              result < 0 ? std::strerror(errno) : "ok", static_cast<int>(hits),
              hits > 0 ? hit_us[(hits - 1) % 64] : 0.0, us());
}

timer_t make(clockid_t clock, int notify, int signal, int value) {
  sigevent how{};
  how.sigev_notify = notify;
  how.sigev_signo = signal;
  how.sigev_value.sival_int = value;
  timer_t made;
  if (timer_create(clock, &how, &made) != 0) std::perror("timer_create");
  return made;
}
void set(timer_t timer, std::int64_t first, std::int64_t period) {
  const itimerspec wanted = times(first, period);
  timer_settime(timer, 0, &wanted, nullptr);
}

constexpr std::int64_t ms = 1'000'000;

// Runs what the program's first argument names.
inline int run(char** arguments, const std::map<std::string, void (*)()>& ways) {
  cudaFree(nullptr);
  ways.at(arguments[1])();
  std::puts("end");
  return 0;
}

}  // namespace
