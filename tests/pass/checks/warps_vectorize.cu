// RUN: -O2 -S
// A warp for each row inside of a condition: its lanes are side by side in vectors, in the common
// rounds and in the shuffles. A scan of a warp has neither a branch for those lanes that add
// nothing nor memory that is written in another way than it is read. CHECK: row_products.entry:
// CHECK: {{fmla v[0-9]+.4s|mulps}}
// CHECK: {{^}}.Lfunc_end
// CHECK: scan_warps.entry:
// CHECK: {{ext v[0-9]+.16b|palignr|shufps|shufpd|alignr}}
// CHECK: {{add v[0-9]+.4s|paddd}}
// CHECK: {{ext v[0-9]+.16b|palignr|shufps|shufpd|alignr}}
// CHECK: {{add v[0-9]+.4s|paddd}}
// CHECK: {{^}}.Lfunc_end
#include "device.h"

static __device__ __forceinline__ float shuffle(unsigned kind, float v, unsigned d) {
  unsigned bits =
      (unsigned)__sb_rt_shuffle(0xffffffffu, kind, __builtin_bit_cast(unsigned, v), d, 32, 0);
  return __builtin_bit_cast(float, bits);
}

extern "C" __global__ void row_products(const float* a, const float* x, float* y, int rows,
                                        int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row < rows) {
    float sum = 0;
    for (int i = lane; i < columns; i += 32) sum += a[row * columns + i] * x[i];
    for (unsigned d = 16; d > 0; d /= 2) sum += shuffle(3, sum, d);
    if (lane == 0) y[row] = sum;
  }
}

extern "C" __global__ void scan_warps(const int* in, int* out) {
  unsigned t = threadIdx.x, lane = t % 32;
  int v = in[t];
  for (unsigned d = 1; d < 32; d *= 2) {
    int before = (int)__sb_rt_shuffle(0xffffffffu, 1, (unsigned)v, d, 32, 0);
    if (lane >= d) v += before;
  }
  out[t] = v;
}
