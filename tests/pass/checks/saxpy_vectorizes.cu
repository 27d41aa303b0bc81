// RUN: -O3 -S
// A kernel without control flow runs as vector code on any machine.
// CHECK: scale.entry:
// CHECK: {{fmul v[0-9]+.4s|mulps}}
#include "device.h"

extern "C" __global__ void scale(float* __restrict__ x, float a) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= a;
}
