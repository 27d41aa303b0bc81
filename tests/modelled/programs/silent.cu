// A thread that looks at memory without a call until another one has written it: nobody can tell
// how long that takes, and the run goes on without waiting for it.
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <thread>

__global__ void nothing() {}

int main() {
  std::atomic<bool> told{false};
  std::thread looks([&] {
    while (!told) {
    }
  });
  nothing<<<1, 1>>>();
  const bool done = cudaDeviceSynchronize() == cudaSuccess;
  told = true;
  looks.join();
  std::puts(done ? "ok" : "wrong");
}
