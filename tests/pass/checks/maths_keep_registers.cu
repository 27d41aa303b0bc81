// RUN: -O3 -fno-math-errno --target=x86_64-linux-gnu -march=x86-64-v3 -S
// On x86-64 the loop keeps eight lanes in a register across the call for rare arguments: it has to
// save whole registers, and not to clear their upper halves.
// CHECK: {{^}}__sb_maths_rare_sinf:
// CHECK: vmovups %ymm15
// CHECK-NOT: vzeroupper
// CHECK: call{{q?}} sinf
// CHECK-NOT: vzeroupper
// CHECK: {{^}}.Lfunc_end
#include "device.h"

extern "C" __device__ float sinf(float);

extern "C" __global__ void sine(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = sinf(x[i]);
}
