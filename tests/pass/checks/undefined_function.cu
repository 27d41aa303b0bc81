// RUN: error
// CHECK: undefined_function.cu:[[@LINE+6]]:{{.*}}error:
// CHECK-SAME: undefined device function 'elsewhere(int)'
#include "device.h"

__device__ int elsewhere(int);

__global__ void k(int* p) { *p = elsewhere(3); }
