// RUN-X86_64: -O3 -fno-math-errno -march=x86-64-v3 -S
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
// CHECK: direction.entry:
// CHECK-NOT: {{bl|call}} {{.*}}atan2
// CHECK: {{fmla v[0-9]+.4s|mulps|vfmadd}}
// CHECK-NOT: {{bl|call}} {{.*}}atan2
// CHECK: {{^}}.Lfunc_end
// CHECK: bell.entry:
// CHECK-NOT: {{bl|call}} {{.*}}erf
// CHECK: {{fmla v[0-9]+.2d|mulpd|vfmadd}}
// CHECK-NOT: {{bl|call}} {{.*}}erf
// CHECK: {{^}}.Lfunc_end
// CHECK: power.entry:
// CHECK: {{fmla v[0-9]+.2d|mulpd|vfmadd}}
// CHECK-NOT: {{bl|call}} {{.*}}pow{{$}}
// CHECK: __sb_maths_rare_pow
// CHECK: {{^}}.Lfunc_end
// CHECK: turns.entry:
// CHECK: {{frintz v[0-9]+.4s|roundps}}
// CHECK-NOT: {{bl|call}} {{.*}}fmodf{{$}}
// CHECK: __sb_maths_rare_fmodf
// CHECK: {{^}}.Lfunc_end
// CHECK: stirling.entry:
// CHECK: {{fmla v[0-9]+.4s|mulps|vfmadd}}
// CHECK-NOT: {{bl|call}} {{.*}}lgammaf{{$}}
// CHECK: __sb_maths_rare_lgammaf
// CHECK: {{^}}.Lfunc_end
// CHECK: factorial.entry:
// CHECK-NOT: {{bl|call}} {{.*}}gamma
// CHECK: {{fmla v[0-9]+.2d|mulpd|vfmadd}}
// CHECK-NOT: {{bl|call}} {{.*}}gamma
// CHECK: {{^}}.Lfunc_end
// CHECK: quantile.entry:
// CHECK-NOT: {{bl|call}} {{.*}}inv
// CHECK: {{fmla v[0-9]+.2d|mulpd|vfmadd}}
// CHECK-NOT: {{bl|call}} {{.*}}inv
// CHECK: {{^}}.Lfunc_end
// CHECK: scaling.entry:
// CHECK-NOT: {{bl|call}} {{.*}}ldexp
// CHECK: {{fmul v[0-9]+.4s|mulps}}
// CHECK-NOT: {{bl|call}} {{.*}}ldexp
// CHECK: {{^}}.Lfunc_end
// CHECK: parts.entry:
// CHECK-NOT: {{bl|call}} {{.*}}frexp
// CHECK: {{fcmgt v[0-9]+.2d|cmp.*pd}}
// CHECK-NOT: {{bl|call}} {{.*}}frexp
// CHECK: {{^}}.Lfunc_end
// CHECK: drum.entry:
// CHECK: {{fmla v[0-9]+.2d|mulpd|vfmadd}}
// CHECK-NOT: {{bl|call}} {{.*}}j0f{{$}}
// CHECK: __sb_maths_rare_j0f
// CHECK: {{^}}.Lfunc_end
#include "device.h"

extern "C" __device__ float expf(float);
extern "C" __device__ float sinf(float);
extern "C" __device__ float powf(float, float);
extern "C" __device__ float atan2f(float, float);
extern "C" __device__ float fmodf(float, float);
extern "C" __device__ double erf(double);
extern "C" __device__ double pow(double, double);

extern "C" __device__ float lgammaf(float);
extern "C" __device__ float j0f(float);
extern "C" __device__ double tgamma(double);
extern "C" __device__ double frexp(double, int*);
// As special_functions.h has them.
extern "C" __device__ __attribute__((const)) double __streambed_erfinv(double);

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

extern "C" __global__ void direction(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  z[i] = atan2f(y[i], x[i]);
}

// A long function is arithmetic as the short ones are.
extern "C" __global__ void bell(const double* x, double* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = erf(x[i]);
}

extern "C" __global__ void power(const double* x, const double* y, double* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  z[i] = pow(x[i], y[i]);
}

extern "C" __global__ void turns(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  z[i] = fmodf(x[i], y[i]);
}

extern "C" __global__ void stirling(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = lgammaf(x[i]);
}

extern "C" __global__ void factorial(const double* x, double* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = tgamma(x[i] + 1);
}

// No function of the C library.
extern "C" __global__ void quantile(const double* x, double* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __streambed_erfinv(x[i]);
}

extern "C" __global__ void scaling(const float* x, const int* n, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __builtin_ldexpf(x[i], n[i]);
}

// Its second result is not of memory then.
extern "C" __global__ void parts(const double* x, double* y, int* n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int exponent;
  y[i] = frexp(x[i], &exponent);
  n[i] = exponent;
}

extern "C" __global__ void drum(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = j0f(x[i]);
}
