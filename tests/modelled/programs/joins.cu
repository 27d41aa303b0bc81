// A thread with a long kernel and one with a short one, and a wait. With the argument `all` the
// long kernel is still running when it is joined; otherwise both threads are over by then.
#include <cuda_runtime.h>

#include <chrono>
#include <cstring>
#include <thread>

__global__ void busy(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

static void work(long long cycles) {
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  busy<<<1, 1, 0, s>>>(cycles);
  cudaStreamSynchronize(s);
}

int main(int argc, char** argv) {
  const bool all = argc > 1 && std::strcmp(argv[1], "all") == 0;
  cudaFree(nullptr);
  busy<<<1, 1>>>(1000);
  cudaDeviceSynchronize();
  std::thread longer(work, all ? 2'000'000 : 100'000), shorter(work, 10'000);
  std::this_thread::sleep_for(std::chrono::microseconds(300));
  shorter.join();
  longer.join();
  work(100'000);
  return 0;
}
