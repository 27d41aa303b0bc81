// Reads the clock a million times, until a kernel has written a flag.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>

__global__ void raise_after(volatile int* flag, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  *flag = 1;
}

int main() {
  constexpr long long millisecond = 1'980'000;  // cycles of the device
  int* memory;
  if (cudaMallocHost(reinterpret_cast<void**>(&memory), sizeof(int)) != cudaSuccess) return 1;
  volatile int* flag = memory;
  *flag = 0;
  raise_after<<<1, 1>>>(flag, 25 * millisecond);
  long reads = 0;
  while (*flag == 0) {
    std::chrono::steady_clock::now();
    ++reads;
  }
  std::printf("%s\n", reads > 900'000 ? "ok" : "too few");
  return cudaDeviceSynchronize() != cudaSuccess;
}
