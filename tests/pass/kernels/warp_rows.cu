// Kernels for warp_rows_test.cpp: warps that go through rows, each with a loop of its own, and what
// they do with the sums.
#include "device.h"

static __device__ __forceinline__ int shuffle(unsigned kind, int v, unsigned d, unsigned width) {
  return (int)__sb_rt_shuffle(0xffffffffu, kind, (unsigned)v, d, width, 0);
}
static __device__ __forceinline__ int butterfly(int v) {
  for (unsigned d = 16; d > 0; d /= 2) v += shuffle(3, v, d, 32);
  return v;
}

// The order of a lane's rounds matters.
static __device__ __forceinline__ int through_row(const int* starts, const int* in, int row,
                                                  int lane) {
  int sum = 0;
  for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum = sum * 3 + in[i];
  return sum;
}

extern "C" __global__ void rows_inside(const int* starts, const int* in, int* out, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row < rows) {
    int sum = butterfly(through_row(starts, in, row, lane));
    if (lane == 0) out[row] = sum;
  }
}
extern "C" __global__ void rows_returned(const int* starts, const int* in, int* out, int rows) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int row = t / 32, lane = t % 32;
  if (row >= rows) return;
  int sum = butterfly(through_row(starts, in, row, lane));
  if (lane == 0) out[row] = sum;
}
extern "C" __global__ void rows_in_turn(const int* starts, const int* in, int* out, int rows) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, lane = t & 31;
  for (int row = t >> 5; row < rows; row += gridDim.x * blockDim.x >> 5) {
    int sum = butterfly(through_row(starts, in, row, lane));
    if (lane == 0) out[row] = sum;
  }
}
// What every thread finds, whatever the width of its block is.
extern "C" __global__ void rows_of_all(const int* starts, const int* in, int* out, int rows) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, row = t / 32;
  if (row >= rows) return;
  out[t] = butterfly(through_row(starts, in, row, t % 32) + row);
}
extern "C" __global__ void rows_of_four(const int* starts, const int* in, int* out, int rows) {
  int t = blockIdx.x * 128 + threadIdx.x, row = t / 32;
  if (row >= rows) return;
  out[t] = butterfly(through_row(starts, in, row, t % 32) + row);
}

extern "C" __global__ void signed_rounds(int first, int limit, int step, unsigned* out) {
  unsigned sum = 0, t = threadIdx.x, lane = t % 32;
  for (int i = first + (int)lane; i < limit; i += step) sum = sum * 31 + (unsigned)i;
  out[t] = sum + (unsigned)shuffle(2, (int)sum, 1, 32);
}
extern "C" __global__ void unsigned_rounds(unsigned first, unsigned limit, unsigned step,
                                           unsigned* out) {
  unsigned sum = 0, t = threadIdx.x, lane = t % 32;
  for (unsigned i = first + lane; i <= limit; i += step) sum = sum * 31 + i;
  out[t] = sum + (unsigned)shuffle(2, (int)sum, 1, 32);
}
extern "C" __global__ void wide_rounds(long first, long limit, long step, unsigned* out) {
  unsigned sum = 0, t = threadIdx.x;
  for (long i = first + 3 * (long)(t % 32); i < limit; i += step) sum = sum * 31 + (unsigned)i;
  out[t] = sum + (unsigned)shuffle(2, (int)sum, 1, 32);
}

extern "C" __global__ void scan_block(const int* in, int* out) {
  __shared__ int sums[32];
  unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
  int v = in[t];
  for (unsigned d = 1; d < 32; d *= 2) {
    int before = shuffle(1, v, d, 32);
    if (lane >= d) v += before;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int s = sums[lane];
    for (unsigned d = 1; d < 32; d *= 2) {
      int before = shuffle(1, s, d, 32);
      if (lane >= d) s += before;
    }
    sums[lane] = s;
  }
  __syncthreads();
  out[t] = v + (warp ? sums[warp - 1] : 0);
}

// Distances that are known, of every kind; each width and distance has a place of its own.
template <unsigned kind, unsigned width>
static __device__ __forceinline__ void distances(long v, long* out) {
  out[0] = (long)__sb_rt_shuffle(0xffffffffu, kind, (u64)v, 0, width, 0);
  out[1] = (long)__sb_rt_shuffle(0xffffffffu, kind, (u64)v, 1, width, 0);
  out[2] = (long)__sb_rt_shuffle(0xffffffffu, kind, (u64)v, 5, width, 0);
  out[3] = (long)__sb_rt_shuffle(0xffffffffu, kind, (u64)v, 16, width, 0);
  out[4] = (long)__sb_rt_shuffle(0xffffffffu, kind, (u64)v, 31, width, 0);
  out[5] = (long)__sb_rt_shuffle(0xffffffffu, kind, (u64)v, 40, width, 0);
}
template <unsigned kind>
static __device__ __forceinline__ void widths(long v, long* out) {
  distances<kind, 32>(v, out);
  distances<kind, 8>(v, out + 6);
  distances<kind, 1>(v, out + 12);
}
extern "C" __global__ void known_distances(const long* in, long* out) {
  unsigned t = threadIdx.x;
  out += t * 72;
  widths<0>(in[t], out);
  widths<1>(in[t], out + 18);
  widths<2>(in[t], out + 36);
  widths<3>(in[t], out + 54);
}
