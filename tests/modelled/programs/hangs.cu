// Waits for a kernel that waits for a flag that nobody writes.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {
  }
}

int main() {
  int* flag;
  cudaMallocHost(&flag, sizeof(int));
  *flag = 0;
  wait_for<<<1, 1>>>(flag);
  std::printf("waiting\n");
  std::fflush(stdout);
  cudaDeviceSynchronize();
  std::printf("never\n");
}
