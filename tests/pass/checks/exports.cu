// RUN: -O2 -S -emit-llvm
// Only descriptors, the table, and device variables leave the image; host functions are not in it.
// CHECK-DAG: @visible = protected{{.*}}global i32 3
// CHECK-DAG: @k.sb = protected{{.*}}constant
// CHECK-DAG: @m.sb_managed = protected{{.*}}global ptr null
// CHECK-NOT: define {{(dso_local )?}}{{void|i32}}
// CHECK-NOT: addrspace
#include "device.h"

__device__ int visible = 3;
__managed__ int m;
__device__ __noinline__ int helper(int x) { return x + visible; }
__device__ int never_called(int x) { return x; }
extern "C" __global__ void k(int* p) {
  __shared__ int s[4];
  s[threadIdx.x] = m;
  __sb_rt_barrier(0, 0);
  *p = helper(s[0]);
}
