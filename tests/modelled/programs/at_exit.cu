// Ends of a program while another thread works: main returns or calls exit, or the other one does
// while main works or waits for it. `naps`: a kernel that would wait for ever is under way.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

static void work(int times) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int i = 0; i < times; ++i) {
    spin<<<1, 1, 0, stream>>>(5000);
    if (i % 10 == 0) cudaStreamSynchronize(stream);
  }
}

__global__ void nap(const volatile int* flag) {
  while (*flag == 0) __nanosleep(1000);
}

// Destroyed before the runtime's end, when the process ends.
struct last_words {
  ~last_words() {
    spin<<<1, 1>>>(1000);
    std::printf("the last call answers %d\n", cudaDeviceSynchronize());
  }
};

int main(int, char** argv) {
  const std::string how = argv[1];
  cudaFree(nullptr);
  if (how == "naps") {
    int* flag = nullptr;
    cudaMalloc(&flag, sizeof *flag);
    cudaMemset(flag, 0, sizeof *flag);
    nap<<<1, 1>>>(flag);
    return 7;
  }
  static last_words words;
  const bool other_ends = how == "other" || how == "joined";
  std::thread other([=] {
    work(other_ends ? 41 : 1000);
    if (other_ends) std::exit(7);
  });
  if (how == "joined") other.join();
  work(other_ends ? 1000 : 41);
  other.detach();
  if (how == "exit") std::exit(7);
  return 7;
}
