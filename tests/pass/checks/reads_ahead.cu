// RUN: -O3 -S
// A loop over the grid asks for what its next round reads. Joined blocks have no gap to bridge;
// when they add up, they ask for memory a few lines ahead.
// CHECK-LABEL: joined.entry:
// CHECK-NOT: {{prfm|prefetch}}
// CHECK-LABEL: start.any:
// CHECK-NOT: {{pldl2|prefetcht1}}
// CHECK: {{pldl1keep|prefetcht0}}
// CHECK-NOT: {{pldl2|prefetcht1}}
// CHECK-LABEL: sums.any:
// CHECK-NOT: {{pldl1|prefetcht0}}
// CHECK: {{pldl2keep|prefetcht1}}
// CHECK-NOT: {{pldl1|prefetcht0}}
// CHECK-LABEL: pairs.any:
// CHECK: {{pldl2keep|prefetcht1}}
// AARCH64-NEXT: pldl2keep
// X86_64: prefetcht1
// CHECK-LABEL: .Lfunc_end3:
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

// Two places of a round, of which each has its next; the neighbour's lines are those of the first.
extern "C" __global__ void pairs(const float* x, float* out, int n) {
  __shared__ float part[256];
  part[threadIdx.x] = 0;
  __sb_rt_barrier(0, 0);
  float sum = part[255 - threadIdx.x];
  for (int i = blockIdx.x * blockDim.x * 2 + threadIdx.x; i < n; i += blockDim.x * 2 * gridDim.x)
    sum += x[i] + x[i + blockDim.x] + x[i + 1];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
