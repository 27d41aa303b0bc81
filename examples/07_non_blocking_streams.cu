// Non-blocking streams and the default stream leave each other alone.
//
// A stream made with cudaStreamNonBlocking does not take part in the default stream's barrier, in
// either direction. An order between the two exists only where an event says so.
#include "common.h"

__global__ void add_one(int* x) { *x += 1; }

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  unsigned flags = 0;
  CHECK(cudaStreamGetFlags(stream, &flags));
  EXPECT(flags == cudaStreamNonBlocking);

  int *x, *host;
  CHECK(cudaMalloc(&x, 2 * sizeof(int)));
  CHECK(cudaMallocHost(&host, 2 * sizeof(int)));
  CHECK(cudaMemset(x, 0, 2 * sizeof(int)));
  CHECK(cudaDeviceSynchronize());

  // The non-blocking stream is held; the default stream runs through.
  load(add_one);
  gate one;
  one.close(stream);
  add_one<<<1, 1>>>(x);
  CHECK(cudaStreamSynchronize(0));
  EXPECT(cudaStreamQuery(stream) == cudaErrorNotReady);
  std::printf("non-blocking stream held: the default stream finished\n");
  one.open();
  CHECK(cudaStreamSynchronize(stream));

  // The default stream is held; the non-blocking stream runs through.
  gate two;
  two.close(0);
  add_one<<<1, 1, 0, stream>>>(x + 1);
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(cudaStreamQuery(0) == cudaErrorNotReady);
  std::printf("default stream held: the non-blocking stream finished\n");

  // An event brings back an order where one is needed.
  cudaEvent_t ready;
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  add_one<<<1, 1>>>(x);
  CHECK(cudaEventRecord(ready, 0));
  CHECK(cudaStreamWaitEvent(stream, ready, 0));
  CHECK(cudaMemcpyAsync(host, x, 2 * sizeof(int), cudaMemcpyDeviceToHost, stream));
  EXPECT(cudaStreamQuery(stream) == cudaErrorNotReady);
  two.open();
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(host[0] == 2 && host[1] == 1);
  std::printf("with an event between them the copy saw the kernel's result: %d\n", host[0]);

  CHECK(cudaEventDestroy(ready));
  CHECK(cudaFree(x));
  CHECK(cudaFreeHost(host));
  CHECK(cudaStreamDestroy(stream));
  std::printf("ok\n");
  return 0;
}
