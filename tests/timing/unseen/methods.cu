// Kernels as programs have them: numerical methods, sorting, sparse and dense matrices, images.
#include "measure.h"

namespace {

__device__ int index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__device__ float warp_sum(float x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
  return x;
}
/// For the first thread of a block.
__device__ float block_sum(float x) {
  __shared__ float part[32];
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  x = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
  if (threadIdx.x < 32) x = warp_sum(x);
  return x;
}

__device__ float normal_distribution(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float c =
      0.39894228f * expf(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * -1.821255978f))));
  return d > 0 ? 1.0f - c : c;
}
__global__ void options(const float* price, const float* strike, const float* years, float* call,
                        float* put, int n) {
  const int i = index();
  if (i >= n) return;
  const float s = price[i] + 20, x = strike[i] + 25, t = years[i] + 1;
  const float root = sqrtf(t);
  const float d1 = (logf(s / x) + 0.065f * t) / (0.3f * root), d2 = d1 - 0.3f * root;
  const float discount = x * expf(-0.02f * t);
  const float a = normal_distribution(d1), b = normal_distribution(d2);
  call[i] = s * a - discount * b;
  put[i] = discount * (1 - b) - s * (1 - a);
}

__global__ void bodies(const float4* at, float4* force, int n) {
  __shared__ float4 tile[256];
  const float4 me = at[index()];
  float x = 0, y = 0, z = 0;
  for (int first = 0; first < n; first += 256) {
    tile[threadIdx.x] = at[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 256; ++j) {
      const float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      const float s = tile[j].w * r * r * r;
      x += dx * s;
      y += dy * s;
      z += dz * s;
    }
    __syncthreads();
  }
  force[index()] = make_float4(x, y, z, 0);
}

__global__ void make_sparse(int* begin, int* column, float* value, int rows, int each) {
  const int r = index();
  if (r > rows) return;
  begin[r] = r * each;
  if (r == rows) return;
  for (int k = 0; k < each; ++k) {
    column[r * each + k] = static_cast<int>((r * 7919u + k * 104729u) % rows);
    value[r * each + k] = 1;
  }
}
__global__ void sparse_by_thread(const int* begin, const int* column, const float* value,
                                 const float* x, float* y, int rows) {
  const int r = index();
  if (r >= rows) return;
  float sum = 0;
  for (int k = begin[r]; k < begin[r + 1]; ++k) sum += value[k] * x[column[k]];
  y[r] = sum;
}
__global__ void sparse_by_warp(const int* begin, const int* column, const float* value,
                               const float* x, float* y, int rows) {
  const int r = index() / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0;
  for (int k = begin[r] + lane; k < begin[r + 1]; k += 32) sum += value[k] * x[column[k]];
  sum = warp_sum(sum);
  if (lane == 0) y[r] = sum;
}

__global__ void fractal(int* out, int width, int most) {
  const int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 16 + threadIdx.y;
  const float cx = -2.0f + 3.0f * px / width, cy = -1.5f + 3.0f * py / width;
  float x = 0, y = 0;
  int n = 0;
  while (n < most && x * x + y * y < 4) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++n;
  }
  out[py * width + px] = n;
}

__global__ void softmax(const float* in, float* out, int columns) {
  __shared__ float all;
  const float* row = in + static_cast<std::size_t>(blockIdx.x) * columns;
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(row[c]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) all = sum;
  __syncthreads();
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[static_cast<std::size_t>(blockIdx.x) * columns + c] = expf(row[c]) / all;
}

__global__ void matrix_vector(const float4* a, const float4* x, float* y, int columns4) {
  const int r = index() / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int c = lane; c < columns4; c += 32) {
    const float4 m = a[static_cast<std::size_t>(r) * columns4 + c], v = x[c];
    sum += m.x * v.x + m.y * v.y + m.z * v.z + m.w * v.w;
  }
  sum = warp_sum(sum);
  if (lane == 0) y[r] = sum;
}

__constant__ float taps[25];
__global__ void image_filter(const float* in, float* out, int width) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < 2 || y < 2 || x >= width - 2 || y >= width - 2) return;
  float sum = 0;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i) sum += taps[(j + 2) * 5 + i + 2] * in[(y + j) * width + x + i];
  out[y * width + x] = sum;
}
__global__ void row_filter(const float* in, float* out, int n) {
  __shared__ float tile[256 + 16];
  const int i = index();
  tile[threadIdx.x + 8] = in[i];
  if (threadIdx.x < 8) {
    tile[threadIdx.x] = i >= 8 ? in[i - 8] : 0;
    tile[threadIdx.x + 264] = i + 256 < n ? in[i + 256] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 17; ++k) sum += tile[threadIdx.x + k];
  out[i] = sum / 17;
}

