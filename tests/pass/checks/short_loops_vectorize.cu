// RUN: -O2 -S
// The 40 rounds over a tile are written out, and so are the rounds within a longer loop, which goes
// round by round then.
// CHECK: rounds_of_tile.any:
// CHECK: {{fmla v[0-9]+.4s|mulps}}
// CHECK: {{^}}.Lfunc_end
// CHECK: within_longer.entry:
// CHECK: {{fmla v[0-9]+.4s|mulps}}
#include "device.h"

extern "C" __global__ void rounds_of_tile(const float* in, float* out, int tiles) {
  __shared__ float part[256];
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    part[threadIdx.x] = in[tile * 256 + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 40; ++k) sum += part[k] * in[k * 256 + threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void within_longer(const float* in, const float* weights, float* out,
                                         int rows, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int y = 0; y < rows; ++y)
    for (int k = 0; k < 5; ++k) sum += in[y * width + x + k] * weights[k];
  out[x] = sum;
}
