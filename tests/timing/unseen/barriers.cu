// Programs whose blocks meet: steps of a grid with grid.sync() and with barriers of several kinds
// made by hand, and kernels of two streams that hand on one piece after another.
#include <cooperative_groups.h>

#include "measure.h"

namespace {

namespace groups = cooperative_groups;

/// The last one starts a new round; the others wait until there is one.
__device__ void meet_by_rounds(unsigned* arrived, volatile unsigned* round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned now = *round;
    __threadfence();
    if (atomicAdd(arrived, 1) == gridDim.x - 1) {
      *arrived = 0;
      __threadfence();
      *round = now + 1;
    } else {
      while (*round == now) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}

/// Each block has a flag of its own; the first one looks at all of them and then lets them go.
__device__ void meet_by_flags(volatile unsigned* flags, volatile unsigned* go, unsigned number) {
  __threadfence();
  __syncthreads();
  if (blockIdx.x == 0) {
    for (unsigned i = threadIdx.x + 1; i < gridDim.x; i += blockDim.x)
      while (flags[i] != number) {
      }
    __syncthreads();
    if (threadIdx.x == 0) *go = number;
  } else if (threadIdx.x == 0) {
    flags[blockIdx.x] = number;
    while (*go != number) {
    }
  }
  __syncthreads();
}

__device__ void smooth(const float* in, float* out, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x + 1; i < n - 1;
       i += gridDim.x * blockDim.x)
    out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

__global__ void smooth_by_grid(float* a, float* b, unsigned n, int steps) {
  groups::grid_group grid = groups::this_grid();
  for (int i = 0; i < steps; ++i) {
    smooth(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a, n);
    grid.sync();
  }
}
__global__ void smooth_by_rounds(float* a, float* b, unsigned n, int steps, unsigned* at) {
  for (int i = 0; i < steps; ++i) {
    smooth(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a, n);
    meet_by_rounds(at, at + 32);
  }
}
__global__ void smooth_by_flags(float* a, float* b, unsigned n, int steps, unsigned* at,
                                unsigned number) {
  for (int i = 0; i < steps; ++i) {
    smooth(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a, n);
    meet_by_flags(at + 128, at + 96, number + i);
  }
}

/// Computes for long between two meetings.
__global__ void compute_by_rounds(float* out, int rounds, int steps, unsigned* at) {
  float x = threadIdx.x;
  for (int i = 0; i < steps; ++i) {
    for (int r = 0; r < rounds; ++r) x = x * 0.999f + 0.5f;
    meet_by_rounds(at, at + 32);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

/// One block makes piece after piece; blocks of another kernel take them when they are there.
__global__ void make(float* pieces, unsigned length, int count, volatile unsigned* made,
                     unsigned number) {
  for (int p = 0; p < count; ++p) {
    for (unsigned i = threadIdx.x; i < length; i += blockDim.x) pieces[p * length + i] = i;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) made[p] = number;
    __syncthreads();
  }
}
__global__ void take(float* pieces, unsigned length, volatile unsigned* made, unsigned number) {
  if (threadIdx.x == 0)
    while (made[blockIdx.x] != number) {
    }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < length; i += blockDim.x) pieces[blockIdx.x * length + i] *= 2;
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  float *a, *b;
  unsigned* at;
  MUST(cudaMalloc(reinterpret_cast<void**>(&a), 64 * mib));
  MUST(cudaMalloc(reinterpret_cast<void**>(&b), 64 * mib));
  MUST(cudaMalloc(reinterpret_cast<void**>(&at), mib));
  MUST(cudaMemset(a, 0, 64 * mib));
  MUST(cudaMemset(b, 0, 64 * mib));
  MUST(cudaMemset(at, 0, mib));
  cudaFuncAttributes loaded;
  MUST(cudaFuncGetAttributes(&loaded, make));
  MUST(cudaFuncGetAttributes(&loaded, take));
  unsigned number = 0;
  struct shape {
    unsigned blocks, threads;
  };
  for (const shape s : {shape{96, 192}, {200, 512}, {528, 256}})
    for (unsigned n : {30'000u, 3'000'000u})
      for (int steps : {5, 30}) {
        if (n > 100'000 && steps > 5) continue;
        const std::string key = std::to_string(s.blocks) + "x" + std::to_string(s.threads) + "." +
                                std::to_string(n) + ".steps" + std::to_string(steps);
        wall("smooth.grid." + key, [&] {
          void* arguments[] = {&a, &b, &n, &steps};
          MUST(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(smooth_by_grid), s.blocks,
                                           s.threads, arguments));
        });
        wall("smooth.rounds." + key,
             [&] { smooth_by_rounds<<<s.blocks, s.threads>>>(a, b, n, steps, at); });
        wall("smooth.flags." + key, [&] {
          smooth_by_flags<<<s.blocks, s.threads>>>(a, b, n, steps, at, number + 1);
          number += steps;
        });
      }
  for (const int rounds : {300, 6000})
    wall("compute.rounds" + std::to_string(rounds),
         [&] { compute_by_rounds<<<264, 256>>>(a, rounds, 12, at); });
  streams two(2);
  for (const unsigned length : {4096u, 32768u}) {
    const int count = 40;
    wall("pieces." + std::to_string(length), [&] {
      ++number;
      take<<<count, 128, 0, two[0]>>>(a, length, at + 8192, number);
      make<<<1, 1024, 0, two[1]>>>(a, length, count, at + 8192, number);
    });
  }
  return end();
}
