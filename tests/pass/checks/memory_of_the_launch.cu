// RUN: -O3 -S -emit-llvm
// Where the launch says how much shared memory there is, blocks of 256 threads have a version of
// their own, without a loop and without that memory. A launch that gives less than the version
// would reach is left to the other. A file with few such kernels has versions for other widths.
// CHECK-LABEL: define {{.*}}@sums.256({{.*}} %2)
// CHECK-NOT: {{%2(,|$)}}
// CHECK: fadd <4 x float>
// CHECK-NOT: {{%2(,|$)}}
// CHECK-LABEL: define {{.*}}@sums.512({{.*}} %2)
// CHECK-NOT: {{%2(,|$)}}
// CHECK-LABEL: define {{.*}}@sums.128({{.*}} %2)
// CHECK-NOT: {{%2(,|$)}}
// CHECK-LABEL: @sums.entry(
// CHECK: icmp {{ugt|uge|ult|ule}} i32 {{.*}}, {{1023|1024}}{{$|,}}
// CHECK: call {{.*}}@sums.256(
// CHECK: call {{.*}}@sums.512(
// CHECK: call {{.*}}@sums.128(
// CHECK: call {{.*}}@sums.any(
// CHECK-LABEL: @twice.entry(
// CHECK: icmp {{ugt|uge|ult|ule}} i32 {{.*}}, {{2047|2048}}{{$|,}}
// CHECK: call {{.*}}@twice.256(
#include "device.h"

extern "C" __global__ void sums(const float* in, float* out, int n) {
  extern __shared__ float part[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? in[i] : 0;
  __sb_rt_barrier(0, 0);
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __sb_rt_barrier(0, 0);
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void twice(const float* in, float* out) {
  extern __shared__ float part[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = part[blockDim.x + t] = in[i];
  __sb_rt_barrier(0, 0);
  out[i] = part[t + 3] + part[2 * blockDim.x - 1 - t];
}
