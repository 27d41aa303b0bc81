// The host looks at a flag that a kernel of 5 ms writes at its end, without a call. What comes
// behind the kernel comes behind it in time as well.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>

__global__ void raise(volatile int* flag, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  *flag = 1;
}

static double now_ms() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

int main() {
  volatile int* flag;
  cudaHostAlloc((void**)&flag, sizeof(int), cudaHostAllocMapped);
  *flag = 0;
  cudaEvent_t end;
  cudaEventCreate(&end);
  const double begin = now_ms();
  raise<<<1, 1>>>(const_cast<int*>(flag), 5 * 1'980'000LL);
  cudaEventRecord(end);
  while (*flag == 0) {
  }
  const double seen = now_ms() - begin;
  cudaEventSynchronize(end);
  const double over = now_ms() - begin;
  std::printf("seen after %.3f ms, over after %.3f ms\n", seen, over);
  std::puts(seen > 5 && seen < 5.1 && over >= seen && over < 5.2 ? "ok" : "wrong");
}
