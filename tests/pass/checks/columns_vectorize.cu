// RUN: -O3 -S
// Threads that walk down columns side by side go row by row, as vectors.
// CHECK: columns.entry:
// CHECK: {{fadd v[0-9]+.4s|fmul v[0-9]+.4s|addps|mulps}}
#include "device.h"

extern "C" __global__ void columns(const float* in, float* out, int width, int rows) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < width) {
    for (int y = 0; y < rows; ++y) out[y * width + x] = 2 * in[y * width + x];
  }
}
