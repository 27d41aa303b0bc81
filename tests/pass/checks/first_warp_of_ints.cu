// RUN: -O0 -S -emit-llvm
// `t / 32 == 0` is the same for all lanes of a warp, also where t has a sign: nobody is led through
// what only some lanes come to, so no lane keeps a mask and where it is.
// CHECK-LABEL: define {{.*}}@sums.entry
// CHECK-NOT: alloca [32 x [16 x i8]]
// CHECK-LABEL: {{^}}}
#include "device.h"

extern "C" __global__ void sums(const int* in, int* out, int n) {
  __shared__ int of_warps[32];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, lane = t % 32, warp = t / 32;
  int sum = i < n ? in[i] : 0;
  for (int d = 16; d > 0; d /= 2) sum += shuffle_down(sum, d);
  if (lane == 0) of_warps[warp] = sum;
  __syncthreads();
  sum = t < blockDim.x / 32 ? of_warps[lane] : 0;
  if (warp == 0) {
    for (int d = 16; d > 0; d /= 2) sum += shuffle_down(sum, d);
    if (lane == 0) out[blockIdx.x] = sum;
  }
}
