// Shared by the examples: error checks, a gate that holds a stream, and device code that waits.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

// Every CUDA call answers an error code. Look at all of them.
#define CHECK(call)                                                                       \
  do {                                                                                    \
    cudaError_t error_ = (call);                                                          \
    if (error_ != cudaSuccess) {                                                          \
      std::fprintf(stderr, "%s:%d: %s\n    answered %s: %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorName(error_), cudaGetErrorString(error_));                 \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (0)

#define EXPECT(condition)                                                                  \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      std::fprintf(stderr, "%s:%d: wrong: expected %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)

__global__ void wait_for_flag(volatile int* flag) {
  while (*flag == 0) {
  }
}

// Holds a stream until the host opens it, so that an order can be shown without measuring time.
class gate {
 public:
  gate() {
    CHECK(cudaMallocHost(reinterpret_cast<void**>(const_cast<int**>(&flag_)), sizeof(int)));
    *flag_ = 0;
  }
  ~gate() { cudaFreeHost(const_cast<int*>(flag_)); }
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;

  void close(cudaStream_t stream) {
    wait_for_flag<<<1, 1, 0, stream>>>(flag_);
    CHECK(cudaGetLastError());
  }
  void open() { *flag_ = 1; }

 private:
  volatile int* flag_ = nullptr;
};

// Loads a kernel now. CUDA loads it at its first launch otherwise, and that may wait for work in
// flight: a program whose host opens a gate only after that launch would hang.
template <class Kernel>
void load(Kernel* kernel) {
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, kernel));
}

// Keeps the calling thread busy for a number of clock cycles: work whose length is known.
__device__ inline void wait_cycles(long long cycles) {
  long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

inline long long cycles_per_microsecond() {
  int kilohertz = 0;
  CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  return kilohertz / 1000;
}

// Milliseconds that `work` takes on the device, the host waiting for all of it.
template <class Work>
double milliseconds(Work work) {
  CHECK(cudaDeviceSynchronize());
  auto start = std::chrono::steady_clock::now();
  work();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}
