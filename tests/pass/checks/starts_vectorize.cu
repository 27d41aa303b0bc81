// RUN: -O3 -S
// What threads do before one of them waits goes through vectors, behind a barrier or not: loops and
// sums that are no vectors elsewhere.
// CHECK: takes_turns.entry:
// CHECK: {{fmla v[0-9]+.4s|fadd v[0-9]+.4s|mulps}}
// CHECK: {{^}}.Lfunc_end
// CHECK: may_trap.entry:
// CHECK: {{fmla v[0-9]+.4s|fadd v[0-9]+.4s|mulps}}
// CHECK: {{^}}.Lfunc_end
#include "device.h"

extern "C" __global__ void takes_turns(float* out, int* lock, int rounds) {
  __shared__ float all[64];
  float x = threadIdx.x;
  for (int i = 0; i < rounds; ++i) x = x * 0.5f + 1;
  all[threadIdx.x] = x;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    out[blockIdx.x] += all[63];
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
  }
}

// Who ends the kernel is not waited for.
extern "C" __global__ void may_trap(float* out, int* lock, int rounds) {
  __shared__ float all[64];
  if (rounds < 0) __builtin_trap();
  float x = threadIdx.x;
  for (int i = 0; i < rounds; ++i) x = x * 0.5f + 1;
  all[threadIdx.x] = x;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    out[blockIdx.x] += all[63];
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
  }
}
