// Blocks that wait for all blocks of their grid, by a counter ("meet", "nap"), or a kernel that
// waits for one in another stream ("flag"). The number of blocks decides whether that can come.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>

__global__ void meet(unsigned* count) {
  if (threadIdx.x == 0) {
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < gridDim.x) {
    }
  }
  __syncthreads();
}

__global__ void nap(unsigned* count) {
  if (threadIdx.x == 0) {
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < gridDim.x) __nanosleep(200);
  }
  __syncthreads();
}

__global__ void waits(volatile unsigned* flag) {
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
  }
  __syncthreads();
}

__global__ void sets(volatile unsigned* flag) { *flag = 1; }

int main(int, char** words) {
  const std::string how = words[1];
  const int blocks = std::atoi(words[2]);
  unsigned* count;
  cudaMalloc(&count, sizeof(unsigned));
  cudaMemset(count, 0, sizeof(unsigned));
  cudaFuncAttributes loaded;
  cudaFuncGetAttributes(&loaded, waits);
  cudaFuncGetAttributes(&loaded, sets);
  cudaStream_t s[2];
  for (cudaStream_t& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  if (how == "meet") meet<<<blocks, 1024, 0, s[0]>>>(count);
  if (how == "nap") nap<<<blocks, 1024, 0, s[0]>>>(count);
  if (how == "flag") {
    waits<<<blocks, 1024, 0, s[0]>>>(count);
    sets<<<1, 1, 0, s[1]>>>(count);
  }
  std::printf("all is pending\n");
  std::fflush(stdout);
  return cudaDeviceSynchronize();
}
