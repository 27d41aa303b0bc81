// RUN: -O3 -S -emit-llvm
// What no thread changes is divided once, also where only some threads need it.
// CHECK-LABEL: define internal void @looked_up.entry(
// CHECK: urem i32
// CHECK: {{load|gather}}
// CHECK-NOT: urem i32
// CHECK: ret void
// CHECK-LABEL: define internal void @shared_out.entry(
// CHECK: sdiv i32
// CHECK-NOT: sdiv i32
// CHECK: ret void
#include "device.h"

extern "C" __global__ void looked_up(const char* asked, const float* table, float* out,
                                     unsigned a) {
  const int t = threadIdx.x;
  if (asked[t]) out[t] = table[a % blockDim.x];
}

extern "C" __global__ void shared_out(const char* asked, int* out, int a, int b) {
  const int t = threadIdx.x;
  out[t] = b != 0 && asked[t] ? a / b : 3;
}
