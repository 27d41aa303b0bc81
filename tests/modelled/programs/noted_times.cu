// Threads that wait for each other again and again and write down when they got on. Prints what the
// first and the last quarter of the rounds took, in cycles.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int rounds = 4000;

// `me` is 0 or 1.
__device__ void in_turn(volatile int* turn, int me, long long* times) {
  for (int i = 0; i < rounds; ++i) {
    while (*turn != 2 * i + me) {
    }
    if (me == 0) times[i] = clock64();
    *turn = 2 * i + me + 1;
  }
}

__global__ void warps(int*, long long* times) {
  __shared__ volatile int turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) in_turn(&turn, threadIdx.x / 32, times);
}

__global__ void blocks(int* turn, long long* times) {
  if (threadIdx.x == 0) in_turn(turn, blockIdx.x, times);
}

// One thread fills a ring and naps while it is full; another waits for each of its items, for a
// second at most.
__global__ void ring(int*, long long* times) {
  __shared__ volatile int head, tail;
  if (threadIdx.x == 0) head = tail = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < rounds; ++i) {
      while (head - tail >= 16) __nanosleep(40);
      head = head + 1;
    }
  } else if (threadIdx.x == 32) {
    for (int i = 0; i < rounds; ++i) {
      const long long start = clock64();
      while (tail == head) {
        if (clock64() - start > 1'980'000'000) return;
      }
      times[i] = clock64();
      tail = tail + 1;
    }
  }
}

// Nobody waits; the times are what is wanted.
__global__ void alone(int*, long long* times) {
  for (int i = 0; i < rounds; ++i) times[i] = clock64();
}

int main(int, char** arguments) {
  const char* how = arguments[1];
  int* turn;
  long long* times;
  if (cudaMalloc(&turn, sizeof *turn) != cudaSuccess ||
      cudaMallocHost(&times, rounds * sizeof *times) != cudaSuccess)
    return 1;
  cudaMemset(turn, 0, sizeof *turn);
  std::memset(times, 0, rounds * sizeof *times);
  if (std::strcmp(how, "warps") == 0) warps<<<1, 64>>>(turn, times);
  if (std::strcmp(how, "blocks") == 0) blocks<<<2, 32>>>(turn, times);
  if (std::strcmp(how, "ring") == 0) ring<<<1, 64>>>(turn, times);
  if (std::strcmp(how, "alone") == 0) alone<<<1, 1>>>(turn, times);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 1; i < rounds; ++i)
    if (times[i] <= times[i - 1]) return 2;
  std::printf("%lld %lld\n", times[rounds / 4] - times[0],
              times[rounds - 1] - times[rounds - 1 - rounds / 4]);
}
