// RUN: -O3 -S -emit-llvm
// Whether the address of members that are copied together is aligned is asked of all of them at
// once: each by itself would begin somewhere else to LLVM.
// CHECK: define {{.*}}scale_fours.entry
// CHECK: fmul {{.*}}<4 x float>
// CHECK: define {{.*}}squares.entry
// CHECK: shufflevector <8 x float>
// CHECK: call <4 x float> @llvm.fmuladd.v4f32
#include "device.h"

struct alignas(16) four {
  float x, y, z, w;
};
struct alignas(8) two {
  float x, y;
};

extern "C" __global__ void scale_fours(float a, const four* in, four* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    four v = in[i];
    out[i] = {a * v.x, a * v.y, a * v.z, a * v.w};
  }
}

extern "C" __global__ void squares(const two* in, two* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    two v = in[i];
    out[i] = {v.x * v.y + v.x, v.x * v.x - v.y};
  }
}
