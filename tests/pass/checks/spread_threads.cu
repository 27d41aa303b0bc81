// RUN: -O3 -S
// Threads of every second, fourth ... number are vectors in a block of the width that the kernel is
// written for, and what they add up stays in registers. A block in which some threads are behind
// the end is left to the other version, so there is one branch for that and one to the next block.
// CHECK-LABEL: {{^}}sums.256:
// CHECK: {{ (b\.|j[a-z])}}
// CHECK-NOT: {{ (b\.|cb|tb|j[a-z])}}
// CHECK: {{ (faddp v[0-9]+.4s|v?h?addps)}}
// CHECK-NOT: {{ (b\.|cb|tb|j[a-z])}}
// CHECK: {{ (b |b\.|cbn?z|j[a-z]+ )}}
// CHECK: {{ (bl|call).*}}sums.any
// CHECK: {{^}}.Lfunc_end
#include "device.h"

extern "C" __global__ void sums(const float* in, float* out, int n) {
  __shared__ float part[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? in[i] : 0;
  __sb_rt_barrier(0, 0);
  for (int k = 1; k < blockDim.x; k *= 2) {
    if (t % (2 * k) == 0) part[t] += part[t + k];
    __sb_rt_barrier(0, 0);
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
