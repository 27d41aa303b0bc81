// Warps that come to barriers by ways of their own, and whose lanes meet in between.
#include "device.h"

static __device__ __forceinline__ unsigned ballot(unsigned mask, int yes) {
  return __sb_rt_vote(mask, 3, yes);
}
static __device__ __forceinline__ int shuffle(int v, unsigned lane) {
  int in = 0;
  return (int)__sb_rt_shuffle(~0u, 0, (unsigned)v, lane, 32, &in);
}
static __device__ __forceinline__ int sum(int v) {
  return (int)__sb_rt_reduce(~0u, 0, (unsigned)v);
}

// A barrier on each way of a branch.
extern "C" __global__ void by_two_ways(int* data) {
  __shared__ int sums[32];
  const int t = threadIdx.x, warp = t / 32;
  int v = data[t];
  if (warp == 0) {
    v += sum(v);
    sums[0] = v - data[t];
    __syncthreads();
    v += shuffle_down(v, 1);
  } else {
    sums[warp] = v - data[t];
    __syncthreads();
    v += sums[0];
  }
  data[t] = v;
}

// One warp brings what the others take.
extern "C" __global__ void brings_and_takes(const int* in, int* out, int rounds) {
  __shared__ int tile[2][32];
  const int t = threadIdx.x, lane = t % 32;
  if (t < 32) {
    for (int r = 0; r < rounds; ++r) {
      tile[r & 1][t] = in[32 * r + t];
      __syncthreads();
    }
    __syncthreads();
  } else {
    int v = 0;
    __syncthreads();
    for (int r = 0; r < rounds; ++r) {
      v = 3 * v + sum(tile[r & 1][lane]) + shuffle_down(tile[r & 1][lane], 1);
      __syncthreads();
    }
    out[t - 32] = v;
  }
}

// Goes on while any lane does; each warp as often as it likes.
extern "C" __global__ void as_long_as_any(int* data, int* seen) {
  const int t = threadIdx.x, y = threadIdx.y;
  const int i = y * blockDim.x + t;
  int left = data[i], rounds = 0;
  while (ballot(~0u, left > 0) != 0) {
    --left;
    seen[i] += 1;
    __syncthreads();
    rounds += seen[blockDim.x * blockDim.y - 1 - i];
    __syncthreads();
  }
  data[i] = rounds;
}

// Lanes return, one after the other; those that are left vote, and come to one of two barriers.
extern "C" __global__ void lanes_leave(int* data, int rounds) {
  const int t = threadIdx.x, warp = t / 32;
  int own[4] = {t, 0, 1, 2};
  int v = data[t];
  for (int r = 0; r < rounds; ++r) {
    if (v == r) {
      data[t] = -v - own[v & 3];
      return;
    }
    own[(v + r) & 3] += __builtin_popcount(ballot(~0u, v > 2 * r));
    if ((warp + r) & 1) {
      own[0] += __sb_rt_barrier(1, v & 1);
    } else {
      own[1] += 100 * __sb_rt_barrier(1, v & 2);
    }
  }
  data[t] = own[0] + own[1] + own[2] + own[3];
}

// A loop that some rounds of some warps pass without a barrier.
extern "C" __global__ void now_and_then(int* data, int rounds) {
  __shared__ int kept[64];
  const int t = threadIdx.x, warp = t / 32;
  int v = data[t];
  for (int r = 0; r < rounds; ++r) {
    v = (v + shuffle_down(v, 1 + warp)) & 1023;
    if (r % (warp + 2) == 0) {
      kept[t] = v;
      __syncthreads();
      if (t % 4 == 1) v ^= 5;
      v = (v + kept[t ^ 1]) & 1023;
    }
  }
  data[t] = v;
}

// What the first lane has says which way all go.
extern "C" __global__ void as_the_first_says(int* data) {
  const int t = threadIdx.x;
  int v = data[t];
  if (shuffle(v, 0) & 1) {
    __syncthreads();
    v += sum(v);
  } else {
    v *= 2;
    __syncthreads();
  }
  data[t] = v;
}

// Where every warp has 32 lanes, that lane is there.
extern "C" __global__ void as_another_says(int* data, int lane) {
  const int t = threadIdx.x;
  int v = data[t];
  if (shuffle(v, lane) & 1) {
    __syncthreads();
    v += sum(v);
  } else {
    v *= 2;
    __syncthreads();
  }
  data[t] = v;
}

