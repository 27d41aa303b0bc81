// counting KERNEL LAUNCHES same|different: the kernel so often, with the same parameters, or with
// others each time. In modelled time a launch is counted whose parameters are new.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void saxpy(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + 1;
}

__global__ void product(const float* x, float* y, float a, int n) {
  __shared__ float as[16][16], bs[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < n / 16; ++tile) {
    as[threadIdx.y][threadIdx.x] = a * x[row * n + tile * 16 + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = x[(tile * 16 + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  y[row * n + column] = sum;
}

__global__ void sum(const float* x, float* y, float a, int n) {
  float own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    own += a * x[i];
  for (int delta = 16; delta > 0; delta /= 2) own += __shfl_down_sync(~0u, own, delta);
  if (threadIdx.x % 32 == 0) atomicAdd(y, own);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int launches = std::atoi(argv[2]);
  const bool different = !std::strcmp(argv[3], "different");
  constexpr int n = 4 << 20, side = 512;
  std::vector<float> ones(n, 1.0f);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  float a = 2, want = 0;
  for (int i = 0; i < launches; ++i) {
    if (different) a = 2 + static_cast<float>(i) / 1024;
    if (!std::strcmp(argv[1], "saxpy")) {
      saxpy<<<n / 256, 256>>>(x, y, a, n);
      want = a + 1;
    } else if (!std::strcmp(argv[1], "product")) {
      product<<<dim3(side / 16, side / 16), dim3(16, 16)>>>(x, y, a, side);
      want = a * side;
    } else {
      cudaMemsetAsync(y, 0, sizeof *y);
      sum<<<256, 256>>>(x, y, a, n);
      want = a * n;
    }
  }
  const int results = !std::strcmp(argv[1], "saxpy")     ? n
                      : !std::strcmp(argv[1], "product") ? side * side
                                                         : 1;
  std::vector<float> got(results);
  cudaMemcpy(got.data(), y, got.size() * sizeof(float), cudaMemcpyDeviceToHost);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess)
    return std::printf("%s\n", cudaGetErrorString(error)), 1;
  for (float each : got)
    if (!(std::fabs(each - want) <= 1e-4f * want))
      return std::printf("wrong: %g, not %g\n", each, want), 1;
}
