// A small result of a long kernel, and a large one that another stream has already: with one queue
// of copies to the host the second waits for the first.
#include <cuda_runtime.h>

__global__ void wait_for(float* out, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  *out = 1;
}

int main() {
  constexpr int large = 4 << 20;
  float *small, *data, *to;
  cudaMalloc(&small, sizeof(float));
  cudaMalloc(&data, large);
  cudaMallocHost(&to, large + sizeof(float));
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  for (int i = 0; i < 4; ++i) {
    wait_for<<<1, 1, 0, first>>>(small, 400000);
    cudaMemcpyAsync(to + large / sizeof(float), small, sizeof(float), cudaMemcpyDeviceToHost,
                    first);
    cudaMemcpyAsync(to, data, large, cudaMemcpyDeviceToHost, second);
    cudaDeviceSynchronize();
  }
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
