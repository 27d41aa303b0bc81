// Launches with parameters that come again, so that they are counted now and then; each block takes
// about a millisecond while it is.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int tile = 16, side = 512, rows = 256;

__global__ void multiply(const float* a, const float* b, float* c) {
  __shared__ float own[tile][tile], other[tile][tile];
  int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
  float sum = 0;
  for (int at = 0; at < side; at += tile) {
    own[threadIdx.y][threadIdx.x] = a[y * side + at + threadIdx.x];
    other[threadIdx.y][threadIdx.x] = b[(at + threadIdx.y) * side + x];
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += own[threadIdx.y][i] * other[i][threadIdx.x];
    __syncthreads();
  }
  c[y * side + x] = sum;
}

int main() {
  float *a, *b, *c;
  cudaMalloc(&a, side * side * sizeof(float));
  cudaMalloc(&b, side * side * sizeof(float));
  cudaMalloc(&c, side * side * sizeof(float));
  cudaMemset(a, 0, side * side * sizeof(float));
  cudaMemset(b, 0, side * side * sizeof(float));
  for (int i = 0; i < 70; ++i)
    multiply<<<dim3(side / tile, rows / tile), dim3(tile, tile)>>>(a, b, c);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::puts("ok");
}
