// Every way to wait, and every way to ask without waiting.
//
//   cudaDeviceSynchronize   all work of the device        -
//   cudaStreamSynchronize   all work of one stream        cudaStreamQuery
//   cudaEventSynchronize    all work before the record    cudaEventQuery
//   cudaStreamWaitEvent     a stream waits, the host does not
//   cudaMemcpy              a copy that waits for itself
// A query answers cudaErrorNotReady while there is work; that is an answer, not an error that
// stays.
#include <thread>

#include "common.h"

__global__ void set(int* x, int value) { *x = value; }

int main() {
  cudaStream_t s, t;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t early, late, blocking;
  CHECK(cudaEventCreate(&early));
  CHECK(cudaEventCreateWithFlags(&late, cudaEventDisableTiming));
  // The waiting host thread sleeps instead of polling.
  CHECK(cudaEventCreateWithFlags(&blocking, cudaEventBlockingSync | cudaEventDisableTiming));
  int *x, host = 0;
  CHECK(cudaMalloc(&x, 2 * sizeof(int)));

  EXPECT(cudaEventQuery(late) == cudaSuccess);  // never recorded: nothing to wait for
  EXPECT(cudaStreamQuery(s) == cudaSuccess);

  gate hold;
  set<<<1, 1, 0, s>>>(x, 1);
  CHECK(cudaEventRecord(early, s));
  hold.close(s);
  set<<<1, 1, 0, s>>>(x, 2);
  CHECK(cudaEventRecord(late, s));

  CHECK(cudaEventSynchronize(early));  // returns, though the stream behind it is held
  EXPECT(cudaEventQuery(early) == cudaSuccess);
  EXPECT(cudaEventQuery(late) == cudaErrorNotReady);
  EXPECT(cudaStreamQuery(s) == cudaErrorNotReady);
  EXPECT(cudaGetLastError() == cudaSuccess);
  std::printf("early event done, late event and stream not ready\n");

  CHECK(cudaStreamWaitEvent(t, late, 0));
  set<<<1, 1, 0, t>>>(x + 1, 3);
  CHECK(cudaEventRecord(blocking, t));
  EXPECT(cudaStreamQuery(t) == cudaErrorNotReady);
  std::printf("the second stream waits for the late event; the host came past without waiting\n");

  std::thread opener([&] {
    std::this_thread::yield();
    hold.open();
  });
  CHECK(cudaEventSynchronize(late));
  CHECK(cudaStreamSynchronize(s));
  EXPECT(cudaStreamQuery(s) == cudaSuccess);
  CHECK(cudaEventSynchronize(blocking));
  CHECK(cudaDeviceSynchronize());
  EXPECT(cudaEventQuery(blocking) == cudaSuccess && cudaStreamQuery(t) == cudaSuccess);
  opener.join();

  CHECK(cudaMemcpy(&host, x, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(host == 2);
  CHECK(cudaMemcpy(&host, x + 1, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(host == 3);
  std::printf("everything done, results right\n");

  for (cudaEvent_t e : {early, late, blocking}) CHECK(cudaEventDestroy(e));
  for (cudaStream_t q : {s, t}) CHECK(cudaStreamDestroy(q));
  CHECK(cudaFree(x));
  std::printf("ok\n");
  return 0;
}
