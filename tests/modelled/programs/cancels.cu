// Threads that are cancelled in every kind of call that may wait: what they have to clean up is
// done, at the canceller's time, and others go on.
#include <cuda_runtime.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

static double us() {
  static const auto begin = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
      .count();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static sem_t posts;
static bool has_lock = false, cleaned = false, destroyed = false;

static void let_go(void*) {
  cleaned = true;
  if (has_lock) has_lock = pthread_mutex_unlock(&lock) != 0;
}

struct local {
  ~local() { destroyed = true; }
};

static void work() {
  spin<<<1, 1, 0, cudaStreamPerThread>>>(1000);
  cudaStreamSynchronize(cudaStreamPerThread);
}

static void* sleeps_long(void*) {
  sleep(20);
  return nullptr;
}

static void wait_by(int how) {
  const timespec far_away{4'000'000'000, 0};
  pthread_t other;
  switch (how) {
    case 0:
      return (void)usleep(50);
    case 1:
      return (void)sleep(1000);
    case 2:
      return (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &far_away, nullptr);
    case 3:
      return (void)thrd_sleep(&far_away, nullptr);
    case 4:
      return (void)poll(nullptr, 0, 100'000);
    case 5:
      return (void)pthread_cond_wait(&told, &lock);
    case 6:
      return (void)pthread_cond_timedwait(&told, &lock, &far_away);
    case 7:
      return (void)sem_wait(&posts);
    default:
      pthread_create(&other, nullptr, sleeps_long, nullptr);
      return (void)pthread_join(other, nullptr);
  }
}

static constexpr int ways = 9;

static void* waits(void* given) {
  const local mine;
  pthread_cleanup_push(let_go, nullptr);
  const int how = *static_cast<int*>(given);
  if (how == 5 || how == 6) {
    pthread_mutex_lock(&lock);
    has_lock = true;
  }
  for (;;) {
    wait_by(how);
    work();
  }
  pthread_cleanup_pop(1);
  return nullptr;
}

// Who does not want to be cancelled sleeps on, and is when it wants to.
static void* refuses(void*) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  usleep(2000);
  std::printf("refused until %.3f\n", us());
  for (int i = 0; i < 3; ++i) work();
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  sleep(1000);
  return nullptr;
}

static bool cancel(void* (*run)(void*), void* given) {
  pthread_t other;
  pthread_create(&other, nullptr, run, given);
  usleep(333);
  work();
  pthread_cancel(other);
  void* result = nullptr;
  pthread_join(other, &result);
  return result == PTHREAD_CANCELED;
}

// The program's first thread is cancelled too, and another ends the program.
static pthread_t first;
static void* ends_all(void*) {
  usleep(100);
  pthread_cancel(first);
  usleep(100);
  work();
  std::printf("first cancelled %d at %.3f\n", cleaned, us());
  std::exit(0);
}

int main() {
  sem_init(&posts, 0, 0);
  us();
  for (int how = 0; how < ways; ++how) {
    cleaned = destroyed = false;
    const bool is = cancel(waits, &how);
    const bool free = pthread_mutex_trylock(&lock) == 0;
    if (free) pthread_mutex_unlock(&lock);
    std::printf("%d cancelled %d cleaned %d destroyed %d free %d at %.3f\n", how, is, cleaned,
                destroyed, free, us());
  }
  std::printf("refuses, cancelled %d at %.3f\n", cancel(refuses, nullptr), us());
  cleaned = false;
  first = pthread_self();
  pthread_t other;
  pthread_create(&other, nullptr, ends_all, nullptr);
  pthread_detach(other);
  std::fflush(stdout);
  pthread_cleanup_push(let_go, nullptr);
  for (;;) sleep(1000);
  pthread_cleanup_pop(0);
}
