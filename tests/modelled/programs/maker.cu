// The program's own thread calls nothing of CUDA's: the first that is seen of it is that it makes
// another thread.
#include <cuda_runtime.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

__global__ void add(int* sum, int value) { *sum += value; }

static std::mutex lock;
static std::condition_variable more;
static std::deque<int> work;

static void consume() {
  int *sum, host = 0;
  cudaMalloc(&sum, sizeof *sum);
  cudaMemset(sum, 0, sizeof *sum);
  for (;;) {
    std::unique_lock held(lock);
    more.wait(held, [] { return !work.empty(); });
    const int value = work.front();
    work.pop_front();
    held.unlock();
    if (value < 0) break;
    add<<<1, 1>>>(sum, value);
    cudaDeviceSynchronize();
  }
  cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost);
  std::puts(host == 210 ? "ok" : "wrong");
}

static void give(int value) {
  const std::lock_guard held(lock);
  work.push_back(value);
  more.notify_one();
}

int main() {
  std::thread consumer(consume);
  for (int i = 1; i <= 20; ++i) {
    give(i);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  give(-1);
  consumer.join();
}
