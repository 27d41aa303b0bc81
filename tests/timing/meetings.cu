// Blocks that meet and wait for each other: grid.sync(), barriers of the grid made by hand, kernels
// that wait for what another one writes.
#include <cooperative_groups.h>

#include "unseen/measure.h"

namespace {

namespace groups = cooperative_groups;

/// Part of a grid's share of n numbers.
__device__ void move(const float* in, float* out, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = in[i] + 1;
}

__global__ void __launch_bounds__(256, 8) by_grid(float* a, float* b, unsigned n, int times) {
  groups::grid_group grid = groups::this_grid();
  for (int i = 0; i < times; ++i) {
    if (n != 0) move(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a, n);
    grid.sync();
  }
}

/// How a thread looks at the counter.
struct reads {
  __device__ unsigned operator()(unsigned* at) const { return *(volatile unsigned*)at; }
};
struct adds_nothing {
  __device__ unsigned operator()(unsigned* at) const { return atomicAdd(at, 0); }
};
struct naps {
  __device__ unsigned operator()(unsigned* at) const {
    const unsigned seen = *(volatile unsigned*)at;
    __nanosleep(100);
    return seen;
  }
};

/// The counter only grows: a multiple of the blocks is everybody.
template <class F>
__device__ void meet(unsigned* count, F look) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned all = (atomicAdd(count, 1) / gridDim.x + 1) * gridDim.x;
    while (look(count) < all) {
    }
    __threadfence();
  }
  __syncthreads();
}

template <class F>
__global__ void __launch_bounds__(256, 8)
    by_hand(unsigned* count, float* a, float* b, unsigned n, int times, F look) {
  for (int i = 0; i < times; ++i) {
    if (n != 0) move(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a, n);
    meet(count, look);
  }
}

__device__ float compute(float x, int rounds) {
  for (int i = 0; i < rounds; ++i) x = x * 0.999f + 0.5f;
  return x;
}

/// Computes, and then lets a kernel go on that waits for the number.
__global__ void raise(volatile unsigned* flag, unsigned number, float* out, int rounds) {
  out[threadIdx.x] = compute(threadIdx.x, rounds);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) *flag = number;
}

__global__ void await(volatile unsigned* flag, unsigned number, float* out, int rounds) {
  if (threadIdx.x == 0)
    while (*flag != number) {
    }
  __syncthreads();
  out[threadIdx.x] = compute(threadIdx.x, rounds);
}

/// Two kernels in turn.
__global__ void answer(volatile unsigned* flag, unsigned first, int times) {
  for (int i = 0; i < times; ++i) {
    while (*flag != first + 2 * i) {
    }
    __threadfence();
    *flag = first + 2 * i + 1;
  }
}

/// Each block waits for the one before it.
__global__ void in_a_row(volatile unsigned* flags, unsigned number) {
  if (threadIdx.x == 0 && blockIdx.x != 0)
    while (flags[32 * (blockIdx.x - 1)] != number) {
    }
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    flags[32 * blockIdx.x] = number;
  }
}

struct shape {
  unsigned blocks, threads;
  std::string words() const { return std::to_string(blocks) + "x" + std::to_string(threads); }
};

class meetings {
 public:
  meetings() {
    MUST(cudaMalloc(reinterpret_cast<void**>(&a_), 64 * mib));
    MUST(cudaMalloc(reinterpret_cast<void**>(&b_), 64 * mib));
    MUST(cudaMalloc(reinterpret_cast<void**>(&flags_), mib));
    MUST(cudaMemset(a_, 0, 64 * mib));
    MUST(cudaMemset(b_, 0, 64 * mib));
    MUST(cudaMemset(flags_, 0, mib));
    cudaFuncAttributes loaded;
    MUST(cudaFuncGetAttributes(&loaded, raise));
    MUST(cudaFuncGetAttributes(&loaded, await));
    MUST(cudaFuncGetAttributes(&loaded, answer));
  }

  void grid(shape s, unsigned n, int times) {
    wall("grid" + of(n) + s.words() + ".x" + std::to_string(times), [&] {
      void* arguments[] = {&a_, &b_, &n, &times};
      MUST(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(by_grid), s.blocks, s.threads,
                                       arguments));
    });
  }

  template <class F>
  void hand(const char* name, shape s, unsigned n, int times, F look) {
    MUST(cudaMemset(flags_, 0, mib));
    wall(name + of(n) + s.words() + ".x" + std::to_string(times),
         [&] { by_hand<<<s.blocks, s.threads>>>(flags_, a_, b_, n, times, look); });
  }

  /// The one that waits is there first.
  void flag(int before, int after, unsigned blocks) {
    unsigned number = 0;
    MUST(cudaMemset(flags_, 0, mib));
    wall("flag." + std::to_string(before) + "." + std::to_string(after) + "." +
             std::to_string(blocks),
         [&] {
           ++number;
           await<<<blocks, 128, 0, two_[0]>>>(flags_, number, a_, after);
           raise<<<1, 128, 0, two_[1]>>>(flags_, number, b_, before);
         });
  }

  void turns(int times) {
    unsigned first = 0;
    MUST(cudaMemset(flags_, 0, mib));
    wall("turns.x" + std::to_string(times), [&] {
      answer<<<1, 1, 0, two_[0]>>>(flags_, first, times);
      answer<<<1, 1, 0, two_[1]>>>(flags_, first + 1, times);
      first += 2 * times;
    });
  }

  void row(shape s) {
    unsigned number = 0;
    MUST(cudaMemset(flags_, 0, mib));
    wall("row." + s.words(), [&] { in_a_row<<<s.blocks, s.threads>>>(flags_, ++number); });
  }

 private:
  static std::string of(unsigned n) {
    return n == 0 ? "." : ".move" + std::to_string(n / (1024 * 1024)) + "M.";
  }

  float *a_, *b_;
  unsigned* flags_;
  streams two_{2};
};

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  meetings all;
  for (const shape s :
       {shape{132, 128}, {132, 256}, {264, 128}, {264, 256}, {1056, 128}, {1056, 256}})
    for (const int times : {10, 100}) {
      all.grid(s, 0, times);
      all.hand("hand", s, 0, times, reads{});
    }
  for (const int times : {10, 100}) {
    all.hand("adds", {264, 256}, 0, times, adds_nothing{});
    all.hand("naps", {264, 256}, 0, times, naps{});
  }
  for (const shape s : {shape{132, 256}, {1056, 256}})
    for (const unsigned millions : {1, 8}) {
      all.grid(s, millions << 20, 10);
      all.hand("hand", s, millions << 20, 10, reads{});
    }
  for (const int before : {0, 5000, 50000})
    for (const int after : {0, 10000})
      for (const unsigned blocks : {1u, 132u}) all.flag(before, after, blocks);
  for (const int times : {1, 10, 100}) all.turns(times);
  for (const shape s : {shape{132, 128}, {1056, 128}}) all.row(s);
  return end();
}
