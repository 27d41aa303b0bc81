// Kernels, mostly: what a file of them takes to compile (bench/compile_time.py).
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

constexpr int side = 16, width = 256;

__global__ void saxpy(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float as[side][side], bs[side][side];
  int row = blockIdx.y * side + threadIdx.y, column = blockIdx.x * side + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < n / side; ++tile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + tile * side + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(tile * side + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < side; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void sum_shared(const float* in, float* out, int n) {
  __shared__ float part[width];
  int t = threadIdx.x, i = blockIdx.x * width + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = width / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
__global__ void sum_shuffle(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += in[i];
  for (int delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(~0u, sum, delta);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
__global__ void scan(const int* in, int* out, int n) {
  __shared__ int part[2][width];
  int t = threadIdx.x, i = blockIdx.x * width + t, from = 0;
  part[0][t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < width; d *= 2) {
    part[1 - from][t] = part[from][t] + (t >= d ? part[from][t - d] : 0);
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) out[i] = part[from][t];
}
__global__ void histogram(const unsigned char* in, int* out, int n) {
  __shared__ int own[width];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&own[in[i]], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], own[threadIdx.x]);
}
__global__ void blur(const float* in, float* out, int w, int h) {
  __shared__ float tile[side + 2][side + 2];
  int x = blockIdx.x * side + threadIdx.x, y = blockIdx.y * side + threadIdx.y;
  for (int j = threadIdx.y; j < side + 2; j += side)
    for (int i = threadIdx.x; i < side + 2; i += side) {
      int gx = min(max(int(blockIdx.x) * side + i - 1, 0), w - 1);
      int gy = min(max(int(blockIdx.y) * side + j - 1, 0), h - 1);
      tile[j][i] = in[gy * w + gx];
    }
  __syncthreads();
  if (x >= w || y >= h) return;
  float sum = 0;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) sum += tile[threadIdx.y + j][threadIdx.x + i];
  out[y * w + x] = sum / 9;
}
__global__ void compact(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, base = 0;
  bool keep = i < n && in[i] > 0;
  unsigned votes = __ballot_sync(~0u, keep);
  if (lane == 0 && votes) base = atomicAdd(count, __popc(votes));
  base = __shfl_sync(~0u, base, 0);
  if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}
int main() {
  std::vector<float> host(1 << 16, 1);
  float *x, *y;
  cudaMalloc(&x, host.size() * 4), cudaMalloc(&y, host.size() * 4);
  cudaMemcpy(x, host.data(), host.size() * 4, cudaMemcpyHostToDevice);
  product<<<dim3(16, 16), dim3(side, side)>>>(x, x, y, 256);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
