// RUN: -O2 -S -emit-llvm
// Threads that only wait are alike: one of them stands for its block.
// CHECK: define {{.*}}@only_waits.entry(
// CHECK-NOT: phi i32
// CHECK: {{^}}}
#include "device.h"

extern "C" __global__ void only_waits(long long n) {
  long long start = clock64();
  while (clock64() - start < n) {
  }
}
