// The default stream is a barrier.
//
// Work in the legacy default stream (no stream named, or stream 0) starts after everything issued
// earlier into other streams, and work issued later into other streams starts after it. One
// forgotten stream argument therefore serialises a program. Streams made with cudaStreamNonBlocking
// take no part.
#include "common.h"

// Writes down the order in which kernels ran.
__global__ void take_ticket(int* counter, int* ticket) { *ticket = atomicAdd(counter, 1); }

int main() {
  cudaStream_t a, b;
  CHECK(cudaStreamCreate(&a));
  CHECK(cudaStreamCreate(&b));
  int* memory;  // [0] the counter, then the tickets of: a, default, b
  CHECK(cudaMalloc(&memory, 4 * sizeof(int)));
  CHECK(cudaMemset(memory, 0, 4 * sizeof(int)));
  cudaEvent_t b_done;
  CHECK(cudaEventCreateWithFlags(&b_done, cudaEventDisableTiming));

  // Without the default stream: b does not wait for a, which is held.
  load(take_ticket);
  gate first;
  first.close(a);
  take_ticket<<<1, 1, 0, b>>>(memory, memory + 3);
  CHECK(cudaStreamSynchronize(b));
  EXPECT(cudaStreamQuery(a) == cudaErrorNotReady);
  std::printf("two blocking streams: b finished while a was held\n");
  first.open();
  CHECK(cudaDeviceSynchronize());

  // With a kernel in the default stream between them: it waits for a, and b waits for it.
  CHECK(cudaMemset(memory, 0, 4 * sizeof(int)));
  gate second;
  second.close(a);
  take_ticket<<<1, 1, 0, a>>>(memory, memory + 1);
  take_ticket<<<1, 1>>>(memory, memory + 2);
  take_ticket<<<1, 1, 0, b>>>(memory, memory + 3);
  CHECK(cudaEventRecord(b_done, b));
  EXPECT(cudaEventQuery(b_done) == cudaErrorNotReady);
  std::printf("a kernel in the default stream between them: b waits as long as a is held\n");
  second.open();
  CHECK(cudaDeviceSynchronize());

  int host[4];
  CHECK(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("order: a %d, default %d, b %d\n", host[1], host[2], host[3]);
  EXPECT(host[0] == 3 && host[1] == 0 && host[2] == 1 && host[3] == 2);

  CHECK(cudaEventDestroy(b_done));
  CHECK(cudaFree(memory));
  CHECK(cudaStreamDestroy(a));
  CHECK(cudaStreamDestroy(b));
  std::printf("ok\n");
  return 0;
}
