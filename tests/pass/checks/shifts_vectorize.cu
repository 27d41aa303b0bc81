// RUN: -O3 -S
// Shifts by amounts that may be too large are vector code, and those that cannot be have no guard.
// CHECK: left.entry:
// CHECK: {{ushl|psll|pmul}}
// CHECK: signed_right.entry:
// CHECK: {{sshl|psra}}
// CHECK: masked.entry:
// CHECK-NOT: {{cmhi|umin|pcmpgt|pminud}}
// CHECK: around.entry:
// CHECK: {{ror|rol}}
#include "device.h"

extern "C" __global__ void left(int n, const unsigned* v, const int* by, unsigned* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = v[i] << by[i];
}

extern "C" __global__ void signed_right(int n, const int* v, const int* by, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = v[i] >> by[i];
}

extern "C" __global__ void masked(const unsigned* v, const int* by, unsigned* out) {
  const int n = *by & 31;
  *out = (*v << n) + (*v >> n);
}

__device__ unsigned turned(unsigned x, int n) { return (x << n) | (x >> (32 - n)); }
extern "C" __global__ void around(const unsigned* v, const int* by, unsigned* out) {
  *out = turned(*v, *by);
}
