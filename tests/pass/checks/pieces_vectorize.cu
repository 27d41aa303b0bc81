// RUN: -O3 -S
// Several elements of a thread, each behind its guard, are vectors. So is what all threads store
// into a tile when those at its edges store more behind the same guard.
// CHECK: elements.entry:
// CHECK: {{fml[as] v[0-9]+.4s|fadd v[0-9]+.4s|addps|vfmadd}}
// CHECK: rounds.entry:
// CHECK: {{fml[as] v[0-9]+.4s|fadd v[0-9]+.4s|addps|vfmadd}}
// CHECK: border.entry:
// CHECK: {{ldr q[0-9]+, \[|ldp q[0-9]+, q|movups [0-9-]*\(}}
// CHECK: {{str q[0-9]+, \[|stp q[0-9]+, q|movups %xmm[0-9]+, |movaps %xmm[0-9]+, [0-9-]*\(}}
// CHECK: border.counted.entry:
#include "device.h"

extern "C" __global__ void elements(float a, const float* x, float* y, int n) {
  int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    int i = first + k * blockDim.x;
    if (i < n) y[i] = a * x[i] + y[i];
  }
}

extern "C" __global__ void rounds(float a, const float* x, float* y, int n, int per) {
  int first = blockIdx.x * blockDim.x * per + threadIdx.x;
  for (int k = 0; k < per; ++k) {
    int i = first + k * blockDim.x;
    if (i < n) y[i] = a * x[i] + y[i];
  }
}

extern "C" __global__ void border(const float* in, float* out, int width, int height) {
  __shared__ float tile[19][35];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int x = blockIdx.x * 32 + tx, y = blockIdx.y * 16 + ty;
  if (x < width && y < height) {
    tile[ty][tx] = in[y * width + x];
    if (threadIdx.x == 0) tile[ty][0] = in[y * width + x - 1];
    if (threadIdx.x == 31 && x + 1 < width) tile[ty][33] = in[y * width + x + 1];
    if (threadIdx.y == 0) tile[0][tx] = in[(y - 1) * width + x];
    if (threadIdx.y == 15 && y + 1 < height) tile[17][tx] = in[(y + 1) * width + x];
  }
  __syncthreads();
  // Not side by side: no vectors here.
  if (x < width - 1 && y < height - 1) out[x * height + y] = tile[tx + 1][ty] + tile[tx - 1][ty];
}
