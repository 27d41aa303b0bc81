// Kernels of several streams with a host function behind each, which takes long, here a sleep
// (as_is), or only tells a thread of its stream what to do (applied), or does nothing (empty). With
// "one" only the first stream has functions, and another kernel behind each.
#include <chrono>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int turns = 5, streams = 3;

__global__ void work(float* p, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  p[threadIdx.x] += 1;
}

void compute(int us) {
  if (us > 0) std::this_thread::sleep_for(std::chrono::microseconds(us));
}

struct task {
  int us = 0;
  bool tells = false;
  std::counting_semaphore<turns> told{0};
};

void CUDART_CB function(void* of) {
  task& t = *static_cast<task*>(of);
  if (t.tells)
    t.told.release();
  else
    compute(t.us);
}

}  // namespace

int main(int words, char** word) {
  if (words < 3) return 2;
  const std::string how = word[1];
  const bool only_one = words > 3 && std::string(word[3]) == "one";
  task tasks[streams];
  std::vector<std::thread> threads;
  cudaStream_t s[streams];
  float* p[streams];
  for (int i = 0; i < streams; ++i) {
    cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking);
    cudaMalloc(&p[i], 32 * sizeof(float));
    tasks[i].us = how == "empty" ? 0 : std::stoi(word[2]);
    tasks[i].tells = how == "applied";
    if (how == "applied" && (i == 0 || !only_one))
      threads.emplace_back([&t = tasks[i]] {
        for (int turn = 0; turn < turns; ++turn) {
          t.told.acquire();
          compute(t.us);
        }
      });
  }
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < streams; ++i) {
      work<<<1, 32, 0, s[i]>>>(p[i], 400000);
      if (only_one && i != 0) continue;
      cudaLaunchHostFunc(s[i], function, &tasks[i]);
      if (only_one) work<<<1, 32, 0, s[i]>>>(p[i], 400000);
    }
  }
  cudaDeviceSynchronize();
  for (std::thread& t : threads) t.join();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
