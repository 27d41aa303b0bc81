// RUN: -O3 -S -emit-llvm
// Sums by shuffles have a version for blocks of 256, in which what lanes and warps leave for each
// other are values: all branches are those over blocks, and whether all threads pass i < n.
// CHECK-LABEL: define {{.*}}@sums.256({{.*}} %2)
// CHECK-NOT: {{%2(,|$)}}
// CHECK: br i1 {{.*}} !prof
// CHECK-NOT: {{br i1|%2(,|$)}}
// CHECK: fadd <4 x float>
// CHECK-NOT: {{br i1|%2(,|$)}}
// CHECK: br i1 {{.*}} !llvm.loop
// CHECK-NOT: {{br i1|%2(,|$)}}
// CHECK-LABEL: define {{.*}}@sums.512(
#include "device.h"

__device__ float shuffled(float value, int distance) {
  unsigned bits = __builtin_bit_cast(unsigned, value);
  bits = static_cast<unsigned>(__sb_rt_shuffle(~0u, 2, bits, distance, 32, nullptr));
  return __builtin_bit_cast(float, bits);
}

extern "C" __global__ void sums(const float* in, float* out, int n) {
  __shared__ float of_warps[32];
  int t = threadIdx.x, lane = t % 32, i = blockIdx.x * blockDim.x + t;
  float sum = i < n ? in[i] : 0;
  for (int d = 16; d > 0; d /= 2) sum += shuffled(sum, d);
  if (lane == 0) of_warps[t / 32] = sum;
  __sb_rt_barrier(0, 0);
  if (t / 32 == 0) {
    sum = lane < blockDim.x / 32 ? of_warps[lane] : 0;
    for (int d = 16; d > 0; d /= 2) sum += shuffled(sum, d);
    if (lane == 0) out[blockIdx.x] = sum;
  }
}
