// The same work in other shapes: blocks of many sizes that move data, multiply-adds that share what
// they read or do not, fills one by one and in a row, and memory of pools that comes and goes.
#include "measure.h"

namespace {

__device__ std::size_t index() {
  return blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
}

// --- memory

__global__ void add_into(float* y, const float* x, std::size_t n) {
  const std::size_t i = index();
  if (i < n) y[i] += 3 * x[i];
}
__global__ void sum_of_two(float* z, const float* x, const float* y, std::size_t n) {
  const std::size_t i = index();
  if (i < n) z[i] = x[i] + y[i];
}
__global__ void put_one(float* y, std::size_t n) {
  const std::size_t i = index();
  if (i < n) y[i] = 1;
}
__global__ void look_for(const float* x, float* found, std::size_t n) {
  const std::size_t i = index();
  if (i < n && x[i] == 12345) found[0] = static_cast<float>(i);
}
__global__ void scale_by_stride(float* y, std::size_t n) {
  const std::size_t all = gridDim.x * static_cast<std::size_t>(blockDim.x);
  for (std::size_t i = index(); i < n; i += all) y[i] *= 0.5f;
}

void memory(float* x, float* y, float* z) {
  for (const std::size_t n : {std::size_t{9'000'000}, std::size_t{33'000'000}}) {
    for (const unsigned threads : {192u, 384u, 640u, 896u, 1024u}) {
      const std::string name = std::to_string(n / 1'000'000) + "M.t" + std::to_string(threads);
      const auto blocks = static_cast<unsigned>((n + threads - 1) / threads);
      wall("add_into." + name, [&] { add_into<<<blocks, threads>>>(y, x, n); });
      wall("sum_of_two." + name, [&] { sum_of_two<<<blocks, threads>>>(z, x, y, n); });
      wall("put_one." + name, [&] { put_one<<<blocks, threads>>>(z, n); });
      wall("look_for." + name, [&] { look_for<<<blocks, threads>>>(x, z, n); });
    }
    for (const int blocks : {100, 200, 396, 792})
      wall("scale.g" + std::to_string(blocks) + "." + std::to_string(n / 1'000'000) + "M",
           [&] { scale_by_stride<<<blocks, 384>>>(y, n); });
  }
}

// --- multiply-adds

__global__ void three_values(float* out, int loops, float with) {
  float a = threadIdx.x * 0.01f, b = blockIdx.x * 0.1f + with, c = with;
  for (int i = 0; i < loops; ++i) {
    c = a * b + c;
    a = b * c + a;
  }
  out[index()] = a + c;
}
__global__ void two_values(float* out, int loops, float with) {
  float a = threadIdx.x * 0.01f;
  const float b = blockIdx.x * 0.1f + with;
  for (int i = 0; i < loops; ++i) a = a * b + b;
  out[index()] = a;
}
// Four sums that have a factor in common.
__global__ void common_factor(float* out, int loops, float with) {
  const float f = threadIdx.x * 0.01f + with;
  float a = f, b = f + 1, c = f + 2, d = f + 3;
  const float p = with * a, q = with * b, r = with * c, s = with * d;
  for (int i = 0; i < loops; ++i) {
    a = p * f + a;
    b = q * f + b;
    c = r * f + c;
    d = s * f + d;
  }
  out[index()] = a + b + c + d;
}
// A product of a row and a column that lie in shared memory.
__global__ void product_of_tiles(const float* a, const float* b, float* c, int n) {
  constexpr int side = 32;
  __shared__ float rows[side][side], columns[side][side];
  const int x = blockIdx.x * side + threadIdx.x, y = blockIdx.y * side + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += side) {
    rows[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    columns[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < side; ++i) sum += rows[threadIdx.y][i] * columns[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

void arithmetic(float* x, float* y, float* z) {
  for (const int blocks : {90, 264, 400}) {
    for (const int threads : {96, 384, 768}) {
      const std::string name = "g" + std::to_string(blocks) + ".t" + std::to_string(threads);
      wall("three_values." + name, [&] { three_values<<<blocks, threads>>>(z, 6000, 0.5f); });
      wall("two_values." + name, [&] { two_values<<<blocks, threads>>>(z, 6000, 0.5f); });
      wall("common_factor." + name, [&] { common_factor<<<blocks, threads>>>(z, 3000, 0.5f); });
    }
  }
  for (const int n : {384, 768})
    wall("tiles32." + std::to_string(n),
         [&] { product_of_tiles<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(x, y, z, n); });
}

// --- fills and pools

void fills(char* memory) {
  const streams s(2);
  for (const std::size_t n : {200 * kib, 2 * mib, 12 * mib, 80 * mib}) {
    const std::string size = std::to_string(n / kib) + "K";
    wall("fill.one." + size, [&] { MUST(cudaMemsetAsync(memory, 1, n, s[0])); });
    wall("fill.seven." + size, [&] {
      for (int i = 0; i < 7; ++i) MUST(cudaMemsetAsync(memory, i, n, s[0]));
    });
    wall("fill.and_kernel." + size, [&] {
      MUST(cudaMemsetAsync(memory, 1, n, s[0]));
      wait_cycles<<<8, 64, 0, s[0]>>>(30 * microsecond);
    });
  }
}

void pools() {
  const streams s(1);
  for (const std::size_t n : {std::size_t{1}, std::size_t{24}, std::size_t{100}}) {
    const std::string size = std::to_string(n) + "M";
    wall("pool.one." + size, [&] {
      void* p;
      MUST(cudaMallocAsync(&p, n * mib, s[0]));
      wait_cycles<<<4, 64, 0, s[0]>>>(50 * microsecond);
      MUST(cudaFreeAsync(p, s[0]));
    });
    wall("pool.five." + size, [&] {
      for (int i = 0; i < 5; ++i) {
        void* p;
        MUST(cudaMallocAsync(&p, n * mib, s[0]));
        wait_cycles<<<4, 64, 0, s[0]>>>(20 * microsecond);
        MUST(cudaFreeAsync(p, s[0]));
      }
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  constexpr std::size_t most = 33'000'000;
  float *x, *y, *z;
  for (float** p : {&x, &y, &z}) {
    MUST(cudaMalloc(reinterpret_cast<void**>(p), most * sizeof(float)));
    MUST(cudaMemset(*p, 0, most * sizeof(float)));
  }
  memory(x, y, z);
  arithmetic(x, y, z);
  fills(reinterpret_cast<char*>(z));
  pools();
  return end();
}
