// A thread asks whether an event has happened, and nothing else, for a second of another's sleep;
// or so often that a share of the time so far for each question would be years.
#include <cuda_runtime.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {
  }
}

int ask_often(volatile int* flag, cudaEvent_t e) {
  using clock = std::chrono::steady_clock;
  const clock::time_point begin = clock::now();
  for (int i = 0; i < 40'000; ++i)
    if (cudaEventQuery(e) != cudaErrorNotReady) return 1;
  *flag = 1;
  if (cudaEventSynchronize(e) != cudaSuccess) return 1;
  std::printf("asked for %.1f s\n", std::chrono::duration<double>(clock::now() - begin).count());
  return 0;
}

int main(int argc, char** argv) {
  using clock = std::chrono::steady_clock;
  int* flag = nullptr;
  cudaStream_t s;
  cudaEvent_t e;
  if (cudaMallocHost(&flag, sizeof(int)) != cudaSuccess) return 1;
  *flag = 0;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaEventCreate(&e);
  wait_for<<<1, 1, 0, s>>>(flag);
  cudaEventRecord(e, s);
  if (argc > 1 && std::strcmp(argv[1], "often") == 0) return ask_often(flag, e);
  clock::time_point raised;
  std::thread other([&] {
    usleep(1'000'000);
    raised = clock::now();
    *static_cast<volatile int*>(flag) = 1;
  });
  int asked = 0;
  clock::time_point seen;
  const auto ask = [&] {
    while (cudaEventQuery(e) == cudaErrorNotReady) ++asked;
    seen = clock::now();
  };
  // A thread that begins to ask, with its first call, when there is little left to wait for.
  if (argc > 1) {
    std::thread([&] {
      usleep(999'900);
      ask();
    }).join();
  } else {
    ask();
  }
  other.join();
  std::printf("asked %d times, late by %.1f us\n", asked,
              std::chrono::duration<double, std::micro>(seen - raised).count());
  std::puts(cudaGetLastError() == cudaSuccess ? "ok" : "failed");
  return 0;
}
