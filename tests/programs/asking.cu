// Lanes that ask which others are there while they hold a lock of the grid, or look for it, in
// blocks some of whose threads wait at a barrier already.
#include <cooperative_groups.h>

#include "checks.h"

constexpr int turns = 100;

__device__ void add(int* lock, volatile unsigned* sum, unsigned mask) {
  *sum = *sum + (mask != 0);
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void with_the_lock(int* lock, unsigned* sum) {
  for (int turn = 0; turn < turns; ++turn) {
    for (bool done = false; !done;) {
      if (atomicCAS(lock, 0, 1) != 0) continue;
      add(lock, sum, __activemask());
      done = true;
    }
  }
  __syncthreads();
  atomicAdd(sum + 1, 1);
}

__global__ void with_the_lock_as_a_group(int* lock, unsigned* sum) {
  for (int turn = 0; turn < turns; ++turn) {
    for (bool done = false; !done;) {
      if (atomicCAS(lock, 0, 1) != 0) continue;
      add(lock, sum, cooperative_groups::coalesced_threads().size());
      done = true;
    }
  }
  __syncthreads();
  atomicAdd(sum + 1, 1);
}

// One thread of each block, in each of its looks; the others are at the barrier.
__global__ void in_each_look(int* lock, unsigned* sum) {
  if (threadIdx.x == 0) {
    for (int turn = 0; turn < turns; ++turn) {
      unsigned mask;
      do {
        mask = __activemask();
      } while (atomicCAS(lock, 0, 1) != 0);
      add(lock, sum, mask);
    }
  }
  __syncthreads();
  atomicAdd(sum + 1, 1);
}

// Behind a barrier all lanes are together, until a loop in which they wait parts them.
__global__ void behind_a_barrier(int* flag, unsigned* sum) {
  __shared__ unsigned full;
  if (threadIdx.x == 0) full = ~0u;
  __syncthreads();
  const unsigned last = blockDim.x - threadIdx.x / 32 * 32;
  if (__activemask() == (last < 32 ? (1u << last) - 1 : full)) atomicAdd(sum, turns);
  if (threadIdx.x == blockDim.x / 2) *static_cast<volatile int*>(flag) = 1;
  while (*static_cast<volatile int*>(flag) == 0) {
  }
  __syncthreads();
  atomicAdd(sum + 1, 1);
}

using kernel = void (*)(int*, unsigned*);

static void run(kernel which, unsigned blocks, unsigned threads, unsigned who_add) {
  int* lock;
  unsigned *sum, host[2];
  OK(cudaMalloc(&lock, sizeof *lock));
  OK(cudaMalloc(&sum, sizeof host));
  OK(cudaMemset(lock, 0, sizeof *lock));
  OK(cudaMemset(sum, 0, sizeof host));
  which<<<blocks, threads>>>(lock, sum);
  OK(cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host[0] == turns * who_add);
  CHECK(host[1] == blocks * threads);
  OK(cudaFree(lock));
  OK(cudaFree(sum));
}

int main() {
  for (const dim3 shape : {dim3(1, 32), dim3(1, 64), dim3(2, 33), dim3(2, 128), dim3(4, 64)}) {
    run(with_the_lock, shape.x, shape.y, shape.x * shape.y);
    run(with_the_lock_as_a_group, shape.x, shape.y, shape.x * shape.y);
    run(behind_a_barrier, shape.x, shape.y, shape.x * shape.y);
    run(in_each_look, shape.x, shape.y, shape.x);
  }
  if (wrong == 0) std::puts("ok");
  return wrong;
}
