// RUN: -O3 -S
// For blocks of the shape of its tiles a kernel goes over two rows of threads at a time, and over
// all columns of them together: products of 2 * 16 threads and 16 numbers, as vectors of four.
// Nothing is left over that would be done one by one.
// CHECK-LABEL: {{^}}product.16x16:
// CHECK-NOT: {{fmadd|fmul s|mulss}}
// CHECK-COUNT-128: {{fmla|fmul|mulps}}
// CHECK-NOT: {{fmla|fmul|fmadd|mulps|mulss}}
// CHECK: {{^}}.Lfunc_end
#include "device.h"

extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int r = 0; r < n / 16; ++r) {
    left[y][x] = a[row * n + r * 16 + x];
    right[y][x] = b[(r * 16 + y) * n + column];
    __sb_rt_barrier(0, 0);
    for (int k = 0; k < 16; ++k) sum += left[y][k] * right[k][x];
    __sb_rt_barrier(0, 0);
  }
  c[row * n + column] = sum;
}
