// RUN: -O3 -S -emit-llvm -ffp-contract=fast
// Of two products that could be fused with their sum it is the left one, also in vectors.
// CHECK: define {{.*}}products.entry
// CHECK: [[RIGHT:%[0-9]+]] = fmul <4 x float>
// CHECK: @llvm.fma.v4f32({{.*}}, <4 x float> [[RIGHT]])
#include "device.h"

extern "C" __global__ void products(const float* a, const float* b, const float* c, const float* d,
                                    float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * d[i] + b[i] * c[i];
}
