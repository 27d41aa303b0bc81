// Kernels for sums_test.cpp: additions to memory whose results nobody takes.
#include "device.h"

extern "C" __global__ void histogram(const unsigned char* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[in[i]], 1);
}

extern "C" __global__ void in_rounds(const int* in, int* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&out[in[i]], in[i] - 7);
}

extern "C" __global__ void wide(const int* in, long long* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) __atomic_fetch_sub(&out[in[i] & 1023], 0x123456789ll * in[i], __ATOMIC_RELAXED);
}

extern "C" __global__ void into_two(const int* in, int* one, int* other, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&one[in[i] & 63], 1);
  atomicAdd(&other[in[i] & 31], in[i]);
}

// `in` may be where `out` is.
extern "C" __global__ void and_reads(const int* in, int* out, int* seen) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[i & 3], 1);
  atomicAdd(&out[i & 3], 1);
  seen[i] = in[i & 3];
}

// `to` may be where `out` is.
extern "C" __global__ void and_stores(char* to, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[i >> 1], 3);
  atomicAdd(&out[i >> 1], 3);
  to[i * 2] = 9;
}
