// RUN: -O3 -S
// Places that are padded against conflicts of banks are vectors, as those without padding are. Each
// thread has two elements, so the version is for blocks of half the array's length.
// CHECK-LABEL: {{^}}tree.256:
// CHECK-NOT: {{ (b\.|cb|tb|j[a-z])}}
// CHECK: {{ (fadd v[0-9]+.4s|v?addps)}}
// CHECK-NOT: {{ (b\.|cb|tb|j[a-z])}}
// CHECK: {{ (b\.|cbn?z|j[a-z]+ )}}
// CHECK: {{^}}.Lfunc_end
// CHECK-LABEL: {{^}}pairs.128:
// CHECK: {{^}}.Lfunc_end
#include "device.h"

__device__ int padded(int i) { return i + (i >> 5); }

extern "C" __global__ void tree(const float* in, float* out) {
  __shared__ float part[512 + 16];
  int t = threadIdx.x, first = blockIdx.x * 512, apart = 1;
  part[padded(t)] = in[first + t];
  part[padded(t + 256)] = in[first + t + 256];
  for (int k = 256; k > 0; k /= 2) {
    __sb_rt_barrier(0, 0);
    if (t < k) part[padded(apart * (2 * t + 2) - 1)] += part[padded(apart * (2 * t + 1) - 1)];
    apart *= 2;
  }
  __sb_rt_barrier(0, 0);
  out[first + t] = part[padded(t)];
  out[first + t + 256] = part[padded(t + 256)];
}

extern "C" __global__ void pairs(const float* in, float* out) {
  __shared__ float part[256];
  int t = threadIdx.x, first = blockIdx.x * 256;
  part[2 * t] = in[first + 2 * t];
  part[2 * t + 1] = in[first + 2 * t + 1];
  __sb_rt_barrier(0, 0);
  out[first + t] = part[255 - t];
  out[first + t + 128] = part[127 - t];
}
