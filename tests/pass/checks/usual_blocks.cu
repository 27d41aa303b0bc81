// RUN: -O3 -S
// For blocks of the width that it is written for a kernel has no loop but that over blocks, and
// what its threads leave for each other does not go through shared memory. If that is much to do,
// it asks for the lines that the next block will store; if not, the memory has enough to do
// without. Nothing is left of a version in which shared memory is needed.
// CHECK-LABEL: {{^}}sums.256:
// CHECK-NOT: {{ (b\.|cb|tb|j[a-z])}}
// CHECK: {{pstl1keep|prefetch}}
// CHECK-NOT: {{ (b\.|cb|tb|j[a-z])}}
// CHECK: {{ (add v[0-9]+.4s|v?paddd)}}
// CHECK: {{ (b\.|cbn?z|j[a-z]+ )}}
// CHECK-NOT: {{ (b\.|cb|tb|j[a-z])}}
// CHECK: {{^}}.Lfunc_end
// CHECK-LABEL: {{^}}turned.256:
// CHECK-NOT: {{pstl1keep|prefetch}}
// CHECK: {{^}}.Lfunc_end
// CHECK-NOT: {{^}}anywhere.256:
#include "device.h"

extern "C" __global__ void sums(const int* in, int* out) {
  __shared__ int part[2][256];
  int i = blockIdx.x * 256 + threadIdx.x, from = 0;
  part[0][threadIdx.x] = in[i];
  __sb_rt_barrier(0, 0);
  for (unsigned distance = 1; distance < 256; distance *= 2) {
    int value = part[from][threadIdx.x];
    if (threadIdx.x >= distance) value += part[from][threadIdx.x - distance];
    part[1 - from][threadIdx.x] = value;
    from = 1 - from;
    __sb_rt_barrier(0, 0);
  }
  out[i] = part[from][threadIdx.x];
}

extern "C" __global__ void turned(const int* in, int* out) {
  __shared__ int part[256];
  part[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __sb_rt_barrier(0, 0);
  out[blockIdx.x * 256 + threadIdx.x] = part[255 - threadIdx.x];
}

extern "C" __global__ void anywhere(const int* in, int* out) {
  __shared__ int part[256];
  part[threadIdx.x] = in[threadIdx.x];
  __sb_rt_barrier(0, 0);
  out[threadIdx.x] = part[in[threadIdx.x] & 255];
}
