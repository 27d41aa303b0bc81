// RUN: -O3 -S
// In a block of the shape of its tile a row of threads whose guard lets all of them through is a
// few vectors, stored side by side, and no loop over vectors.
// CHECK-LABEL: {{^}}turned.16x16:
// CHECK: {{stp q[0-9]+, q|movups %xmm[0-9]+, (16|32|48)\(|movaps %xmm[0-9]+, (16|32|48)\(}}
// CHECK: {{^}}.Lfunc_end
#include "device.h"

extern "C" __global__ void turned(const float* in, float* out, int width, int height) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
