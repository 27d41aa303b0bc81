// RUN: -O3 -fno-math-errno -S
// Maths functions are vector code; only rare arguments lead to a call, out of the way.
// CHECK: exponential.entry:
// CHECK-NOT: {{bl|call}} {{.*}}exp
// CHECK: {{fmla v[0-9]+.4s|mulps|vfmadd}}
// CHECK: {{^}}.Lfunc_end
// CHECK: sine.entry:
// CHECK: {{fmla v[0-9]+.4s|mulps|vfmadd}}
// CHECK-NOT: {{bl|call}} {{.*}}sinf{{$}}
// CHECK: __sb_maths_rare_sinf
// CHECK: {{^}}.Lfunc_end
// CHECK: square.entry:
// CHECK-NOT: __sb_maths
// CHECK: {{^}}.Lfunc_end
// CHECK: root.entry:
// CHECK: {{fmla v[0-9]+.2d|mulpd|vfmadd}}
// CHECK: {{^}}.Lfunc_end
#include "device.h"

extern "C" __device__ float expf(float);
extern "C" __device__ float sinf(float);
extern "C" __device__ float powf(float, float);

extern "C" __global__ void exponential(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = expf(x[i]);
}

extern "C" __global__ void sine(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = sinf(x[i]);
}

// What the compiler knows to be simpler stays so.
extern "C" __global__ void square(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = powf(x[i], 2.0f);
}

extern "C" __global__ void root(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = powf(x[i], 0.3f);
}
