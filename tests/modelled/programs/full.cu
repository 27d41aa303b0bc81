// A kernel of ten waves, and small ones in another stream that find no room beside it. With
// `urgent` their stream has a higher priority. A second argument is how long a small one takes.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>

__global__ void wait_for(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

int main(int argc, char** words) {
  const bool urgent = argc > 1 && std::string(words[1]) == "urgent";
  const long long us = argc > 2 ? std::atoi(words[2]) : 40;
  int least, greatest;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  cudaStream_t large, small;
  cudaStreamCreateWithPriority(&large, cudaStreamNonBlocking, least);
  cudaStreamCreateWithPriority(&small, cudaStreamNonBlocking, urgent ? greatest : least);
  wait_for<<<132 * 2 * 10, 1024, 0, large>>>(50 * 1980);
  for (int i = 0; i < 10; ++i) wait_for<<<8, 128, 0, small>>>(us * 1980);
  std::puts(cudaDeviceSynchronize() == cudaSuccess ? "ok" : "wrong");
}
