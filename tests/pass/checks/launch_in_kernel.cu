// RUN: error
// CHECK: launch_in_kernel.cu:[[@LINE+5]]:{{.*}}error: {{.*}}kernels cannot launch kernels here
#include "device.h"

extern "C" __device__ int cudaLaunchKernel(const void*, sb_dim3, sb_dim3, void**, size_t, void*);

__global__ void k(const void* f) { cudaLaunchKernel(f, 1, 1, nullptr, 0, nullptr); }
