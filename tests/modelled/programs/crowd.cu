// More streams than connections, each with four kernels: `depth` issues stream by stream, so that
// all but the first have to wait for a connection; `breadth` issues the first kernel of every
// stream first, and none waits.
#include <cstdio>
#include <cstring>

__global__ void step(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

int main(int, char** arguments) {
  constexpr int streams = 16, kernels = 4;
  const bool breadth = std::strcmp(arguments[1], "breadth") == 0;
  cudaStream_t s[streams];
  for (cudaStream_t& each : s) cudaStreamCreate(&each);
  step<<<1, 32>>>(1);
  cudaDeviceSynchronize();
  for (int i = 0; i < streams * kernels; ++i)
    step<<<1, 32, 0, s[breadth ? i % streams : i / kernels]>>>(1'000'000);
  const cudaError_t error = cudaDeviceSynchronize();
  std::puts(error == cudaSuccess ? "ok" : cudaGetErrorString(error));
}
