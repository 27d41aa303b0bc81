// A kernel that looks for what nobody writes, so many times at most: it is no hang, and each of its
// looks takes as long as the others.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void look(volatile int* flag, int most, int* looks) {
  int i = 0;
  while (*flag == 0 && i < most) ++i;
  *looks = i;
}

int main() {
  int* memory;
  cudaMallocManaged(&memory, 2 * sizeof(int));
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float ms[2] = {};
  for (int i = 0; i < 2; ++i) {
    memory[0] = 0;
    cudaEventRecord(begin);
    look<<<1, 1>>>(memory, i == 0 ? 20'000 : 200'000, memory + 1);
    cudaEventRecord(end);
    std::printf("%s, %d looks\n", cudaGetErrorName(cudaDeviceSynchronize()), memory[1]);
    cudaEventElapsedTime(&ms[i], begin, end);
  }
  std::printf("%.0f times as long\n", ms[1] / ms[0]);
}
