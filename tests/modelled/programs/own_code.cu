// Host code between two readings of the clock: as long as it takes on this machine or no time.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>

int main() {
  cudaFree(nullptr);
  const auto begin = std::chrono::steady_clock::now();
  volatile double sum = 0;
  for (int i = 0; i < 20'000'000; ++i) sum = sum + i;
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  std::puts(ms > 1 ? "some" : "none");
}
