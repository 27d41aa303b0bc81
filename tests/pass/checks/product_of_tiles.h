// The matrix product by tiles of 16 x 16 that several checks look at.
#pragma once
#include "device.h"

extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int r = 0; r < n / 16; ++r) {
    left[y][x] = a[row * n + r * 16 + x];
    right[y][x] = b[(r * 16 + y) * n + column];
    __sb_rt_barrier(0, 0);
    for (int k = 0; k < 16; ++k) sum += left[y][k] * right[k][x];
    __sb_rt_barrier(0, 0);
  }
  c[row * n + column] = sum;
}
