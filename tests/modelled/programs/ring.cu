// With one connection: the kernel that opens the gate stands behind one that waits for it.
// Called with a word, it says when all of them are pending and the first one runs.
#include <cuda_runtime.h>
#include <cstdio>

__device__ int flag;
__managed__ volatile int entered;
__global__ void gate() {
  entered = 1;
  while (atomicAdd(&flag, 0) == 0) {
  }
}
__global__ void after(int* out) { *out = 1; }
__global__ void opens() { atomicExch(&flag, 1); }

int main(int words, char**) {
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  int* out;
  cudaMalloc(&out, sizeof(int));
  gate<<<1, 1, 0, s>>>();
  after<<<1, 1, 0, s>>>(out);
  opens<<<1, 1, 0, t>>>();
  if (words > 1) {
    while (entered == 0) {
    }
    std::puts("all is pending");
    std::fflush(stdout);
  }
  return cudaStreamSynchronize(t);
}
