// Kernels for linear_test.cpp: warps over several rows of a block.
#include "device.h"

static __device__ __forceinline__ int lane_sum(int v) {
  for (unsigned d = 16; d > 0; d /= 2) v += shuffle_down(v, d);
  return v;
}

// Where a thread is, told by its neighbour in the warp.
extern "C" __global__ void places(unsigned* out) {
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned place = threadIdx.x | threadIdx.y << 11 | threadIdx.z << 22;
  out[t] = (unsigned)__sb_rt_shuffle(0xffffffffu, 3, place, 1, 32, 0);
}

// The linear index in other words.
extern "C" __global__ void written_otherwise(const int* in, int* out) {
  unsigned long layers = (unsigned long)threadIdx.z * blockDim.y * blockDim.x;
  unsigned long t = layers + threadIdx.y * blockDim.x + threadIdx.x;
  int v = in[t];
  if (t / 32 == 1) v += lane_sum(v);
  out[t] = v;
}

// Nothing tells the layers apart.
extern "C" __global__ void sum_of_tile(const int* in, int* out, int stride) {
  __shared__ int sums[32];
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  int v = lane_sum(in[y * stride + x]);
  if (t % 32 == 0) sums[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = lane_sum(t < (int)(blockDim.x * blockDim.y + 31) / 32 ? sums[t] : 0);
    if (t == 0) out[blockIdx.y * gridDim.x + blockIdx.x] = v;
  }
}

// Threads return by rows and columns; a barrier is behind that.
extern "C" __global__ void some_stay(const int* in, int* out, int columns, int rows) {
  __shared__ int tile[1024];
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  out[t] = -1;
  if ((int)threadIdx.x >= columns || (int)threadIdx.y >= rows) return;
  unsigned here = __sb_rt_active_mask();
  tile[t] = in[t];
  __syncthreads();
  int v = tile[threadIdx.y * blockDim.x];
  if (threadIdx.y % 2 == 1) v += 1000 * __builtin_popcount(__sb_rt_vote(here, 3, in[t] & 1));
  out[t] = v + 100000 * __builtin_popcount(here);
}

// Written for one row: the threads of a column add to the same sum.
extern "C" __global__ void one_row(const int* in, int* out) {
  atomicAdd(&out[threadIdx.x], lane_sum(in[threadIdx.x]));
}

// The same with barriers, before which some return, and with warps that part by columns.
extern "C" __global__ void one_row_in_parts(const int* in, int* out, int n) {
  __shared__ int sum;
  int x = (int)threadIdx.x;
  if (x == 0) sum = 0;
  __syncthreads();
  int v = in[x];
  if (x < 5) v += (int)__sb_rt_vote(__sb_rt_active_mask(), 3, in[x] & 1) & 0xffff;
  atomicAdd(&sum, v);
  if (x >= n) return;
  __syncthreads();
  atomicAdd(&out[x], sum);
}

// Layers are not told apart.
extern "C" __global__ void rows_of_layers(const int* in, int* out) {
  int t = (int)(threadIdx.y * blockDim.x + threadIdx.x);
  int v = lane_sum(in[t]);
  if (t < 32 && threadIdx.y % 2 == 1) v += (int)__sb_rt_vote(__sb_rt_active_mask(), 3, 1) & 0xffff;
  atomicAdd(&out[t], v);
}
