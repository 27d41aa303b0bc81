// RUN: -O3 -S
// Where a guard holds the loop is vector code; the last block's rest is not.
// CHECK: saxpy.entry:
// CHECK: {{fmla v[0-9]+.4s|mulps|vfmadd}}
// CHECK: triad.entry:
// CHECK: {{fmla v[0-9]+.4s|mulps|vfmadd}}
// CHECK: inside.entry:
// CHECK: {{fadd v[0-9]+.4s|addps}}
// CHECK: border.entry:
// CHECK: {{fadd v[0-9]+.4s|addps}}
#include "device.h"

extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void triad(size_t n, float a, const float* x, const float* y, float* z) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  z[i] = a * x[i] + y[i];
}

extern "C" __global__ void inside(int width, int height, const float* in, float* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
    out[y * width + x] = in[y * width + x - 1] + in[y * width + x + 1];
  }
}

extern "C" __global__ void border(int width, int height, const float* in, float* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
    out[y * width + x] = 0;
    return;
  }
  out[y * width + x] = in[y * width + x - 1] + in[y * width + x + 1];
}
