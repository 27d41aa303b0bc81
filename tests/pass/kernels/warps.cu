// Kernels for warps_test.cpp: warps that meet, and lanes that part.
#include "device.h"

static __device__ __forceinline__ int lane_sum(int v) {
  for (unsigned d = 16; d > 0; d /= 2) v += shuffle_down(v, d);
  return v;
}
static __device__ __forceinline__ unsigned thread_rank() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

extern "C" __global__ void block_sum(const int* in, int* out) {
  __shared__ int sums[32];
  unsigned t = thread_rank(), lane = t % 32, warp = t / 32;
  unsigned warps = (blockDim.x * blockDim.y * blockDim.z + 31) / 32;
  int v = lane_sum(in[t]);
  if (lane == 0) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane_sum(lane < warps ? sums[lane] : 0);
    if (lane == 0) out[0] = v;
  }
}

extern "C" __global__ void ranks(const int* in, int* out) {
  unsigned t = thread_rank();
  unsigned yes = __sb_rt_vote(0xffffffffu, 3, in[t] > 0);
  unsigned before = yes & ((1u << (t % 32)) - 1);
  out[t] = in[t] > 0 ? __builtin_popcount(before) : -1;
}

extern "C" __global__ void some_lanes(const int* in, int* out) {
  unsigned t = thread_rank();
  int v = in[t];
  if (t % 2 == 0) v += (int)__sb_rt_shuffle(0x55555555u, 0, (unsigned)v, 0, 32, 0);
  out[t] = v;
}

extern "C" __global__ void until_all(int* data, int* rounds) {
  unsigned t = thread_rank();
  int n = 0;
  while (!__sb_rt_vote(0xffffffffu, 0, data[t] == 0)) {
    if (data[t] > 0) --data[t];
    ++n;
  }
  rounds[t] = n;
}

// Tiles of eight, behind a condition that parts a warp.
extern "C" __global__ void first_eight(const int* in, int* out) {
  unsigned t = threadIdx.x;
  int v = in[t];
  if (t < 8) {
    for (unsigned d = 4; d > 0; d /= 2) v += (int)__sb_rt_shuffle(0xffu, 2, (unsigned)v, d, 8, 0);
  }
  out[t] = v;
}

// Which lanes there are on both sides, behind threads that have left.
extern "C" __global__ void both_sides(const int* in, unsigned* out, int n) {
  int t = (int)threadIdx.x;
  if (t >= n) return;
  unsigned here;
  if (in[t] > 0) {
    here = __sb_rt_active_mask();
  } else {
    here = __sb_rt_active_mask();
    if (in[t] < 0) here = ~__sb_rt_vote(here, 3, t % 2);
  }
  out[t] = here;
}

// Lanes leave one after the other; each keeps what it left with.
extern "C" __global__ void leave_in_turn(const int* in, int* out) {
  int t = (int)threadIdx.x, sum = 0, round = 0, last = in[t];
  for (; round < last; ++round) {
    unsigned here = __sb_rt_active_mask();
    if (last == 7 && round == 3) break;
    sum += __builtin_popcount(here);
  }
  out[t] = 1000 * sum + round;
}

// Lanes with the same key, and their sum.
extern "C" __global__ void by_key(const int* in, unsigned* groups, int* sums) {
  unsigned t = threadIdx.x;
  unsigned same = __sb_rt_match(0xffffffffu, 0, (unsigned)in[t], 0);
  groups[t] = same;
  sums[t] = (int)__sb_rt_reduce(same, 0, t);
}

// A warp that stays together between volatile accesses, as code before Volta takes it to: a sum of
// all, and what was to the right of each lane.
extern "C" __global__ void lanes_go_together(const int* in, int* sums, int* neighbours) {
  extern __shared__ int lanes[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  lanes[t] = in[i];
  __syncthreads();
  if (t < 32) {
    volatile int* part = lanes;
    for (int j = t + 32; j < blockDim.x; j += 32) part[t] += part[j];
    part[t] += part[t + 16];
    part[t] += part[t + 8];
    part[t] += part[t + 4];
    part[t] += part[t + 2];
    part[t] += part[t + 1];
  }
  if (t == 0) sums[blockIdx.x] = lanes[0];
  __syncthreads();
  volatile int* turned = lanes;
  turned[t] = in[i];
  turned[t] = turned[t - t % 32 + (t + 1) % 32];
  neighbours[i] = turned[t];
}
