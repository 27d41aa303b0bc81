// Streams, the basics.
//
// A stream is a queue of work for the device. Work in one stream runs in the order in which it was
// issued; work in different streams may run at the same time. Every call below returns before its
// work is done: the host only waits where it says so, in cudaStreamSynchronize.
#include <vector>

#include "common.h"

__global__ void add(float* data, int n, float value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += value;
}

int main() {
  const int n = 1 << 16;
  const size_t bytes = n * sizeof(float);
  const int streams = 2;

  cudaStream_t stream[streams];
  float *host[streams], *device[streams];
  for (int s = 0; s < streams; ++s) {
    CHECK(cudaStreamCreate(&stream[s]));
    // Copies run beside kernels only from and to page-locked host memory.
    CHECK(cudaMallocHost(&host[s], bytes));
    CHECK(cudaMalloc(&device[s], bytes));
    for (int i = 0; i < n; ++i) host[s][i] = static_cast<float>(i);
  }

  for (int s = 0; s < streams; ++s) {
    CHECK(cudaMemcpyAsync(device[s], host[s], bytes, cudaMemcpyHostToDevice, stream[s]));
    add<<<(n + 255) / 256, 256, 0, stream[s]>>>(device[s], n, 10.0f * (s + 1));
    CHECK(cudaGetLastError());  // a launch has no return value: its error is picked up here
    CHECK(cudaMemcpyAsync(host[s], device[s], bytes, cudaMemcpyDeviceToHost, stream[s]));
  }

  for (int s = 0; s < streams; ++s) {
    CHECK(cudaStreamSynchronize(stream[s]));  // from here on the host may read host[s]
    for (int i = 0; i < n; ++i) EXPECT(host[s][i] == i + 10.0f * (s + 1));
    std::printf("stream %d: copied %d numbers in, added %.0f to each, copied them back\n", s, n,
                10.0f * (s + 1));
  }

  for (int s = 0; s < streams; ++s) {
    CHECK(cudaFree(device[s]));
    CHECK(cudaFreeHost(host[s]));
    CHECK(cudaStreamDestroy(stream[s]));
  }
  std::printf("ok\n");
  return 0;
}
