// Kernels whose time follows from what they do: memory, arithmetic, shared memory, atomics.
#include "measure.h"

namespace {

__device__ std::size_t index() {
  return blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
}

__global__ void saxpy(std::size_t n, float a, const float* x, float* y) {
  const std::size_t i = index();
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void triad(std::size_t n, const float4* a, const float4* b, float4* c) {
  for (std::size_t i = index(); i < n; i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    const float4 x = a[i], y = b[i];
    c[i] = make_float4(x.x + 2 * y.x, x.y + 2 * y.y, x.z + 2 * y.z, x.w + 2 * y.w);
  }
}
template <class T>
__global__ void multiply_add(T* out, int loops) {
  T x = threadIdx.x, y = 1, z = 2, w = 3;
  const T a = T(0.999), b = T(0.5);
  for (int i = 0; i < loops; ++i) {
    x = x * a + b;
    y = y * a + b;
    z = z * a + b;
    w = w * a + b;
  }
  out[index()] = x + y + z + w;
}
__global__ void one_chain(float* out, int loops) {
  float x = threadIdx.x;
  for (int i = 0; i < loops; ++i) x = x * 0.999f + 0.5f;
  out[index()] = x;
}
__global__ void waves_of_sine(float* out, int loops) {
  float x = index() * 1e-6f;
  for (int i = 0; i < loops; ++i) x = sinf(x) + sqrtf(x * x + 1);
  out[index()] = x;
}
__global__ void hashes(unsigned* out, int loops) {
  unsigned x = static_cast<unsigned>(index());
  for (int i = 0; i < loops; ++i) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  out[index()] = x;
}
__global__ void transpose_plain(const float* in, float* out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[x * n + y + j] = in[(y + j) * n + x];
}
__global__ void transpose_tiled(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  const int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(v + j) * n + u] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void matrix_product(const float* a, const float* b, float* c, int n) {
  __shared__ float x[32][32], y[32][32];
  const int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += 32) {
    x[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += x[threadIdx.y][k] * y[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
__global__ void sum(const float* in, float* out, std::size_t n) {
  __shared__ float part[256];
  float mine = 0;
  for (std::size_t i = index(); i < n; i += static_cast<std::size_t>(gridDim.x) * blockDim.x)
    mine += in[i];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
__global__ void histogram(const unsigned* in, unsigned* bins, std::size_t n) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (std::size_t i = index(); i < n; i += static_cast<std::size_t>(gridDim.x) * blockDim.x)
    atomicAdd(&mine[in[i] & 255], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
__global__ void stencil(const float* in, float* out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
    out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] +
                             in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  constexpr std::size_t most = std::size_t{48} << 20;
  float *a, *b;
  MUST(cudaMalloc(reinterpret_cast<void**>(&a), most * sizeof(float)));
  MUST(cudaMalloc(reinterpret_cast<void**>(&b), most * sizeof(float)));
  MUST(cudaMemset(a, 0, most * sizeof(float)));
  MUST(cudaMemset(b, 0, most * sizeof(float)));
  const auto number = [](std::size_t n) { return std::to_string(n); };

  for (std::size_t n : {100'000ul, 700'000ul, 3'000'000ul, 12'000'000ul, 48'000'000ul})
    wall("memory.saxpy." + number(n),
         [&] { saxpy<<<static_cast<unsigned>((n + 255) / 256), 256>>>(n, 2.0f, a, b); });
  for (std::size_t n : {1ul << 20, 6ul << 20}) {
    const auto* in = reinterpret_cast<float4*>(a);
    wall("memory.triad." + number(n),
         [&] { triad<<<1056, 256>>>(n, in, in + (6 << 20), reinterpret_cast<float4*>(b)); });
  }
  wall("memory.sum.16M", [&] { sum<<<1056, 256>>>(a, b, 16 << 20); });
  wall("memory.stencil.3072", [&] { stencil<<<dim3(96, 384), dim3(32, 8)>>>(a, b, 3072); });
  wall("memory.transpose_plain.2048",
       [&] { transpose_plain<<<dim3(64, 64), dim3(32, 8)>>>(a, b, 2048); });
  wall("memory.transpose_tiled.2048",
       [&] { transpose_tiled<<<dim3(64, 64), dim3(32, 8)>>>(a, b, 2048); });

  for (int loops : {100, 1000})
    wall("arithmetic.float.full." + number(loops),
         [&] { multiply_add<float><<<132 * 8, 256>>>(a, loops); });
  wall("arithmetic.float.half_device", [&] { multiply_add<float><<<66, 1024>>>(a, 1000); });
  wall("arithmetic.float.few_warps", [&] { multiply_add<float><<<132, 64>>>(a, 4000); });
  wall("arithmetic.float.one_chain", [&] { one_chain<<<132 * 2, 256>>>(a, 4000); });
  wall("arithmetic.float.one_warp", [&] { one_chain<<<1, 32>>>(a, 20000); });
  wall("arithmetic.double.full",
       [&] { multiply_add<double><<<132 * 8, 256>>>(reinterpret_cast<double*>(a), 500); });
  wall("arithmetic.sine", [&] { waves_of_sine<<<132 * 8, 256>>>(a, 100); });
  wall("arithmetic.integer",
       [&] { hashes<<<132 * 8, 256>>>(reinterpret_cast<unsigned*>(a), 1000); });
  MUST(cudaMemset(a, 0, most * sizeof(float)));
  wall("arithmetic.matrix.512",
       [&] { matrix_product<<<dim3(16, 16), dim3(32, 32)>>>(a, a + (1 << 20), b, 512); });
  wall("arithmetic.matrix.1024",
       [&] { matrix_product<<<dim3(32, 32), dim3(32, 32)>>>(a, a + (1 << 20), b, 1024); });
  hashes<<<16384, 256>>>(reinterpret_cast<unsigned*>(a), 8);
  wall("arithmetic.histogram.4M", [&] {
    histogram<<<528, 256>>>(reinterpret_cast<unsigned*>(a), reinterpret_cast<unsigned*>(b),
                            4 << 20);
  });

  // A kernel that waits for memory and one that computes, one after the other and side by side.
  const streams s(2);
  for (int count : {1, 2})
    wall("mixed.memory_and_arithmetic.streams" + std::to_string(count), [&] {
      saxpy<<<12'000'000 / 256, 256, 0, s[0]>>>(12'000'000, 2.0f, b, b + 12'000'000);
      multiply_add<float><<<132 * 2, 256, 0, s[count - 1]>>>(a, 4000);
    });
  return end();
}
