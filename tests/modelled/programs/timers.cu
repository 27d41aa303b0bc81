// A program that works until a timer of the system says so.
#include <cuda_runtime.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>

__global__ void nothing() {}

static volatile std::sig_atomic_t hit = 0;

int main(int, char** argv) {
  const std::string how = argv[1];
  std::signal(SIGALRM, [](int) { hit = 1; });
  const itimerval soon{{}, {0, 1000}};
  const itimerspec soon_too{{}, {0, 1'000'000}};
  if (how == "alarm") alarm(1);
  if (how == "ualarm") ualarm(1000, 0);
  if (how == "setitimer") setitimer(ITIMER_REAL, &soon, nullptr);
  if (how == "timer") {
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, nullptr, &timer);
    timer_settime(timer, 0, &soon_too, nullptr);
  }
  if (how == "file") {
    const int file = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(file, 0, &soon_too, nullptr);
    unsigned long long times = 0;
    hit = read(file, &times, sizeof times) == sizeof times;
  }
  if (how == "none") {
    const itimerval never{};
    hit = alarm(0) == 0 && setitimer(ITIMER_REAL, &never, nullptr) == 0;
  }
  do {
    nothing<<<1, 1>>>();
    cudaDeviceSynchronize();
  } while (!hit);
  std::puts("ok");
}
