// RUN: -O2 -S
// Code that occurs more than once in versions that count stays where it is: LLVM would take long to
// find it.
// CHECK: reverse.counted.entry:
// CHECK-NOT: OUTLINED_FUNCTION
#include "device.h"

extern "C" __global__ void reverse(const float* a, const float* b, float* out, int n) {
  __shared__ float part[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  part[t] = i < n ? a[i] : 0;
  __syncthreads();
  if (i < n) out[i] = part[255 - t] + b[i];
  __syncthreads();
  part[t] = i < n ? b[i] : 1;
  __syncthreads();
  if (i < n) out[i] += part[255 - t] * a[i];
}
