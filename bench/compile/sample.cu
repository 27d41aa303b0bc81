// A program as samples are: three kernels, copies in streams, times by events, results that are
// checked (bench/compile_time.py).
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    cudaError_t error = (call);                                                           \
    if (error != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(EXIT_FAILURE);                                                            \
    }                                                                                     \
  } while (0)

template <int Side>
__global__ void multiply(float* c, const float* a, const float* b, int wide_a, int wide_b) {
  __shared__ float as[Side][Side], bs[Side][Side];
  int row = blockIdx.y * Side + threadIdx.y, column = blockIdx.x * Side + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < wide_a; tile += Side) {
    as[threadIdx.y][threadIdx.x] = a[row * wide_a + tile + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * wide_b + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Side; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * wide_b + column] = sum;
}

__global__ void add(const float* a, const float* b, float* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    c[i] = a[i] + b[i];
}

__global__ void reduce(const float* in, float* out, int n) {
  extern __shared__ float part[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

static bool is_near(const std::string& what, double got, double want) {
  const bool near = std::fabs(got - want) <= 1e-4 * std::fabs(want);
  std::printf("%-10s %12.3f, expected %12.3f: %s\n", what.c_str(), got, want,
              near ? "ok" : "WRONG");
  return near;
}

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 256, n = side * side;
  const std::size_t bytes = n * sizeof(float);
  std::vector<float> sums(1);
  float *a, *b, *c, *device_a, *device_b, *device_c, *device_sum;
  CHECK(cudaMallocHost(&a, bytes));
  CHECK(cudaMallocHost(&b, bytes));
  CHECK(cudaMallocHost(&c, bytes));
  for (int i = 0; i < n; ++i) a[i] = 1, b[i] = 0.01f;
  CHECK(cudaMalloc(&device_a, bytes));
  CHECK(cudaMalloc(&device_b, bytes));
  CHECK(cudaMalloc(&device_c, bytes));
  CHECK(cudaMalloc(&device_sum, sizeof(float)));
  cudaStream_t stream;
  cudaEvent_t start, stop;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaMemcpyAsync(device_a, a, bytes, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpyAsync(device_b, b, bytes, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemsetAsync(device_sum, 0, sizeof(float), stream));
  CHECK(cudaEventRecord(start, stream));
  multiply<16><<<dim3(side / 16, side / 16), dim3(16, 16), 0, stream>>>(device_c, device_a,
                                                                        device_b, side, side);
  add<<<32, 256, 0, stream>>>(device_a, device_c, device_c, n);
  reduce<<<(n + 255) / 256, 256, 256 * sizeof(float), stream>>>(device_c, device_sum, n);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(stop, stream));
  CHECK(cudaMemcpyAsync(c, device_c, bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaMemcpyAsync(sums.data(), device_sum, sizeof(float), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  std::printf("%.3f ms, %.2f GFlop/s\n", milliseconds, 2.0 * n * side / (milliseconds * 1e6));
  bool right = is_near("sum", sums[0], n * (1 + 0.01 * side));
  for (int i = 0; i < n; i += n / 4)
    right &= is_near("c[" + std::to_string(i) + "]", c[i], 1 + 0.01 * side);
  for (float* p : {a, b, c}) CHECK(cudaFreeHost(p));
  for (float* p : {device_a, device_b, device_c, device_sum}) CHECK(cudaFree(p));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaStreamDestroy(stream));
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
