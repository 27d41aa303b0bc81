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
