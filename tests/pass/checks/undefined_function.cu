// RUN: error
// CHECK: undefined_function.cu:[[@LINE+5]]:{{.*}}error: {{.*}}undefined device function
// 'elsewhere(int)'
#include "device.h"

__device__ int elsewhere(int);

__global__ void k(int* p) { *p = elsewhere(3); }
