// RUN: error
// CHECK: unknown_ptx.cu:[[@LINE+4]]:{{.*}}error: {{.*}}inline PTX instruction
// 'wgmma.fence.sync.aligned' is not supported
#include "device.h"

__global__ void k(int* p) { asm volatile("wgmma.fence.sync.aligned;"); }
