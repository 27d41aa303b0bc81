// RUN: -O3 -S -emit-llvm
// Threads of a row that store far apart, those of a column side by side: four rows go together.
// CHECK-LABEL: define internal void @turned.entry(
// CHECK: getelementptr i8, ptr [[first:%[0-9]+]], i64 4
// CHECK: getelementptr i8, ptr [[first]], i64 8
// CHECK: getelementptr i8, ptr [[first]], i64 12
// CHECK: ret void
#include "device.h"

extern "C" __global__ void turned(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[x * height + y] = in[y * width + x];
}
