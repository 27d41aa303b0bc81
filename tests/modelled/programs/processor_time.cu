// What processors have done, by every clock of it: a thread that waits for the device looks for its
// answer, one that sleeps or waits for another thread has no processor, and the process has what
// all of its threads had.
#include <cuda_runtime.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <unistd.h>

#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <functional>
#include <mutex>
#include <thread>

static bool right = true;

static double clock_ms(clockid_t which) {
  timespec now;
  clock_gettime(which, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static double used_ms(__rusage_who_t who) {
  rusage used;
  getrusage(who, &used);
  return used.ru_utime.tv_sec * 1e3 + used.ru_utime.tv_usec / 1e3 + used.ru_stime.tv_sec * 1e3 +
         used.ru_stime.tv_usec / 1e3;
}

static double times_ms() {
  tms used;
  times(&used);
  return (used.tms_utime + used.tms_stime) * 1e3 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

static double returned_by_times_ms() {
  return times(nullptr) * 1e3 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// `coarse`: as much as one step of the clock may be missing or too many.
static void expect(const char* what, double ms, double wanted, double coarse = 0.2) {
  if (std::fabs(ms - wanted) <= coarse) return;
  std::printf("%s: %.3f ms, expected %.3f\n", what, ms, wanted);
  right = false;
}

__global__ void wait_ms(long long ms) {
  const long long begin = clock64();
  while (clock64() - begin < ms * 1980000) {
  }
}

static void on_the_device(int ms) {
  wait_ms<<<1, 1>>>(ms);
  cudaDeviceSynchronize();
}

static void for_another_thread(int ms) {
  std::mutex m;
  std::condition_variable changed;
  bool there = false;
  std::thread other([&] {
    usleep(ms * 1000);
    const std::lock_guard lock(m);
    there = true;
    changed.notify_one();
  });
  std::unique_lock lock(m);
  changed.wait(lock, [&] { return there; });
  lock.unlock();
  other.join();
}

int main() {
  cudaFree(nullptr);
  cudaDeviceProp props;
  cudaGetDeviceProperties(&props, 0);
  int khz = 0;
  cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
  const double on_device = 40 * 1980000.0 / khz;  // ms
  struct named {
    const char* name;
    std::function<double()> ms;
    double step;
  };
  const named clocks[] = {
      {"clock", [] { return clock() * 1e3 / CLOCKS_PER_SEC; }, 0.2},
      {"CLOCK_PROCESS_CPUTIME_ID", [] { return clock_ms(CLOCK_PROCESS_CPUTIME_ID); }, 0.2},
      {"CLOCK_THREAD_CPUTIME_ID", [] { return clock_ms(CLOCK_THREAD_CPUTIME_ID); }, 0.2},
      {"getrusage", [] { return used_ms(RUSAGE_SELF); }, 0.2},
      {"getrusage of the thread", [] { return used_ms(RUSAGE_THREAD); }, 0.2},
      {"times", times_ms, 10.2},
  };
  on_the_device(1);
  for (const named& c : clocks) {
    double begin = c.ms();
    on_the_device(40);
    expect(c.name, c.ms() - begin, on_device, c.step);
    begin = c.ms();
    usleep(40000);
    for_another_thread(40);
    expect(c.name, c.ms() - begin, 0, c.step);
  }
  const double begin = returned_by_times_ms();
  usleep(40000);
  expect("times returns", returned_by_times_ms() - begin, 40, 10.2);

  // Two threads at once: each had one, the process both.
  const double process = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
  double own = 0;
  std::thread other([&] {
    on_the_device(40);
    own = clock_ms(CLOCK_THREAD_CPUTIME_ID);
  });
  on_the_device(40);
  other.join();
  expect("a thread of two", own, on_device, on_device + 0.2);
  const double both = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - process;
  if (both < 1.5 * on_device) {
    std::printf("two threads: %.3f ms\n", both);
    right = false;
  }
  std::puts(right ? "ok" : "wrong");
}
