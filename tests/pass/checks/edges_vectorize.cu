// RUN: -O3 -S
// A tile with a border is stored as vectors, whatever the threads at its edges store besides.
// CHECK: border.any:
// CHECK: {{str q[0-9]+, \[|stp q[0-9]+, q|movups %xmm[0-9]+, |movaps %xmm[0-9]+, [0-9-]*\(}}
// CHECK-NOT: border.counted.entry:
// CHECK: {{fadd v[0-9]+.4s|addps}}
#include "device.h"

extern "C" __global__ void border(const float* in, float* out, int width) {
  __shared__ float tile[18][18];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  tile[ty][tx] = in[y * width + x];
  if (tx == 1 && x > 0) tile[ty][0] = in[y * width + x - 1];
  if (tx == 16 && x < width - 1) tile[ty][17] = in[y * width + x + 1];
  __syncthreads();
  out[y * width + x] = tile[ty][tx - 1] + tile[ty][tx + 1];
}
