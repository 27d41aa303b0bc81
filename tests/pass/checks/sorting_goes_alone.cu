// RUN: -O3 -S -emit-llvm -fno-discard-value-names
// Where not every thread stores and the processor has no vectors with gaps, two threads that sort
// their own few values are not put side by side: LLVM takes seconds to move each thread's part
// behind its condition.
// CHECK: define{{.*}}middle
// CHECK-NOT: pred.store
#include "device.h"

extern "C" __global__ void middle(const float* in, float* out, const int* wanted, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (wanted[x] == 0) return;
  float v[9];
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) v[3 * j + i] = in[j * width + x + i];
  for (int a = 0; a < 5; ++a)
    for (int b = a + 1; b < 9; ++b)
      if (v[b] < v[a]) {
        float t = v[a];
        v[a] = v[b];
        v[b] = t;
      }
  out[x] = v[4];
}
