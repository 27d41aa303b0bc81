// Threads that prepare each batch for longer than others could be kept waiting for one that waits,
// and wait by calls of the runtime alone.
#include <cuda_runtime.h>

#include <cstdio>
#include <thread>
#include <vector>

__global__ void add(unsigned* sum, const unsigned* batch, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(sum, batch[i]);
}

static void work(int self, unsigned* answer) {
  constexpr int n = 1 << 14, turns = 2, rounds = 10'000'000;
  std::vector<unsigned> batch(n);
  unsigned *on_device, *sum;
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaMalloc(&on_device, n * sizeof(unsigned));
  cudaMalloc(&sum, sizeof(unsigned));
  cudaMemsetAsync(sum, 0, sizeof(unsigned), s);
  unsigned x = self;
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < rounds; ++i) {
      x = x * 1664525u + 1013904223u;
      batch[i % n] = x >> 31;
    }
    cudaMemcpyAsync(on_device, batch.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice, s);
    add<<<1, 128, 0, s>>>(sum, on_device, n);
    cudaStreamSynchronize(s);
  }
  cudaMemcpy(answer, sum, sizeof *answer, cudaMemcpyDeviceToHost);
}

int main() {
  unsigned answers[3] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(work, i, &answers[i]);
  for (std::thread& one : threads) one.join();
  for (unsigned answer : answers) std::printf("%u\n", answer);
}