// What all lanes have in common, if they have.
extern "C" __global__ void as_all_say(int* data) {
  const int t = threadIdx.x;
  int v = data[t];
  if (__sb_rt_match(~0u, 1, (u64)(v & 8), nullptr) != 0) {
    __syncthreads();
    v += sum(v);
  } else {
    v *= 2;
    __syncthreads();
    __syncthreads();
  }
  data[t] = v;
}

// The warp's number in the grid says which way it goes. It is one for all lanes where blocks are of
// whole warps.
static __device__ __forceinline__ int by_number(int v, int number, int limit) {
  __shared__ int kept;
  if (threadIdx.x == 0) kept = 0;
  __syncthreads();
  if (number % 3 == 0) {
    v += sum(v);
    __syncthreads();
    v ^= 1;
  } else if (number < limit) {
    kept = 7;
    __syncthreads();
    v += shuffle_down(v, 1);
    __syncthreads();
  }
  if (number == 0 || number == 5) {
    __syncthreads();
    v += kept;
  }
  return v;
}
extern "C" __global__ void by_number_in_grid(int* data, int limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = by_number(data[i], i / 32, limit);
}
extern "C" __global__ void by_unsigned_number_in_grid(int* data, int limit) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = by_number(data[i], i / 32, limit);
}
extern "C" __global__ void by_number_of_tiles(int* data, int limit) {
  const unsigned t = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned i = blockIdx.x * (blockDim.x * blockDim.y) + t;
  data[i] = by_number(data[i], i / 32, limit);
}
extern "C" __global__ void by_number_of_any(int* data, int limit) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned i = (blockIdx.y * gridDim.x + blockIdx.x) * threads + t;
  data[i] = by_number(data[i], i / 32, limit);
}

// One lane is at another barrier than the others.
extern "C" __global__ void a_lane_goes_ahead(int* data) {
  const int t = threadIdx.y * blockDim.x + threadIdx.x, warp = t / 32;
  int v = data[t];
  for (int r = 0; r < warp + 1; ++r) {
    v += shuffle_down(v, 1);
    __syncthreads();
    if (r == 1 && t % 32 == 3) break;
  }
  __syncthreads();
  data[t] = v;
}

// In blocks of any shape.
extern "C" __global__ void in_rows(int* data) {
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  int v = data[t];
  for (int r = 0; r < t / 32 + 1; ++r) {
    v += shuffle_down(v, 1);
    __syncthreads();
  }
  data[t] = v;
}

// The first warp, by numbers that are of type int, but never negative.
static __device__ __forceinline__ int first_and_others(int v, bool first) {
  __shared__ int kept;
  if (first) {
    v += sum(v);
    kept = 5;
    __syncthreads();
    v += shuffle_down(v, 1);
  } else {
    __syncthreads();
    v += kept;
    __syncthreads();
  }
  return v;
}
extern "C" __global__ void first_of_rows(int* data) {
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  data[t] = first_and_others(data[t], t / 32 == 0);
}
extern "C" __global__ void first_of_layers(int* data) {
  const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  data[t] = first_and_others(data[t], t / 32 == 0);
}
extern "C" __global__ void first_of_wide_numbers(int* data) {
  const long t =
      threadIdx.z * (long)(blockDim.y * blockDim.x) + (long)threadIdx.y * blockDim.x + threadIdx.x;
  data[t] = first_and_others(data[t], t / 32 == 0);
}

// A kernel that may stop is told of its thread where it does, in rows that break warps too.
extern "C" __global__ void may_stop(int* data, int limit) {
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  data[t] = first_and_others(data[t], t / 32 == 0);
  if (t > limit) printf("%u ", 1000 * threadIdx.x + threadIdx.y);
}

// Many barriers, of which each may be the next one.
extern "C" __global__ void in_many_steps(int* data) {
  const int t = threadIdx.x, warp = t / 32;
  int v = data[t];
#pragma unroll
  for (int step = 1; step <= 12; ++step) {
    if (warp % 3 == step % 3) {
      for (int d = 16; d > 0; d /= 2) v += shuffle_down(v & 1023, d);
      __syncthreads();
      v ^= step;
    } else if (warp % 3 == (step + 1) % 3) {
      __syncthreads();
      v += step;
      __syncthreads();
    }
  }
  data[t] = v;
}

// Where the grid meets, too.
extern "C" __global__ void with_the_grid(int* data, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = data[i];
  if (threadIdx.x / 32 == 0) {
    out[i] = sum(v);
    __sb_rt_grid_sync();
    v += out[(i + 32) % n];
  } else {
    out[i] = 3 * v;
    __sb_rt_grid_sync();
    v += shuffle_down(out[(i + 32) % n], 1);
  }
  data[i] = v;
}
