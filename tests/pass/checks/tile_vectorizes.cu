// RUN: -O3 -S
// Each region between barriers is vector code of its own; nothing of the barrier is left.
// CHECK: tile.any:
// CHECK-NOT: blr
// CHECK: {{fml?a?[a-z]* v[0-9]+.4s|mulps}}
// CHECK: {{^}}.Lfunc_end
#include "device.h"

extern "C" __global__ void tile(float* out, const float* in, int rounds) {
  __shared__ float left[256], right[256];
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    left[threadIdx.x] = in[r * 256 + threadIdx.x];
    right[threadIdx.x] = 3 * left[threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 4; ++k) sum += left[k] * right[threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
