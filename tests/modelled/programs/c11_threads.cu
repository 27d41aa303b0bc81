// Threads, locks and conditions of <threads.h>: a line after each, with the milliseconds since the
// beginning.
#include <cuda_runtime.h>
#include <threads.h>

#include <cstdio>
#include <ctime>

static mtx_t lock;
static cnd_t changed;
static bool is_done = false;

__global__ void wait_cycles(long long n) {
  const long long begin = clock64();
  while (clock64() - begin < n) {
  }
}

static timespec now() {
  timespec t;
  timespec_get(&t, TIME_UTC);
  return t;
}
static void line(const char* what, int result) {
  static const timespec begin = now();
  const timespec t = now();
  std::printf("%s %d %.3f\n", what, result,
              (t.tv_sec - begin.tv_sec) * 1e3 + (t.tv_nsec - begin.tv_nsec) / 1e6);
}
static timespec in_seconds(int n) {
  timespec t = now();
  t.tv_sec += n;
  return t;
}

static int works(void*) {
  cudaStream_t s;
  cudaStreamCreate(&s);
  wait_cycles<<<1, 1, 0, s>>>(2'000'000);
  cudaStreamSynchronize(s);
  mtx_lock(&lock);
  is_done = true;
  cnd_signal(&changed);
  mtx_unlock(&lock);
  thrd_exit(7);
}

static int holds(void*) {
  constexpr timespec long_time{5, 0};
  mtx_lock(&lock);
  thrd_sleep(&long_time, nullptr);
  mtx_unlock(&lock);
  return 0;
}

int main() {
  mtx_init(&lock, mtx_timed);
  cnd_init(&changed);
  line("begin", 0);
  thrd_t other;
  thrd_create(&other, works, nullptr);
  mtx_lock(&lock);
  while (!is_done) cnd_wait(&changed, &lock);
  mtx_unlock(&lock);
  int result = 0;
  thrd_join(other, &result);
  line("joined", result);
  timespec until = in_seconds(100);
  mtx_lock(&lock);
  line("condition", cnd_timedwait(&changed, &lock, &until) == thrd_timedout);
  mtx_unlock(&lock);
  thrd_create(&other, holds, nullptr);
  constexpr timespec short_time{1, 0};
  thrd_sleep(&short_time, nullptr);
  until = in_seconds(2);
  line("lock", mtx_timedlock(&lock, &until) == thrd_timedout);
  line("taken", mtx_lock(&lock) == thrd_success);
  mtx_unlock(&lock);
  thrd_join(other, nullptr);
}
