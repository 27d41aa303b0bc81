// Threads that part before they meet: by switches, returns, in functions that stay calls otherwise.
#include "device.h"

extern "C" __global__ void chooses_behind_a_return(int* data, int n) {
  __shared__ int tile[8];
  const int t = threadIdx.x;
  if (t >= n) return;
  int v = data[t];
  switch (v) {
    case 1:
    case 2:
      v += 10;
      break;
    case 3:
      v *= 100;
      [[fallthrough]];
    case 5:
      v -= 1;
      break;
    case 7:
      v = -7;
      break;
    default:
      v = 50;
  }
  tile[t] = v;
  __syncthreads();
  data[t] = tile[n - 1 - t];
}

// What those that return leave behind, the others read behind the barrier.
extern "C" __global__ void leaves_something(int* data, int* out, int n) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  if (t >= n) {
    tile[t] = -t;
    return;
  }
  tile[t] = data[t];
  __syncthreads();
  out[t] = tile[blockDim.x - 1 - t];
}

extern "C" __global__ void returns_by_cases(int* data) {
  const int t = threadIdx.x;
  int v = data[t];
  switch (v & 3) {
    case 0:
      data[t] = -1;
      return;
    case 1:
      v += 4;
      break;
    case 2:
      data[t] = -2;
      return;
    default:
      break;
  }
  data[t] = v + 1000 * __sb_rt_barrier(1, v > 4);
}

extern "C" __global__ void chooses_in_rounds(int* data, int n, int rounds) {
  __shared__ int tile[8];
  const int t = threadIdx.x;
  if (t >= n) return;
  int v = data[t];
  for (int r = 0; r < rounds; ++r) {
    switch ((v + r) % 4) {
      case 0:
        v += 5;
        break;
      case 1:
        v *= 2;
        break;
      case 2:
        v ^= 9;
        break;
      default:
        v -= 1;
    }
    tile[t] = v;
    __syncthreads();
    v += tile[(t + 1) % n];
    __syncthreads();
  }
  data[t] = v;
}

extern "C" __global__ void meets_in_cases(int* data, int n, int way) {
  __shared__ int tile[8];
  const int t = threadIdx.x;
  if (t >= n) return;
  tile[t] = data[t];
  switch (way) {
    case 0:
      __syncthreads();
      data[t] += tile[n - 1];
      break;
    case 1:
      data[t] = 0;
      __syncthreads();
      [[fallthrough]];
    case 2:
      __syncthreads();
      data[t] += 10 * tile[n - 1 - t];
      break;
    default:
      data[t] = -data[t];
  }
}

extern "C" __global__ void lanes_choose(int* data) {
  int v = data[threadIdx.x];
  switch (v) {
    case 0:
      v = (int)__sb_rt_active_mask();
      break;
    case 1:
      v = __sb_rt_reduce(__sb_rt_active_mask(), 0, threadIdx.x);
      break;
    default:
      v = -v;
  }
  data[threadIdx.x] = v;
}

extern "C" __global__ void lanes_return(int* data) {
  int v = data[threadIdx.x];
  if (v & 1) {
    if (v & 2) {
      data[threadIdx.x] = -1;
      return;
    }
    v += 10;
  }
  data[threadIdx.x] = v + 1000 * (int)__sb_rt_active_mask();
}

// Those of case 0 come to the second operation with those of case 1.
extern "C" __global__ void lanes_fall_through(int* data) {
  int v = data[threadIdx.x];
  const unsigned first = __sb_rt_vote(~0u, 3, v == 0), both = __sb_rt_vote(~0u, 3, v < 2);
  switch (v) {
    case 0:
      v = 10 + __sb_rt_reduce(first, 0, threadIdx.x);
      [[fallthrough]];
    case 1:
      v += 1000 * __sb_rt_reduce(both, 0, v);
      break;
    case 4:
      data[threadIdx.x] = -4;
      return;
    default:
      v = -v;
  }
  data[threadIdx.x] = v + 100 * (__sb_rt_vote(~0u, 3, v < 0) != 0);
}

