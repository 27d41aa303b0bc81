// Prefetch: the next batch is copied in while the current one is computed.
//
// One stream copies, one computes, two buffers alternate. Two events per buffer keep them apart:
// "filled" (the computation may start) and "free" (the next copy may overwrite it). The host issues
// everything and waits once, at the end.
#include <vector>

#include "common.h"

__global__ void sum_squares(const int* batch, int n, unsigned long long* total) {
  unsigned long long mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    mine += static_cast<unsigned long long>(batch[i]) * batch[i];
  }
  atomicAdd(total, mine);
}

int main() {
  const int batches = 12, n = 1 << 16;
  const size_t bytes = n * sizeof(int);

  int* host;
  CHECK(cudaMallocHost(&host, batches * bytes));
  unsigned long long expected = 0;
  for (int i = 0; i < batches * n; ++i) {
    host[i] = (i * 7 + 3) % 1000;
    expected += static_cast<unsigned long long>(host[i]) * host[i];
  }

  cudaStream_t copy, compute;
  CHECK(cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
  int* buffer[2];
  cudaEvent_t filled[2], free_again[2];
  for (int b = 0; b < 2; ++b) {
    CHECK(cudaMalloc(&buffer[b], bytes));
    CHECK(cudaEventCreateWithFlags(&filled[b], cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&free_again[b], cudaEventDisableTiming));
  }
  unsigned long long *total, result = 0;
  CHECK(cudaMalloc(&total, sizeof *total));
  CHECK(cudaMemsetAsync(total, 0, sizeof *total, compute));

  double ms = milliseconds([&] {
    for (int k = 0; k < batches; ++k) {
      int b = k % 2;
      // The first two waits find an event that was never recorded: they wait for nothing.
      CHECK(cudaStreamWaitEvent(copy, free_again[b], 0));
      CHECK(cudaMemcpyAsync(buffer[b], host + k * n, bytes, cudaMemcpyHostToDevice, copy));
      CHECK(cudaEventRecord(filled[b], copy));

      CHECK(cudaStreamWaitEvent(compute, filled[b], 0));
      sum_squares<<<64, 256, 0, compute>>>(buffer[b], n, total);
      CHECK(cudaEventRecord(free_again[b], compute));
    }
  });

  CHECK(cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost));
  std::printf("%d batches through two buffers in %.2f ms: sum of squares %llu\n", batches, ms,
              result);
  EXPECT(result == expected);

  for (int b = 0; b < 2; ++b) {
    CHECK(cudaFree(buffer[b]));
    CHECK(cudaEventDestroy(filled[b]));
    CHECK(cudaEventDestroy(free_again[b]));
  }
  CHECK(cudaFree(total));
  CHECK(cudaFreeHost(host));
  CHECK(cudaStreamDestroy(copy));
  CHECK(cudaStreamDestroy(compute));
  std::printf("ok\n");
  return 0;
}
