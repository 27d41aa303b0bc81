// Threads with code of their own, here a sleep, where the device waits for it: before each one's
// first kernel (prepares), or between a kernel and what the other thread waits for (hands_over).
// applied: without that code.
#include <cuda_runtime.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

__global__ void wait_for(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

static bool applied = false;

static void own_code(int us) {
  if (!applied) std::this_thread::sleep_for(std::chrono::microseconds(us));
}

static void run_kernel(cudaStream_t s) {
  wait_for<<<1, 32, 0, s>>>(180000);
  cudaStreamSynchronize(s);
}

static cudaStream_t own_stream() {
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  return s;
}

// `at_once`: all of them take as long, so that the device has nothing to do before.
static void prepares(bool at_once) {
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([=] {
      cudaStream_t s = own_stream();
      own_code(200 * (at_once ? 4 : k));
      run_kernel(s);
    });
  for (std::thread& t : threads) t.join();
}

static void hands_over() {
  std::mutex lock;
  std::condition_variable changed;
  int turn = 0;
  const auto work = [&](int who) {
    cudaStream_t s = own_stream();
    for (int k = 0; k < 6; ++k) {
      {
        std::unique_lock held(lock);
        changed.wait(held, [&] { return turn % 2 == who; });
      }
      run_kernel(s);
      own_code(60);
      {
        std::lock_guard held(lock);
        ++turn;
      }
      changed.notify_all();
    }
  };
  std::thread one(work, 0), other(work, 1);
  one.join();
  other.join();
}

int main(int, char** words) {
  const std::string what = words[1];
  applied = words[2] == std::string("applied");
  if (what == "prepares") prepares(false);
  if (what == "prepares_at_once") prepares(true);
  if (what == "hands_over") hands_over();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
