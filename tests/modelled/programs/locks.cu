// Hangs by locks, in the way that its first argument names:
//   function  a host function wants the lock that main holds while it waits for the stream
//   order     two threads take two locks in opposite order
//   joined    main waits for a thread that wants the lock that main holds
//   own       a thread takes a lock that it has
//   chain     a thread wants a lock of another one, which waits for a stream whose host function
//             waits for a condition that the first would signal
//   functions a host function waits for a condition that one of another stream would signal
//   ended     main wants a lock that a thread had when it ended
//   unknown   the same, of a thread that never called the runtime
//   left      main ends its thread, and another one waits for a signal
#include <cuda_runtime.h>
#include <pthread.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>

static std::mutex first, second;
static std::condition_variable told;
static bool is_told = false;
static std::binary_semaphore has_first{0}, has_second{0};

__global__ void nothing() {}

static void take_first(void*) { const std::lock_guard held(first); }
static void wait_for_signal(void*) {
  std::unique_lock held(second);
  has_second.release();
  told.wait(held, [] { return is_told; });
}

static void in_function(cudaStream_t s) {
  const std::lock_guard held(first);
  cudaLaunchHostFunc(s, take_first, nullptr);
  nothing<<<1, 1, 0, s>>>();
  cudaStreamSynchronize(s);
}

static void in_opposite_order() {
  std::thread other([] {
    const std::lock_guard held(second);
    has_second.release();
    has_first.acquire();
    const std::lock_guard also(first);
  });
  const std::lock_guard held(first);
  has_first.release();
  has_second.acquire();
  const std::lock_guard also(second);
  other.join();
}

static void joined() {
  const std::lock_guard held(first);
  std::thread other([] { const std::lock_guard also(first); });
  other.join();
}

static void own() {
  const std::lock_guard held(first);
  const std::lock_guard again(first);
}

static void tell(void*) {
  const std::lock_guard held(second);
  is_told = true;
  told.notify_all();
}

static void functions(cudaStream_t s) {
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaLaunchHostFunc(s, wait_for_signal, nullptr);
  nothing<<<1, 1, 0, other>>>();
  cudaLaunchHostFunc(other, tell, nullptr);
  cudaDeviceSynchronize();
}

static void chain(cudaStream_t s) {
  cudaLaunchHostFunc(s, wait_for_signal, nullptr);
  std::thread other([] {
    has_second.acquire();
    has_first.acquire();
    const std::lock_guard held(first);
    is_told = true;
    told.notify_all();
  });
  const std::lock_guard held(first);
  has_first.release();
  cudaStreamSynchronize(s);
  other.join();
}

static void ended(bool calls) {
  std::thread([calls] {
    if (calls) cudaDeviceSynchronize();
    first.lock();
  }).join();
  const std::lock_guard held(first);
}

static void left() {
  std::thread([] {
    std::unique_lock held(second);
    told.wait(held, [] { return is_told; });
  }).detach();
  pthread_exit(nullptr);
}

int main(int, char** arguments) {
  const std::string how = arguments[1];
  cudaStream_t s;
  cudaStreamCreate(&s);
  nothing<<<1, 1, 0, s>>>();
  cudaStreamSynchronize(s);
  if (how == "function") in_function(s);
  if (how == "order") in_opposite_order();
  if (how == "joined") joined();
  if (how == "own") own();
  if (how == "chain") chain(s);
  if (how == "functions") functions(s);
  if (how == "ended") ended(true);
  if (how == "unknown") ended(false);
  if (how == "left") left();
  std::puts("ok");
}
