// Kernels that sleep between looks at a flag: "never" nobody writes it, "deadline" they look until
// a time, "tries" so many times, "host" until the host has slept and writes it.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <ctime>

__device__ long long nanoseconds() {
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void naps(volatile int* flag) {
  while (*flag == 0) __nanosleep(200);
}
__global__ void naps_until(volatile int* flag, long long longest) {
  const long long end = nanoseconds() + longest;
  while (*flag == 0 && nanoseconds() < end) __nanosleep(200);
}
__global__ void naps_so_often(volatile int* flag, int tries) {
  while (*flag == 0 && --tries != 0) __nanosleep(200);
}

int main(int, char** arguments) {
  const char* how = arguments[1];
  int* flag;
  cudaMallocHost(&flag, sizeof(int));
  *flag = 0;
  if (std::strcmp(how, "deadline") == 0) {
    naps_until<<<1, 32>>>(flag, 50'000'000);  // 250,000 looks of each
  } else if (std::strcmp(how, "tries") == 0) {
    naps_so_often<<<1, 32>>>(flag, 50'000);
  } else {
    naps<<<2, 32>>>(flag);
  }
  std::printf("waiting\n");
  std::fflush(stdout);
  if (std::strcmp(how, "host") == 0) {
    const timespec pause{0, 50'000'000};
    nanosleep(&pause, nullptr);
    *reinterpret_cast<volatile int*>(flag) = 1;
  }
  cudaDeviceSynchronize();
  std::printf("over\n");
}
