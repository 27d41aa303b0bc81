// RUN-X86_64: -O3 -march=x86-64-v3 -S
// RUN: -O3 -S
// A processor with masked stores is given one for the first threads of a round, which are less
// than a vector. The rounds stay in registers there as well.
// CHECK-LABEL: {{^}}sums.256:
// CHECK-NOT: maskmov
// CHECK: {{^}}.Lfunc_end
#include "device.h"

extern "C" __global__ void sums(const int* in, int* out, int* ends) {
  __shared__ int part[2][256];
  int i = blockIdx.x * 256 + threadIdx.x, from = 0;
  part[0][threadIdx.x] = in[i];
  __sb_rt_barrier(0, 0);
  for (int distance = 1; distance < 256; distance *= 2) {
    int value = part[from][threadIdx.x];
    if (threadIdx.x >= distance) value += part[from][threadIdx.x - distance];
    part[1 - from][threadIdx.x] = value;
    from = 1 - from;
    __sb_rt_barrier(0, 0);
  }
  out[i] = part[from][threadIdx.x];
  if (threadIdx.x == 255) ends[blockIdx.x] = part[from][255];
}
