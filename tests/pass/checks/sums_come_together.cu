// RUN: -O3 -S -emit-llvm
// Additions whose results nobody takes come together before they go to memory. Where somebody could
// look at them earlier each is one of its own.
// CHECK-LABEL: @histogram.entry(
// CHECK: call {{.*}}@sb.gathered.take.32
// CHECK: call {{.*}}@sb.gathered.close.32
// CHECK-LABEL: @takes_result.entry(
// CHECK-NOT: @sb.gathered
// CHECK-LABEL: @fenced.entry(
// CHECK-NOT: @sb.gathered
// CHECK-LABEL: @looks.entry(
// CHECK-NOT: @sb.gathered
// CHECK-LABEL: @adds_floats.entry(
// CHECK-NOT: @sb.gathered
// CHECK-LABEL: @reads_same.entry(
// CHECK-NOT: @sb.gathered
// CHECK-LABEL: @takes_result.counted
#include "device.h"

extern "C" __global__ void histogram(const unsigned char* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[in[i]], 1);
}

extern "C" __global__ void takes_result(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&out[in[i]], 1);
    out[1000 + atomicAdd(count, 1)] = i;
  }
}

extern "C" __global__ void fenced(const int* in, int* out, int* ready, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&out[in[i]], 1);
    __threadfence();
    atomicAdd(ready, 1);
  }
}

extern "C" __global__ void looks(const volatile int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[in[i]], 1);
}

extern "C" __global__ void adds_floats(const int* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) __atomic_fetch_add(&out[in[i]], 1.0f, __ATOMIC_RELAXED);
}

extern "C" __global__ void reads_same(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[out[i] & 255], 1);
}
