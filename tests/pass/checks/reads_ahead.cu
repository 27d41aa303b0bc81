// RUN: -O3 -S
// A loop over the grid asks for what its next round reads; joined blocks have no gap to bridge.
// CHECK-LABEL: joined.entry:
// CHECK-NOT: {{prfm|prefetch}}
// CHECK-LABEL: start.entry:
// CHECK-NOT: {{prfm|prefetch}}
// CHECK-LABEL: sums.entry:
// CHECK: {{prfm|prefetch}}
#include "device.h"

extern "C" __global__ void joined(const float* x, float* z, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    z[i] = x[i];
}

extern "C" __global__ void start(const float* x, float* out, int n) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += x[i];
  part[threadIdx.x] = sum;
  __sb_rt_barrier(0, 0);
  out[blockIdx.x * blockDim.x + threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

// The loop is behind a barrier: no block does it together with others.
extern "C" __global__ void sums(const float* x, float* out, int n) {
  __shared__ float part[256];
  part[threadIdx.x] = 0;
  __sb_rt_barrier(0, 0);
  float sum = part[255 - threadIdx.x];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += x[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
