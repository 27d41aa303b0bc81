// For --default-stream per-thread: threads that bring work at the same time, each in its own
// default stream. The first argument says whether copies wait, the second how many threads there
// are.
#include <cuda_runtime.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

__global__ void work(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = p[i];
  for (int r = 0; r < 500; ++r) a = a * 0.99f + 1;
  p[i] = a;
}

int main(int, char** words) {
  constexpr int n = 1 << 14, turns = 20;
  const bool copies = words[1] == std::string("copies");
  std::vector<std::thread> all;
  for (int k = 0; k < std::atoi(words[2]); ++k)
    all.emplace_back([=] {
      float *device, *host;
      cudaMalloc(&device, n * sizeof(float));
      cudaMallocHost(&host, n * sizeof(float));
      const auto copy = [=](float* to, float* from, cudaMemcpyKind way) {
        if (copies)
          cudaMemcpy(to, from, n * sizeof(float), way);
        else
          cudaMemcpyAsync(to, from, n * sizeof(float), way);
      };
      for (int turn = 0; turn < turns; ++turn) {
        copy(device, host, cudaMemcpyHostToDevice);
        work<<<n / 256, 256>>>(device, n);
        copy(host, device, cudaMemcpyDeviceToHost);
        cudaStreamSynchronize(nullptr);
      }
    });
  for (std::thread& one : all) one.join();
}
