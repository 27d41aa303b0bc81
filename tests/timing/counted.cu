// A kernel of several waves whose blocks meet at barriers for long, four times: what each launch
// but the first takes.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void rounds(float* out, int times) {
  __shared__ float line[1024];
  float sum = threadIdx.x;
  for (int i = 0; i < times; ++i) {
    line[threadIdx.x] = sum;
    __syncthreads();
    sum += line[(threadIdx.x + 1) % 1024] * 0.5f;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  float* out;
  cudaMalloc(&out, 600 * 1024 * sizeof(float));
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int i = 0; i < 4; ++i) {
    cudaEventRecord(begin);
    rounds<<<600, 1024>>>(out, 150);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    if (i != 0) std::printf("%.5f\n", ms);
  }
}
