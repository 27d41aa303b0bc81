// Timing with events.
//
// An event that is recorded in a stream notes the device's time when the stream comes to it. The
// difference of two is the time that the device took, whatever the host did meanwhile. A host clock
// around an asynchronous call measures only how long it took to issue it.
#include <chrono>

#include "common.h"

__global__ void wait(long long cycles) { wait_cycles(cycles); }

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaEvent_t start, middle, stop;
  for (cudaEvent_t* e : {&start, &middle, &stop}) CHECK(cudaEventCreate(e));
  const long long us = cycles_per_microsecond();
  wait<<<1, 32, 0, stream>>>(us);
  CHECK(cudaStreamSynchronize(stream));

  auto host_start = std::chrono::steady_clock::now();
  CHECK(cudaEventRecord(start, stream));
  wait<<<1, 32, 0, stream>>>(2000 * us);
  CHECK(cudaEventRecord(middle, stream));
  wait<<<1, 32, 0, stream>>>(4000 * us);
  CHECK(cudaEventRecord(stop, stream));
  std::chrono::duration<double, std::milli> issued = std::chrono::steady_clock::now() - host_start;

  float ms = 0;
  // The time is not there yet while the event is pending.
  cudaError_t early = cudaEventElapsedTime(&ms, start, stop);
  EXPECT(early == cudaErrorNotReady || early == cudaSuccess);

  CHECK(cudaEventSynchronize(stop));
  float first = 0, second = 0, both = 0;
  CHECK(cudaEventElapsedTime(&first, start, middle));
  CHECK(cudaEventElapsedTime(&second, middle, stop));
  CHECK(cudaEventElapsedTime(&both, start, stop));
  std::printf("issued in %.3f ms; the device took %.2f + %.2f = %.2f ms\n", issued.count(), first,
              second, both);
  EXPECT(first > 0 && second > 0);
  EXPECT(both > first && both > second);
  float backwards = 0;
  CHECK(cudaEventElapsedTime(&backwards, stop, start));
  EXPECT(backwards == -both);

  // Events made without timing are cheaper, and answer an error when asked for a time.
  cudaEvent_t plain;
  CHECK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
  CHECK(cudaEventRecord(plain, stream));
  CHECK(cudaEventSynchronize(plain));
  EXPECT(cudaEventElapsedTime(&ms, start, plain) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  std::printf("an event without timing has no time to give\n");

  for (cudaEvent_t e : {start, middle, stop, plain}) CHECK(cudaEventDestroy(e));
  CHECK(cudaStreamDestroy(stream));
  std::printf("ok\n");
  return 0;
}
