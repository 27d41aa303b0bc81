// With one connection: the kernel that opens the gate stands behind one that waits for it.
#include <cuda_runtime.h>

__device__ int flag;
__global__ void gate() {
  while (atomicAdd(&flag, 0) == 0) {
  }
}
__global__ void after(int* out) { *out = 1; }
__global__ void opens() { atomicExch(&flag, 1); }

int main() {
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  int* out;
  cudaMalloc(&out, sizeof(int));
  gate<<<1, 1, 0, s>>>();
  after<<<1, 1, 0, s>>>(out);
  opens<<<1, 1, 0, t>>>();
  return cudaStreamSynchronize(t);
}
