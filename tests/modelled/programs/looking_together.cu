// Blocks whose threads look together, by votes or between barriers, for what the last block writes.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>

namespace groups = cooperative_groups;

__device__ bool is_writer(volatile int* flag) {
  if (blockIdx.x != gridDim.x - 1) return false;
  if (threadIdx.x == 0) *flag = 1;
  return true;
}

// As often as `left` says at most.
__global__ void by_votes(volatile int* flag, int left, int* saw) {
  if (is_writer(flag)) return;
  while (!__any_sync(~0u, *flag != 0) && --left > 0) {
  }
  if (left > 0) atomicAdd(saw, 1);
}
__global__ void by_halves(volatile int* flag, int left, int* saw) {
  if (is_writer(flag)) return;
  const unsigned half = threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u;
  while (!__any_sync(half, *flag != 0) && --left > 0) {
  }
  if (left > 0) atomicAdd(saw, 1);
}
__global__ void by_groups(volatile int* flag, int left, int* saw) {
  if (is_writer(flag)) return;
  while (!groups::coalesced_threads().any(*flag != 0) && --left > 0) {
  }
  if (left > 0) atomicAdd(saw, 1);
}
__global__ void between_barriers(volatile int* flag, int left, int* saw) {
  __shared__ int seen;
  if (is_writer(flag)) return;
  do {
    if (threadIdx.x == 0) seen = *flag;
    __syncthreads();
    if (seen != 0) break;
    __syncthreads();
  } while (--left > 0);
  if (left > 0) atomicAdd(saw, 1);
}

int main() {
  int* memory;
  cudaMallocManaged(&memory, 2 * sizeof(int));
  void (*const kernels[])(volatile int*, int, int*) = {by_votes, by_halves, by_groups,
                                                       between_barriers};
  for (const auto kernel : kernels) {
    memory[0] = memory[1] = 0;
    kernel<<<4, 64>>>(memory, 1 << 30, memory + 1);
    const cudaError_t status = cudaDeviceSynchronize();
    std::printf("%s: %d saw it\n", cudaGetErrorName(status), memory[1]);
  }
  cudaFree(memory);
}
