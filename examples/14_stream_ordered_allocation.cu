// Stream-ordered allocation: memory that belongs to a point in a stream.
//
// cudaMallocAsync gives an address at once; the memory may be used by work that is ordered after
// the call in the stream. cudaFreeAsync gives it back in stream order too, so no one has to wait.
// cudaFree, in contrast, waits for the whole device. The memory comes from a pool that keeps what
// was freed.
#include "common.h"

__global__ void iota(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i;
}

__global__ void add_to(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1;
}

int main() {
  int supported = 0;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  EXPECT(supported);
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  // Keep up to 64 MiB in the pool; by default it is given back at the next synchronisation.
  unsigned long long keep = 64ull << 20;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));

  const int n = 1 << 16;
  const size_t bytes = n * sizeof(int);
  cudaStream_t s, t;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t ready, used;
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&used, cudaEventDisableTiming));
  int* host;
  CHECK(cudaMallocHost(&host, bytes));

  for (int round = 0; round < 3; ++round) {
    int *a, *b;
    CHECK(cudaMallocAsync(&a, bytes, s));
    iota<<<n / 256, 256, 0, s>>>(a, n);
    CHECK(cudaEventRecord(ready, s));

    // Another stream may use it once it is ordered after the allocation.
    CHECK(cudaStreamWaitEvent(t, ready, 0));
    CHECK(cudaMallocAsync(&b, bytes, t));
    add_to<<<n / 256, 256, 0, t>>>(a, b, n);
    CHECK(cudaEventRecord(used, t));
    CHECK(cudaMemcpyAsync(host, b, bytes, cudaMemcpyDeviceToHost, t));
    CHECK(cudaFreeAsync(b, t));

    // And it is given back after its last use.
    CHECK(cudaStreamWaitEvent(s, used, 0));
    CHECK(cudaFreeAsync(a, s));
    CHECK(cudaStreamSynchronize(t));
    for (int i = 0; i < n; ++i) EXPECT(host[i] == i + 1);
  }
  CHECK(cudaDeviceSynchronize());

  unsigned long long reserved = 0, in_use = 1;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &in_use));
  std::printf("in use: %llu bytes; the pool kept %llu KiB for the next allocation\n", in_use,
              reserved >> 10);
  EXPECT(in_use == 0 && reserved >= bytes);
  CHECK(cudaMemPoolTrimTo(pool, 0));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  EXPECT(reserved == 0);
  std::printf("cudaMemPoolTrimTo gave it back\n");

  CHECK(cudaFreeHost(host));
  CHECK(cudaStreamDestroy(s));
  CHECK(cudaStreamDestroy(t));
  std::printf("ok\n");
  return 0;
}
