// Few kernels of which nothing says what blocks they are written for: versions for several widths.
#include "device.h"

extern "C" __global__ void halves(const float* in, float* out, int n) {
  extern __shared__ float part[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void shuffles(const int* in, int* out, int n) {
  __shared__ int of_warps[32];
  int t = threadIdx.x, lane = t % 32, i = blockIdx.x * blockDim.x + t;
  int sum = i < n ? in[i] : 0;
  for (int d = 16; d > 0; d /= 2) sum += shuffle_down(sum, d);
  if (lane == 0) of_warps[t / 32] = sum;
  __syncthreads();
  if (t / 32 == 0) {
    sum = lane < blockDim.x / 32 ? of_warps[lane] : 0;
    for (int d = 16; d > 0; d /= 2) sum += shuffle_down(sum, d);
    if (lane == 0) out[blockIdx.x] = sum;
  }
}