__global__ void scan_of_block(const int* in, int* out) {
  __shared__ int part[2][1024];
  int from = 0;
  part[0][threadIdx.x] = in[index()];
  __syncthreads();
  for (int d = 1; d < 1024; d *= 2) {
    const int mine = part[from][threadIdx.x];
    part[1 - from][threadIdx.x] = threadIdx.x >= d ? mine + part[from][threadIdx.x - d] : mine;
    from = 1 - from;
    __syncthreads();
  }
  out[index()] = part[from][threadIdx.x];
}
__global__ void sort_of_block(const unsigned* in, unsigned* out) {
  __shared__ unsigned all[1024];
  const unsigned t = threadIdx.x;
  all[t] = in[index()] * 2654435761u;
  __syncthreads();
  for (unsigned size = 2; size <= 1024; size *= 2)
    for (unsigned d = size / 2; d > 0; d /= 2) {
      const unsigned other = t ^ d;
      if (other > t) {
        const unsigned a = all[t], b = all[other];
        if ((a > b) == ((t & size) == 0)) {
          all[t] = b;
          all[other] = a;
        }
      }
      __syncthreads();
    }
  out[index()] = all[t];
}

__global__ void random_points(unsigned long long* inside, int loops) {
  unsigned x = static_cast<unsigned>(index()) * 747796405u + 2891336453u;
  int found = 0;
  for (int i = 0; i < loops; ++i) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    const float a = (x & 0xffff) * (1 / 65536.0f), b = (x >> 16) * (1 / 65536.0f);
    if (a * a + b * b < 1) ++found;
  }
  const float sum = block_sum(static_cast<float>(found));
  if (threadIdx.x == 0) atomicAdd(inside, static_cast<unsigned long long>(sum));
}
__global__ void collatz(int* out, int first) {
  unsigned x = static_cast<unsigned>(first + index());
  int n = 0;
  while (x > 1 && n < 500) {
    x = x & 1 ? 3 * x + 1 : x / 2;
    ++n;
  }
  out[index()] = n;
}

struct particle {
  float x, y, z, vx, vy, vz, mass, charge;
};
__global__ void move_structures(particle* p, int n, float dt) {
  const int i = index();
  if (i >= n) return;
  p[i].x += dt * p[i].vx;
  p[i].y += dt * p[i].vy;
  p[i].z += dt * p[i].vz;
}
__global__ void permute(const float* in, const unsigned* to, float* out, int n) {
  const int i = index();
  if (i < n) out[to[i]] = in[i];
}
__global__ void make_permutation(unsigned* to, unsigned n) {
  const unsigned i = static_cast<unsigned>(index());
  if (i < n) to[i] = i * 2654435761u % n;
}

__global__ void heat(const float* in, float* out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int plane = n * n;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  for (int z = 1; z < n - 1; ++z) {
    const int i = z * plane + y * n + x;
    out[i] = in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - plane] +
                             in[i + plane] - 6 * in[i]);
  }
}

