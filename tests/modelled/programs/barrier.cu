// A warp waits for a flag that another warp of its block would set, behind a barrier of both.
#include <cuda_runtime.h>

__global__ void meets(volatile int* flag) {
  if (threadIdx.x < 32) {
    while (*flag == 0) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 32) *flag = 1;
}

int main() {
  int* flag;
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  meets<<<1, 64>>>(flag);
  cudaDeviceSynchronize();
}
