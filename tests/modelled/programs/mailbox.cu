// A kernel that answers what the host asks for, both by memory alone: neither calls anything in
// between. With an argument a second thread waits for the kernel meanwhile.
#include <cuda_runtime.h>

#include <cstdio>
#include <thread>

__global__ void serve(volatile int* asked, volatile int* answered, int requests) {
  for (int i = 1; i <= requests; ++i) {
    while (*asked != i) {
    }
    *answered = i * i;
    __threadfence_system();
  }
}

// What kernels wait for before the host waits for them.
__global__ void wait_for(volatile int* flag, int value) {
  while (*flag != value) {
  }
}

int main(int count, char**) {
  constexpr int requests = 20;
  volatile int* memory = nullptr;
  cudaHostAlloc((void**)&memory, 4096, cudaHostAllocMapped);
  volatile int *asked = memory, *answered = memory + 64, *flag = memory + 128;
  *asked = *answered = *flag = 0;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  serve<<<1, 1, 0, stream>>>(asked, answered, requests);
  std::thread waits;
  if (count > 1) waits = std::thread([&] { cudaStreamSynchronize(stream); });
  for (int i = 1; i <= requests; ++i) {
    *asked = i;
    while (*answered != i * i) {
    }
  }
  if (waits.joinable()) waits.join();
  // Calls between the looks.
  for (int i = 1; i <= 3; ++i) {
    wait_for<<<1, 1, 0, stream>>>(flag, i);
    wait_for<<<1, 1, 0, stream>>>(flag + 1, -i);
    *flag = i;
    flag[1] = -i;
    cudaStreamSynchronize(stream);
  }
  std::puts(cudaDeviceSynchronize() == cudaSuccess ? "ok" : "wrong");
}