__global__ void dot(const double* a, const double* b, double* out, int n) {
  double sum = 0;
  for (int i = index(); i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
__global__ void product_plain(const float* a, const float* b, float* c, int n) {
  const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
/// Each thread has 4 x 4 of a block's 64 x 64.
__global__ void product_in_registers(const float* a, const float* b, float* c, int n) {
  __shared__ float x[16][64], y[16][64];
  const int t = threadIdx.x, row = blockIdx.y * 64, column = blockIdx.x * 64;
  const int u = t % 16 * 4, v = t / 16 * 4;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    for (int i = t; i < 1024; i += 256) {
      x[i % 16][i / 16] = a[(row + i / 16) * n + k0 + i % 16];
      y[i / 64][i % 64] = b[(k0 + i / 64) * n + column + i % 64];
    }
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += x[k][v + i] * y[k][u + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(row + v + i) * n + column + u + j] = sum[i][j];
}
__global__ void sum_of_one_block(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) *out = sum;
}
__global__ void count_values(const unsigned* in, unsigned* bins, int n) {
  const int i = index();
  if (i < n) atomicAdd(&bins[in[i] % 1000], 1u);
}
__global__ void polynomial(const double* in, double* out, int n) {
  const int i = index();
  if (i >= n) return;
  const double x = in[i];
  double sum = 1;
  for (int k = 0; k < 24; ++k) sum = sum * x + k;
  out[i] = sum / (1 + x * x);
}

class methods {
 public:
  methods() {
    for (float** p : {&a_, &b_, &c_, &d_}) {
      MUST(cudaMalloc(reinterpret_cast<void**>(p), bytes));
      MUST(cudaMemset(*p, 0, bytes));
    }
  }
  void run() {
    dense();
    sparse();
    blocks();
    fields();
  }

 private:
  static constexpr std::size_t bytes = std::size_t{64} << 20;
  static constexpr int million = 1 << 20;
  template <class T>
  static T* as(float* p) {
    return reinterpret_cast<T*>(p);
  }

  void dense() {
    wall("product.plain.384",
         [&] { product_plain<<<dim3(24, 24), dim3(16, 16)>>>(a_, b_, c_, 384); });
    wall("product.registers.512",
         [&] { product_in_registers<<<dim3(8, 8), 256>>>(a_, b_, c_, 512); });
    wall("product.registers.1024",
         [&] { product_in_registers<<<dim3(16, 16), 256>>>(a_, b_, c_, 1024); });
    wall("matrix_vector.2048",
         [&] { matrix_vector<<<256, 256>>>(as<float4>(a_), as<float4>(b_), c_, 512); });
    wall("matrix_vector.4096",
         [&] { matrix_vector<<<512, 256>>>(as<float4>(a_), as<float4>(b_), c_, 1024); });
    wall("dot.2M",
         [&] { dot<<<264, 256>>>(as<double>(a_), as<double>(b_), as<double>(c_), 2 * million); });
    wall("polynomial.1M",
         [&] { polynomial<<<4096, 256>>>(as<double>(a_), as<double>(b_), million); });
    wall("softmax.512x4096", [&] { softmax<<<512, 256>>>(a_, b_, 4096); });
  }

  void sparse() {
    constexpr int rows = 1 << 16;
    for (const int each : {8, 48}) {
      int* begin = as<int>(c_);
      int* column = as<int>(a_);
      make_sparse<<<rows / 256 + 1, 256>>>(begin, column, b_, rows, each);
      const std::string name = std::to_string(each);
      wall("sparse.by_thread." + name,
           [&] { sparse_by_thread<<<rows / 256, 256>>>(begin, column, b_, d_, d_ + rows, rows); });
      wall("sparse.by_warp." + name,
           [&] { sparse_by_warp<<<rows / 8, 256>>>(begin, column, b_, d_, d_ + rows, rows); });
    }
    for (float* p : {a_, b_, c_}) MUST(cudaMemset(p, 0, bytes));
    make_permutation<<<8 * million / 256, 256>>>(as<unsigned>(b_), 8 * million);
    wall("permute.1M", [&] { permute<<<million / 256, 256>>>(a_, as<unsigned>(b_), c_, million); });
    wall("permute.8M",
         [&] { permute<<<8 * million / 256, 256>>>(a_, as<unsigned>(b_), c_, 8 * million); });
    wall("count_values.1M", [&] {
      count_values<<<million / 256, 256>>>(as<unsigned>(b_), as<unsigned>(c_), million);
    });
    wall("structures.1M",
         [&] { move_structures<<<million / 256, 256>>>(as<particle>(a_), million, 0.1f); });
  }

  void blocks() {
    wall("scan.blocks512", [&] { scan_of_block<<<512, 1024>>>(as<int>(a_), as<int>(c_)); });
    wall("sort.blocks256",
         [&] { sort_of_block<<<256, 1024>>>(as<unsigned>(b_), as<unsigned>(c_)); });
    wall("sum.one_block.256K", [&] { sum_of_one_block<<<1, 1024>>>(a_, c_, 1 << 18); });
    wall("points.256", [&] { random_points<<<528, 256>>>(as<unsigned long long>(c_), 256); });
    wall("collatz.256K", [&] { collatz<<<1024, 256>>>(as<int>(c_), 1); });
    wall("fractal.512.100",
         [&] { fractal<<<dim3(32, 32), dim3(16, 16)>>>(as<int>(c_), 512, 100); });
  }

  void fields() {
    wall("options.1M", [&] { options<<<4096, 256>>>(a_, b_, a_, c_, d_, million); });
    wall("bodies.4096", [&] { bodies<<<16, 256>>>(as<float4>(a_), as<float4>(c_), 4096); });
    wall("bodies.16384", [&] { bodies<<<64, 256>>>(as<float4>(a_), as<float4>(c_), 16384); });
    wall("image.1024", [&] { image_filter<<<dim3(32, 128), dim3(32, 8)>>>(a_, c_, 1024); });
    wall("image.3072", [&] { image_filter<<<dim3(96, 384), dim3(32, 8)>>>(a_, c_, 3072); });
    wall("row_filter.4M", [&] { row_filter<<<4 * million / 256, 256>>>(a_, c_, 4 * million); });
    wall("heat.128", [&] { heat<<<dim3(4, 16), dim3(32, 8)>>>(a_, c_, 128); });
    wall("heat.224", [&] { heat<<<dim3(7, 28), dim3(32, 8)>>>(a_, c_, 224); });
  }

  float *a_, *b_, *c_, *d_;
};

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  methods().run();
  return end();
}