// The same in rounds, which lanes leave one after the other.
extern "C" __global__ void lanes_leave_rounds(int* data) {
  int v = data[threadIdx.x], sum = 0;
  for (int r = 0; r < 4; ++r) {
    const unsigned there = __sb_rt_active_mask();
    if (v == r) {
      if (r & 1) {
        data[threadIdx.x] = -sum;
        return;
      }
      sum += 500;
    } else if (v == r + 2) {
      break;
    }
    sum += __sb_rt_reduce(there & __sb_rt_active_mask(), 0, 1);
  }
  data[threadIdx.x] = sum;
}

__device__ __noinline__ int sum_of(int v, int* tile) {
  tile[threadIdx.x] = v;
  __syncthreads();
  int sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += tile[i];
  __syncthreads();
  return sum;
}
__device__ __noinline__ int sums_of(int v, int* tile) { return sum_of(v, tile) + sum_of(1, tile); }
__device__ __noinline__ int next_lanes(int v) { return shuffle_down(v, 1); }
__device__ __noinline__ int square(int v) { return v * v; }

extern "C" __global__ void meets_in_calls(int* data) {
  __shared__ int tile[8];
  data[threadIdx.x] = sums_of(square(data[threadIdx.x]), tile);
}

extern "C" __global__ void shuffles_in_calls(int* data) {
  data[threadIdx.x] += next_lanes(data[threadIdx.x]);
}

__device__ int down(int depth) {
  __syncthreads();
  return depth == 0 ? 1 : 2 * down(depth - 1);
}
extern "C" __global__ void meets_in_recursion(int* data) {
  data[threadIdx.x] = down(data[threadIdx.x]);
}

__device__ int (*chosen)(int, int*) = sum_of;
extern "C" __global__ void meets_behind_a_pointer(int* data) {
  __shared__ int tile[8];
  data[threadIdx.x] = chosen(data[threadIdx.x], tile);
}

extern "C" __global__ void threads_part(int* data) {
  if (threadIdx.x < 4) {
    data[threadIdx.x] += 1;
    __syncthreads();
  } else {
    __syncthreads();
    data[threadIdx.x] += 10 * data[threadIdx.x - 4];
  }
}

extern "C" __global__ void some_are_early(int* data) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  if (threadIdx.x < 4) {
    __syncthreads();
    if (threadIdx.x == 0) sum = 9;
  }
  __syncthreads();
  data[threadIdx.x] = 1 + (threadIdx.x < 4 ? sum : 0);
}

extern "C" __global__ void returns_from_branches(int* data) {
  const int t = threadIdx.x;
  int v = data[t];
  if (v & 1) {
    if (v & 2) {
      data[t] = -1;
      return;
    }
    v += 10;
  }
  data[t] = v + 100 * __sb_rt_barrier(1, v > 3);
}

// A barrier counts whoever is at one, with the predicates of all.
extern "C" __global__ void counts_at_different_barriers(int* data) {
  const int t = threadIdx.x;
  int v = 0;
  for (int r = 0; r <= t; ++r) {
    if ((t + r) % 3 == 0) {
      __syncthreads();
      continue;
    }
    v = 10 * v + ((t + r) % 3 == 1 ? __sb_rt_barrier(1, t > 1) : 5 + __sb_rt_barrier(2, 1));
  }
  data[t] = v;
}

// What a thread knows at a barrier it knows behind it, in rounds of its own.
extern "C" __global__ void keeps_what_it_knows(int* data, int* out) {
  __shared__ int tile[2][8];
  const int t = threadIdx.x, n = blockDim.x;
  int own[3] = {t, data[t], 7}, met = 0;
  for (int r = 0; r < 3 + t % 2; ++r) {
    const int before = own[r % 3] * 3 + r;
    tile[met & 1][t] = before;
    if (data[t] > r) {
      __syncthreads();
      own[(r + 1) % 3] += tile[met & 1][(t + 1) % n] - before;
      ++met;
    } else if (r == 2) {
      break;
    }
  }
  while (met < 4) {
    tile[met & 1][t] = 0;
    __syncthreads();
    ++met;
  }
  out[t] = own[0] + 1000 * own[1] + 1000000 * own[2];
}

extern "C" __global__ void lanes_and_barriers(int* data) {
  if (threadIdx.x < 4) {
    data[threadIdx.x] += 1;
    __syncthreads();
  } else {
    __syncthreads();
    data[threadIdx.x] = shuffle_down(data[threadIdx.x], 1);
  }
}
