// Kernels for short_loops_test.cpp: loops that end at a constant. Numbers are whole and small, so
// that the order of sums does not matter.
#include "device.h"

// Rounds of a tile, of which LLVM would leave a loop.
extern "C" __global__ void long_tile(const float* a, const float* b, float* out, int tiles) {
  __shared__ float left[8][40], right[40][8];
  int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    for (int k = x; k < 40; k += 8) left[y][k] = a[(y * tiles + tile) * 40 + k];
    for (int k = y; k < 40; k += 8) right[k][x] = b[(tile * 40 + k) * 8 + x];
    __syncthreads();
    for (int k = 0; k < 40; ++k) sum += left[y][k] * right[k][x];
    __syncthreads();
  }
  out[y * 8 + x] = sum;
}

// Own sums in an array, which live on across barriers.
extern "C" __global__ void own_sums(const float* in, float* out, int rounds) {
  __shared__ float part[32 + 3];
  int t = threadIdx.x;
  float sums[4] = {1, 2, 3, 4};
  for (int r = 0; r < rounds; ++r) {
    part[t] = in[r * 35 + t];
    if (t < 3) part[t + 32] = in[r * 35 + t + 32];
    __syncthreads();
    for (int k = 0; k < 2; ++k)
      for (int i = 0; i < 4; ++i) sums[i] += part[t + i] * (k + 1);
    __syncthreads();
  }
  for (int i = 3; i >= 0; --i) out[i * 32 + t] = sums[i];
}

// Taps within a loop that is as long as the launch says.
extern "C" __global__ void taps(const float* in, const float* weights, float* out, int rows,
                                int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  float sum = 0;
  for (int y = 0; y < rows; ++y)
    for (int k = 0; k < 5; ++k) sum += in[y * (width + 4) + x + k] * weights[k];
  out[x] = sum;
}

// Too much to be written out as a whole.
extern "C" __global__ void large_window(const float* in, float* out, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = 0; j < 30; ++j)
    for (int i = 0; i < 24; ++i) sum += in[j * width + x + i] * ((i ^ j) & 3);
  out[x] = sum;
}

// What the program says about its loop is done.
extern "C" __global__ void as_told(const float* in, float* out, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  float one = 0, other = 0, all = 0;
#pragma unroll 1
  for (int j = 0; j < 12; ++j) one += in[j * width + x];
#pragma unroll 5
  for (int j = 1; j < 23; ++j) other += in[j * width + x] * (x & j);
#pragma unroll
  for (int j = 23; j > 0; j -= 3) all += in[j * width + x] * j;
  out[x] = one;
  out[width + x] = other;
  out[2 * width + x] = all;
}

// A round needs what the thread's last one has stored.
extern "C" __global__ void own_column(float* data, int width) {
  int x = threadIdx.x;
  for (int j = 1; j < 20; ++j) data[j * width + x] += 2 * data[(j - 1) * width + x];
}
