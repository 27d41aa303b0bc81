// Programs that poll end, and what their clocks say is modelled: the same in every run.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                            \
  do {                                                                                         \
    const cudaError_t e = (call);                                                              \
    if (e != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorString(e)), std::exit(1); \
  } while (0)

__global__ void wait_cycles(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

__global__ void raise_after(volatile int* flag, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  *flag = 1;
}

__global__ void wait_for(volatile int* flag, int* seen) {
  while (*flag == 0) {
  }
  *seen = *flag;
}

static double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

int main() {
  constexpr long long millisecond = 1'980'000;  // cycles of the device
  cudaStream_t s, t;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t done;
  CHECK(cudaEventCreate(&done));

  // A kernel that is first used beside one that spins would wait for it to be loaded.
  cudaFuncAttributes loaded;
  CHECK(cudaFuncGetAttributes(&loaded, wait_cycles));
  CHECK(cudaFuncGetAttributes(&loaded, raise_after));
  CHECK(cudaFuncGetAttributes(&loaded, wait_for));

  double begin = now_us();
  wait_cycles<<<1, 32, 0, s>>>(millisecond);
  CHECK(cudaEventRecord(done, s));
  long polls = 0;
  while (cudaEventQuery(done) == cudaErrorNotReady) ++polls;
  std::printf("event polled %ld times in %.3f us\n", polls, now_us() - begin);

  // A kernel that waits for the host, and a host that waits for a kernel.
  int* flags;
  CHECK(cudaHostAlloc(&flags, 3 * sizeof(int), cudaHostAllocMapped));
  volatile int* host = flags;
  host[0] = host[1] = host[2] = 0;
  begin = now_us();
  wait_for<<<1, 1, 0, s>>>(flags, flags + 2);
  raise_after<<<1, 1, 0, t>>>(flags + 1, millisecond);
  long looks = 0;
  while (host[1] == 0 && cudaStreamQuery(t) == cudaErrorNotReady) ++looks;
  std::printf("flag of the kernel after %ld looks\n", looks);
  std::printf("the other kernel %s\n",
              cudaStreamQuery(s) == cudaErrorNotReady ? "waits" : "does not wait");
  host[0] = 7;
  CHECK(cudaStreamSynchronize(s));
  std::printf("it saw %d after %.3f us\n", host[2], now_us() - begin);
  CHECK(cudaDeviceSynchronize());
  std::printf("ok\n");
}
