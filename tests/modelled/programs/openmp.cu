// Threads of OpenMP, which wait by its own means and until the process has ended.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

int main(int, char** argv) {
  const int threads = std::atoi(argv[1]);
  int sum = 0;
#pragma omp parallel num_threads(threads)
  {
    for (int i = 0; i < 5; ++i) {
      spin<<<1, 1, 0, cudaStreamPerThread>>>(5000);
      cudaStreamSynchronize(cudaStreamPerThread);
#pragma omp barrier
    }
#pragma omp critical
    ++sum;
  }
  std::printf("%d\n", sum);
}
