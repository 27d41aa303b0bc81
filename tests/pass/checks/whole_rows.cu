// RUN: -O3 -S
// RUN-X86_64: -O3 -S -march=x86-64-v3
// In a block of the shape of its tile a row of threads whose guard lets all of them through is a
// few vectors, stored side by side, and no loop over vectors.
// CHECK-LABEL: {{^}}turned.16x16:
// CHECK: {{stp q[0-9]+, q|movups %xmm[0-9]+, (16|32|48)\(|movaps %xmm[0-9]+, (16|32|48)\(}}
// CHECK: {{^}}.Lfunc_end
// A thread may have several rows of the tile: the block has fewer then.
// CHECK-LABEL: {{^}}by_eight.32x8:
// CHECK: {{stp q[0-9]+, q|movups %xmm[0-9]+, (16|32|48)\(|movaps %xmm[0-9]+, (16|32|48)\(}}
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

extern "C" __global__ void by_eight(const float* in, float* out, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
