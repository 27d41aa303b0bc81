// RUN: -O3 -S -emit-llvm
// Threads that add up what lies at places of their own go through the loop four at a time, so that
// no sum waits for itself alone: where a guard may leave some out, in blocks in which it does not.
// (There are copies for one thread, too, each with one addition.) Threads whose places lie side by
// side are vectors, and have one array for their sums.
// CHECK-LABEL: define internal void @all_rows.entry(
// CHECK-COUNT-5: fadd {{(contract )?}}float
// CHECK: ret void
// CHECK-LABEL: define internal void @rows.entry(
// CHECK-COUNT-6: fadd {{(contract )?}}float
// CHECK: ret void
// CHECK-LABEL: define internal void @columns.entry(
// CHECK: alloca float
// CHECK-NOT: alloca float
// CHECK: fadd {{.*}}<4 x float>
// CHECK: ret void
#include "device.h"

extern "C" __global__ void all_rows(const float* in, float* out, int width) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int x = 0; x < width; ++x) sum += in[y * width + x];
  out[y] = sum;
}

extern "C" __global__ void rows(const float* in, float* out, int width, int height) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= height) return;
  float sum = 0;
  for (int x = 0; x < width; ++x) sum += in[y * width + x];
  out[y] = sum;
}

extern "C" __global__ void columns(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  float sum = 0;
  for (int y = 0; y < height; ++y) sum += in[y * width + x];
  out[x] = sum;
}
