// Kernels whose blocks meet.
#include "device.h"

static __device__ __forceinline__ int own_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// What a thread and its block keep from one meeting to the next.
extern "C" __global__ void passes_on(int* data, int n, int rounds) {
  __shared__ int kept[32];
  const int i = own_index();
  int own[3] = {i, 2 * i, 3 * i};
  kept[threadIdx.x] = 1000 + blockIdx.x;
  for (int r = 0; r < rounds; ++r) {
    const int next = data[(i + 1) % n];
    __sb_rt_grid_sync();
    data[i] = next + own[r % 3];
    own[(r + 1) % 3] += r;
    __sb_rt_grid_sync();
  }
  if (kept[threadIdx.x] != 1000 + (int)blockIdx.x) data[i] = -1;
}

static __device__ __noinline__ int all_of_it(int* data, int* sums, int i, int n) {
  sums[i] = data[i] * 3;
  __sb_rt_grid_sync();
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += sums[k];
  return sum;
}
extern "C" __global__ void meets_in_a_function(int* data, int* sums, int n) {
  const int i = own_index();
  data[i] = all_of_it(data, sums, i, n) + i;
}

// Those that leave have left something behind.
extern "C" __global__ void some_return(int* data, int* out, int n) {
  const int i = own_index();
  if (i >= n) {
    out[i] = -7;
    return;
  }
  out[i] = data[i];
  __sb_rt_grid_sync();
  data[i] = out[i + 1];
}

// The threads of a block come by two ways.
extern "C" __global__ void by_two_ways(int* data, int* out, int n) {
  const int i = own_index();
  if (data[i] & 1) {
    out[i] = 10 * data[i];
    __sb_rt_grid_sync();
    data[i] = out[(i + 1) % n];
  } else {
    out[i] = 100 * data[i];
    __sb_rt_grid_sync();
    data[i] = out[(i + 2) % n];
  }
}

// Each as often as it likes; who is through does not wait for the others.
extern "C" __global__ void each_as_often(int* data, int* seen, int n) {
  const int i = own_index();
  for (int r = 0; r < data[i]; ++r) {
    seen[i] += 1;
    __sb_rt_grid_sync();
    if (seen[(i + 1) % n] > r + 1) seen[i] += 1000;
    __sb_rt_grid_sync();
  }
}

// Barriers of the block, of which the grid's is one, and warps.
extern "C" __global__ void with_barriers_and_warps(int* data, int* sums) {
  __shared__ int tile[64];
  const int i = own_index(), t = threadIdx.x;
  tile[t] = data[i];
  __syncthreads();
  int v = tile[(t + 1) % blockDim.x];
  for (int d = 16; d > 0; d /= 2) {
    v += (int)__sb_rt_shuffle(~0u, 3, (unsigned)v, d, 32, (int*)0);
  }
  if (t == 0) sums[blockIdx.x] = v;
  __sb_rt_grid_sync();
  v = 0;
  for (int b = 0; b < (int)gridDim.x; ++b) v += sums[b];
  tile[t] = v + t;
  __syncthreads();
  data[i] = tile[(t + 1) % blockDim.x];
}

// A call of the engine, and a meeting behind it.
extern "C" __global__ void says_and_meets(int* data) {
  const int i = own_index();
  if (i == 2) printf("%d;", data[i]);
  __sb_rt_grid_sync();
  if (i == 5) printf("%d;", data[i]);
}

// Time passes before a meeting.
extern "C" __global__ void waits_and_meets(int* data) {
  const long long begin = clock64();
  while (clock64() - begin < 500) {
  }
  data[own_index()] = 1;
  __sb_rt_grid_sync();
  data[own_index()] += 1;
}

static __device__ __noinline__ void meets(int* data) {
  data[own_index()] *= 2;
  __sb_rt_grid_sync();
}
extern "C" __global__ void meets_behind_a_pointer(int* data, int which) {
  void (*const all[])(int*) = {meets, meets};
  void (*volatile one)(int*) = all[which];
  one(data);
  data[own_index()] += 1;
}
