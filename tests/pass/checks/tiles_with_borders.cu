// RUN: -O3 -S
// A tile with a border around it is one for blocks of the shape without the border.
// CHECK-LABEL: {{^}}around.32x16:
// CHECK: {{fadd v[0-9]+.4s|addps}}
// CHECK-LABEL: {{^}}beside.16x8:
// CHECK: {{fadd v[0-9]+.4s|addps}}
#include "device.h"

extern "C" __global__ void around(const float* in, float* out, int width) {
  __shared__ float tile[18][34];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int i = (blockIdx.y * 16 + ty) * width + blockIdx.x * 32 + tx;
  tile[ty][tx] = in[i];
  if (threadIdx.x == 0) tile[ty][0] = in[i - 1];
  if (threadIdx.x == 31) tile[ty][33] = in[i + 1];
  if (threadIdx.y == 0) tile[0][tx] = in[i - width];
  if (threadIdx.y == 15) tile[17][tx] = in[i + width];
  __syncthreads();
  out[i] = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
}

extern "C" __global__ void beside(const float* in, float* out, int width) {
  __shared__ float tile[8][20];
  int tx = threadIdx.x + 2, ty = threadIdx.y;
  int i = (blockIdx.y * 8 + ty) * width + blockIdx.x * 16 + tx;
  tile[ty][tx] = in[i];
  if (threadIdx.x < 2) tile[ty][threadIdx.x] = in[i - 2];
  if (threadIdx.x >= 14) tile[ty][tx + 2] = in[i + 2];
  __syncthreads();
  out[i] = tile[ty][tx - 2] + tile[ty][tx + 2];
}
