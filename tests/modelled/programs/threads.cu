// Host threads that wait for each other by locks, conditions, joins and sleeps: their order is the
// modelled one.
#include <cuda_runtime.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

__global__ void add(int* counter, int value, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  if (threadIdx.x == 0) atomicAdd(counter, value);
}

static double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

int main() {
  int* counter;
  cudaMalloc(&counter, sizeof(int));
  cudaMemset(counter, 0, sizeof(int));
  cudaDeviceSynchronize();
  const double begin = now_us();

  std::mutex lock;
  std::condition_variable more;
  std::queue<int> work;
  bool over = false;
  std::vector<std::string> lines;
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&, w] {
      cudaStream_t s;
      cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
      for (;;) {
        std::unique_lock held(lock);
        more.wait(held, [&] { return over || !work.empty(); });
        if (work.empty()) break;
        const int item = work.front();
        work.pop();
        held.unlock();
        add<<<1, 32, 0, s>>>(counter, item, 100000 * (w + 1));
        cudaStreamSynchronize(s);
        char line[80];
        std::snprintf(line, sizeof line, "worker %d did %d at %.3f us", w, item, now_us() - begin);
        held.lock();
        lines.emplace_back(line);
      }
      cudaStreamDestroy(s);
    });
  }
  for (int i = 1; i <= 20; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(30));
    const std::lock_guard held(lock);
    work.push(i);
    more.notify_one();
  }
  {
    const std::lock_guard held(lock);
    over = true;
  }
  more.notify_all();
  for (std::thread& w : workers) w.join();
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
  int sum = 0;
  cudaMemcpy(&sum, counter, sizeof sum, cudaMemcpyDeviceToHost);
  std::printf("sum %d\n%s\n", sum, sum == 210 ? "ok" : "wrong");
  return sum == 210 ? 0 : 1;
}
