// Every way of the C++ library to wait for another thread. Each scene: a thread has a kernel of
// some hundred microseconds, and then tells this one, which waited as long and no longer.
#include <cuda_runtime.h>
#include <pthread.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

__global__ void wait_for(long long ns) {
  const long long begin = clock64();
  while ((clock64() - begin) * 1000 < ns * 1980) {
  }
}

using std::chrono::microseconds;
using std::chrono::steady_clock;

static bool failed = false;
static int kernel_us = 300;

static void run_kernel(cudaStream_t s) {
  wait_for<<<1, 32, 0, s>>>(kernel_us * 1000LL);
  cudaStreamSynchronize(s);
}

// `wait` returns when `tell` was called; `ready` comes before both.
template <class Ready, class Tell, class Wait>
static void scene(const char* name, Ready ready, Tell tell, Wait wait) {
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  std::binary_semaphore begun{0};
  const steady_clock::time_point begin = steady_clock::now();
  std::thread other([&] {
    ready();
    begun.release();
    run_kernel(s);
    tell();
  });
  begun.acquire();
  wait();
  const double us = std::chrono::duration<double, std::micro>(steady_clock::now() - begin).count();
  other.join();
  cudaStreamDestroy(s);
  std::printf("%s %.3f us\n", name, us);
  if (us < kernel_us || us > kernel_us + 100) failed = true;
  kernel_us += 10;
}

static const auto nothing = [] {};

static void futures() {
  std::promise<int> promised;
  std::future<int> future = promised.get_future();
  scene("promise", nothing, [&] { promised.set_value(1); }, [&] { future.get(); });
  std::promise<int> again;
  std::future<int> soon = again.get_future();
  scene(
      "future, for a time", nothing, [&] { again.set_value(1); },
      [&] {
        int early = 0;
        while (soon.wait_for(microseconds(50)) == std::future_status::timeout) ++early;
        if (early != kernel_us / 50) failed = true;
        std::printf("asked %d times\n", early);
      });
  scene("async", nothing, nothing,
        [&] { std::async(std::launch::async, [] { run_kernel(cudaStreamPerThread); }).get(); });
}

static void counters() {
  std::atomic<int> word{0};
  scene("atomic of 4 bytes", nothing, [&] { word = 1, word.notify_all(); }, [&] { word.wait(0); });
  std::atomic<long long> wide{0};
  scene("atomic of 8 bytes", nothing, [&] { wide = 1, wide.notify_one(); }, [&] { wide.wait(0); });
  std::latch latch(1);
  scene("latch", nothing, [&] { latch.count_down(); }, [&] { latch.wait(); });
  std::barrier barrier(2);
  scene("barrier", nothing, [&] { barrier.arrive_and_wait(); }, [&] { barrier.arrive_and_wait(); });
  std::counting_semaphore<8> semaphore{0};
  scene(
      "semaphore", nothing, [&] { semaphore.release(3); },
      [&] {
        for (int i = 0; i < 3; ++i) semaphore.acquire();
      });
}

static void locks() {
  std::shared_mutex shared;
  scene(
      "lock of a reader", [&] { shared.lock(); }, [&] { shared.unlock(); },
      [&] { shared.lock_shared(), shared.unlock_shared(); });
  scene(
      "lock of a writer", [&] { shared.lock_shared(); }, [&] { shared.unlock_shared(); },
      [&] { shared.lock(), shared.unlock(); });
  std::timed_mutex timed;
  scene(
      "lock with a limit", [&] { timed.lock(); }, [&] { timed.unlock(); },
      [&] {
        int early = 0;
        while (!timed.try_lock_for(microseconds(100))) ++early;
        timed.unlock();
        std::printf("asked %d times\n", early);
      });
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  const auto meet = [&] {
    for (int i = 0; i < 3; ++i) pthread_barrier_wait(&barrier);
  };
  scene("barrier of threads", nothing, meet, meet);
  pthread_barrier_destroy(&barrier);
}

// A condition whose deadlines are the monotonic clock's by its attribute.
static void conditions() {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_t told;
  pthread_cond_init(&told, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  bool over = false;
  scene(
      "condition by the monotonic clock", nothing,
      [&] {
        pthread_mutex_lock(&lock);
        over = true;
        pthread_cond_signal(&told);
        pthread_mutex_unlock(&lock);
      },
      [&] {
        int early = 0;
        pthread_mutex_lock(&lock);
        while (!over) {
          timespec until;
          clock_gettime(CLOCK_MONOTONIC, &until);
          until.tv_nsec += 50'000;
          until.tv_sec += until.tv_nsec / 1'000'000'000;
          until.tv_nsec %= 1'000'000'000;
          if (pthread_cond_timedwait(&told, &lock, &until) != 0) ++early;
        }
        pthread_mutex_unlock(&lock);
        if (early != kernel_us / 50) failed = true;
      });
  pthread_cond_destroy(&told);
  // One by the other clock is that clock's, also where the first was.
  pthread_cond_init(&told, nullptr);
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  const steady_clock::time_point begin = steady_clock::now();
  until.tv_sec += 2;
  pthread_mutex_lock(&lock);
  if (pthread_cond_timedwait(&told, &lock, &until) != ETIMEDOUT) failed = true;
  pthread_mutex_unlock(&lock);
  const auto waited = steady_clock::now() - begin;
  if (waited < std::chrono::seconds(2) || waited > microseconds(2'000'100)) failed = true;
}

int main() {
  futures();
  counters();
  locks();
  conditions();
  std::puts(failed ? "wrong" : "ok");
  return failed ? 1 : 0;
}
