// RUN: -O3 -S -emit-llvm
// LLVM writes the guard as `x - 257 < -256`, unsigned: true on both sides of 256 numbers.
// The loop is cut where these begin and end.
// CHECK: define {{.*}}smooth.entry
// CHECK: icmp ult i32 %{{[0-9]+}}, 256
// CHECK: fadd {{.*}}<4 x float>
#include "device.h"

extern "C" __global__ void smooth(const float* in, float* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < 1 || x >= 257) return;
  out[x] = in[x - 1] + in[x + 1];
}
