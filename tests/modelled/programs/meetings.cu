// Steps of a grid that meets between them, by grid.sync() and by a counter, four times each; many
// meetings of many blocks; kernels that wait for what another one computes first. Prints what each
// took, in microseconds. Called with a number, so many threads do the first at the same time.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace groups = cooperative_groups;

__device__ void move(float* a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[blockIdx.x * n + i] += 1;
}

__global__ void by_grid(float* a, int n, int steps) {
  groups::grid_group grid = groups::this_grid();
  for (int i = 0; i < steps; ++i) {
    move(a, n);
    grid.sync();
  }
}

__global__ void by_hand(unsigned* count, float* a, int n, int steps) {
  for (int i = 0; i < steps; ++i) {
    move(a, n);
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      const unsigned all = (atomicAdd(count, 1) / gridDim.x + 1) * gridDim.x;
      while (*(volatile unsigned*)count < all) {
      }
      __threadfence();
    }
    __syncthreads();
  }
}

__device__ float compute(float x, int rounds) {
  for (int i = 0; i < rounds; ++i) x = x * 0.999f + 0.5f;
  return x;
}

__global__ void raises(volatile unsigned* flag, float* out, int rounds) {
  *out = compute(1, rounds);
  __threadfence();
  *flag = 1;
}

__global__ void awaits(volatile unsigned* flag, float* out, int rounds) {
  while (*flag == 0) {
  }
  *out = compute(2, rounds);
}

struct device_memory {
  unsigned* count;
  float* a;
  cudaStream_t stream;
  cudaEvent_t begin, end;
  device_memory() {
    cudaMalloc(&count, 1024);
    cudaMalloc(&a, 16 << 20);
    cudaMemset(count, 0, 1024);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaDeviceSynchronize();
  }
};

template <class F>
double took(device_memory& m, F launch) {
  cudaEventRecord(m.begin, m.stream);
  launch();
  cudaEventRecord(m.end, m.stream);
  cudaEventSynchronize(m.end);
  float ms;
  cudaEventElapsedTime(&ms, m.begin, m.end);
  return ms * 1000;
}

std::string steps_of_a_grid() {
  device_memory m;
  std::string words;
  for (int i = 0; i < 4; ++i) {
    int n = 10000, steps = 8;
    void* arguments[] = {&m.a, &n, &steps};
    const double grid = took(m, [&] {
      cudaLaunchCooperativeKernel(reinterpret_cast<void*>(by_grid), 32, 128, arguments, 0,
                                  m.stream);
    });
    const double hand = took(m, [&] { by_hand<<<32, 128, 0, m.stream>>>(m.count, m.a, n, steps); });
    words += "grid " + std::to_string(grid) + "\nhand " + std::to_string(hand) + "\n";
  }
  return words;
}

int main(int words, char** argv) {
  if (words > 1) {
    std::vector<std::string> told(std::atoi(argv[1]));
    std::vector<std::thread> threads;
    for (std::string& one : told) threads.emplace_back([&one] { one = steps_of_a_grid(); });
    for (std::thread& one : threads) one.join();
    for (const std::string& one : told) std::fputs(one.c_str(), stdout);
    return cudaDeviceSynchronize();
  }
  std::fputs(steps_of_a_grid().c_str(), stdout);
  device_memory m, other;
  for (const int times : {10, 110})
    std::printf("meet%d %f\n", times,
                took(m, [&] { by_hand<<<1056, 64, 0, m.stream>>>(m.count, m.a, 0, times); }));
  cudaFuncAttributes loaded;
  cudaFuncGetAttributes(&loaded, raises);
  cudaFuncGetAttributes(&loaded, awaits);
  for (const int before : {0, 50000})
    for (const int after : {0, 50000}) {
      cudaMemset(other.count, 0, 4);
      cudaDeviceSynchronize();
      std::printf("flag.%d.%d %f\n", before, after, took(m, [&] {
                    awaits<<<1, 1, 0, m.stream>>>(other.count, m.a, after);
                    raises<<<1, 1, 0, other.stream>>>(other.count, other.a, before);
                  }));
    }
  return cudaDeviceSynchronize();
}
