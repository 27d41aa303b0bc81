// Two devices: a copy between them, and an event across them.
//
// Streams and events belong to the device that was current when they were made; a kernel goes to a
// stream of the current device. cudaStreamWaitEvent works across devices, so one device can wait
// for the other without the host. With only one device (STREAMBED_DEVICES=2 gives two) it plays
// both parts.
#include "common.h"

__global__ void iota(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i;
}

__global__ void triple(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 3;
}

int main() {
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  const int first = 0, second = count > 1 ? 1 : 0;
  std::printf("%d device%s; the producer is device %d, the consumer device %d\n", count,
              count == 1 ? "" : "s", first, second);

  const int n = 1 << 16;
  const size_t bytes = n * sizeof(int);
  int *source, *target, *host;
  cudaStream_t produce, consume;
  cudaEvent_t arrived;

  CHECK(cudaSetDevice(first));
  CHECK(cudaMalloc(&source, bytes));
  CHECK(cudaStreamCreateWithFlags(&produce, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
  if (first != second) {
    int direct = 0;
    CHECK(cudaDeviceCanAccessPeer(&direct, first, second));
    if (direct) CHECK(cudaDeviceEnablePeerAccess(second, 0));
    std::printf("peer access %s: the copy goes %s\n", direct ? "on" : "not possible",
                direct ? "straight across" : "through the host");
  }

  CHECK(cudaSetDevice(second));
  CHECK(cudaMalloc(&target, bytes));
  CHECK(cudaMallocHost(&host, bytes));
  CHECK(cudaStreamCreateWithFlags(&consume, cudaStreamNonBlocking));
  load(triple);

  CHECK(cudaSetDevice(first));
  load(iota);
  gate hold;
  hold.close(produce);
  iota<<<n / 256, 256, 0, produce>>>(source, n);
  CHECK(cudaMemcpyPeerAsync(target, second, source, first, bytes, produce));
  CHECK(cudaEventRecord(arrived, produce));

  CHECK(cudaSetDevice(second));
  CHECK(cudaStreamWaitEvent(consume, arrived, 0));
  triple<<<n / 256, 256, 0, consume>>>(target, n);
  CHECK(cudaMemcpyAsync(host, target, bytes, cudaMemcpyDeviceToHost, consume));
  EXPECT(cudaStreamQuery(consume) == cudaErrorNotReady);
  std::printf("the consumer waits for the producer's event\n");
  hold.open();
  CHECK(cudaStreamSynchronize(consume));

  for (int i = 0; i < n; ++i) EXPECT(host[i] == 3 * i);
  std::printf("the consumer tripled what the producer had sent\n");

  CHECK(cudaFree(target));
  CHECK(cudaFreeHost(host));
  CHECK(cudaStreamDestroy(consume));
  CHECK(cudaSetDevice(first));
  CHECK(cudaFree(source));
  CHECK(cudaEventDestroy(arrived));
  CHECK(cudaStreamDestroy(produce));
  std::printf("ok\n");
  return 0;
}
