// The problems as CUDA kernels, written as in any textbook.
#include <cuda_runtime.h>

#include "problems.hpp"

using namespace bench;

__global__ void saxpy(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = factor * x[i] + y[i];
}
__global__ void copy(const float* x, const float*, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i];
}
__global__ void triad(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + factor * y[i];
}
__global__ void stride_saxpy(const float* x, const float* y, float* z, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    z[i] = factor * x[i] + y[i];
}
__global__ void stride_copy(const float* x, const float*, float* z, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    z[i] = x[i];
}
__global__ void stride_triad(const float* x, const float* y, float* z, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    z[i] = x[i] + factor * y[i];
}

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < n / 16; ++tile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + tile * 16 + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(tile * 16 + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void reduce_shared(const float* x, float* out, int n) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += x[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
__global__ void reduce_shuffle(const float* x, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += x[i];
  for (int delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(0xffffffff, sum, delta);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

__global__ void block_sums_halves(const float* x, float* out, int n) {
  __shared__ float part[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
__global__ void block_sums_spread(const float* x, float* out, int n) {
  __shared__ float part[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int k = 1; k < blockDim.x; k *= 2) {
    if (t % (2 * k) == 0) part[t] += part[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
__global__ void block_sums_places(const float* x, float* out, int n) {
  __shared__ float part[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int k = 1; k < blockDim.x; k *= 2) {
    int j = 2 * k * t;
    if (j < blockDim.x) part[j] += part[j + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

__global__ void block_sums_extern(const float* x, float* out, int n) {
  extern __shared__ float part[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

__device__ float sum_of_warp(float sum) {
  for (int delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(0xffffffff, sum, delta);
  return sum;
}
__global__ void block_sums_shuffles(const float* x, float* out, int n) {
  __shared__ float of_warps[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum = sum_of_warp(i < n ? x[i] : 0);
  if (lane == 0) of_warps[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = sum_of_warp(lane < blockDim.x / 32 ? of_warps[lane] : 0);
    if (lane == 0) out[blockIdx.x] = sum;
  }
}

__global__ void scan_blocks(const int* in, int* out, int* sums) {
  __shared__ int part[2][256];
  int i = blockIdx.x * 256 + threadIdx.x, from = 0;
  part[0][threadIdx.x] = in[i];
  __syncthreads();
  for (int distance = 1; distance < 256; distance *= 2) {
    int value = part[from][threadIdx.x];
    if (threadIdx.x >= distance) value += part[from][threadIdx.x - distance];
    part[1 - from][threadIdx.x] = value;
    from = 1 - from;
    __syncthreads();
  }
  out[i] = part[from][threadIdx.x];
  if (threadIdx.x == 255) sums[blockIdx.x] = part[from][255];
}
__global__ void add_sums(int* out, const int* sums) {
  if (blockIdx.x > 0) out[blockIdx.x * 256 + threadIdx.x] += sums[blockIdx.x - 1];
}

__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * side + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * side + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void histogram(const unsigned char* in, int* out, int n) {
  __shared__ int own[bins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&own[in[i]], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], own[threadIdx.x]);
}

__global__ void stencil(const float* in, float* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < side - 1 && y < side - 1) {
    int i = y * side + x;
    out[i] = 0.2f * (in[i] + in[i - side] + in[i + side] + in[i - 1] + in[i + 1]);
  }
}

// A thread for each column.
__global__ void columns(const float* in, float* out, int rows) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= side) return;
  for (int y = 0; y < rows; ++y) out[y * side + x] = 2 * in[y * side + x] + y;
}

// A warp for each row.
__global__ void multiply_sparse(const int* starts, const int* columns, const float* values,
                                const float* x, float* y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  for (int delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(0xffffffff, sum, delta);
  if (lane == 0) y[row] = sum;
}

__global__ void forces(const float* x, const float* y, const float* z, float* fx, float* fy,
                       float* fz) {
  __shared__ float sx[256], sy[256], sz[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  float px = x[i], py = y[i], pz = z[i], ax = 0, ay = 0, az = 0;
  for (int tile = 0; tile < bodies; tile += 256) {
    sx[threadIdx.x] = x[tile + threadIdx.x];
    sy[threadIdx.x] = y[tile + threadIdx.x];
    sz[threadIdx.x] = z[tile + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 256; ++j) {
      float dx = sx[j] - px, dy = sy[j] - py, dz = sz[j] - pz;
      float r = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + softening), r3 = r * r * r;
      ax += dx * r3;
      ay += dy * r3;
      az += dz * r3;
    }
    __syncthreads();
  }
  fx[i] = ax;
  fy[i] = ay;
  fz[i] = az;
}

__device__ float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c = 0.39894228040143267794f * expf(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f +
                                     k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - c : c;
}
__global__ void black_scholes(const float* spot, const float* strike, const float* years,
                              float* call, float* put, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float root = volatility * sqrtf(years[i]);
  float d1 =
      (logf(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / root;
  float n1 = normal(d1), n2 = normal(d1 - root), discount = strike[i] * expf(-rate * years[i]);
  call[i] = spot[i] * n1 - discount * n2;
  put[i] = discount * (1.0f - n2) - spot[i] * (1.0f - n1);
}

#define MATHS(name, value)                                         \
  __global__ void name##_all(const float* in, float* out, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                 \
    if (i >= n) return;                                            \
    float x = in[i];                                               \
    out[i] = value;                                                \
  }
MATHS(expf, expf(x))
MATHS(logf, logf(x))
MATHS(sinf, sinf(x))
MATHS(powf, powf(x, 2.3f))
MATHS(erff, erff(x))
MATHS(tanhf, tanhf(x))

__global__ void forget(unsigned* out, std::size_t n) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    out[i] = cleared;
}

template <class T>
T* on_device(const std::vector<T>& v) {
  T* p = nullptr;
  cudaMalloc(&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T>
std::vector<T> back(const T* p, std::size_t n) {
  std::vector<T> v(n);
  cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  return v;
}

// What a run must write.
struct outputs {
  struct part {
    template <class T>
    part(T* at, std::size_t n) : at(reinterpret_cast<unsigned*>(at)), words(n) {
      static_assert(sizeof(T) == sizeof(unsigned));
    }
    unsigned* at;
    std::size_t words;
  };
  std::vector<part> parts;

  void clear() const {
    for (const part& p : parts) forget<<<1056, 256>>>(p.at, p.words);
    cudaDeviceSynchronize();
  }
};

int main(int argc, char** argv) {
  const choice chosen{argc, argv};
  using stream_kernel = void (*)(const float*, const float*, float*, int);
  const struct {
    const char *name, *kind;
    stream_kernel kernel;
    int blocks;
  } streams[] = {
      {"saxpy", "saxpy", saxpy, stream_n / 256},  {"copy", "copy", copy, stream_n / 256},
      {"triad", "triad", triad, stream_n / 256},  {"stride_saxpy", "saxpy", stride_saxpy, 1056},
      {"stride_copy", "copy", stride_copy, 1056}, {"stride_triad", "triad", stride_triad, 1056}};
  for (const auto& s : streams) {
    if (!chosen(s.name)) continue;
    const floats x = numbers(stream_n, 1000), y = numbers(stream_n, 77);
    float *dx = on_device(x), *dy = on_device(y), *dz = on_device(floats(stream_n));
    const auto want = right_stream(s.kind, x, y);
    measure(
        s.name,
        [&] {
          s.kernel<<<s.blocks, 256>>>(dx, dy, dz, stream_n);
          cudaDeviceSynchronize();
        },
        outputs{{{dz, stream_n}}}, [&] { return want.is(back(dz, stream_n)); });
    cudaFree(dx), cudaFree(dy), cudaFree(dz);
  }
  if (chosen("matmul")) {
    const floats a = numbers(matrix * matrix, 100, 0.01f), b = numbers(matrix * matrix, 33, 0.1f);
    float *da = on_device(a), *db = on_device(b), *dc = on_device(floats(a.size()));
    const auto want = right_product(a, b);
    measure(
        "matmul",
        [&] {
          multiply<<<dim3(matrix / 16, matrix / 16), dim3(16, 16)>>>(da, db, dc, matrix);
          cudaDeviceSynchronize();
        },
        outputs{{{dc, a.size()}}}, [&] { return want.is(back(dc, a.size())); });
  }
  for (bool shuffle : {false, true}) {
    const char* name = shuffle ? "reduce_shuffle" : "reduce_shared";
    if (!chosen(name)) continue;
    const floats x = summands();
    const auto want = right_sum(x);
    float *dx = on_device(x), *out = on_device(floats(1));
    measure(
        name,
        [&] {
          cudaMemsetAsync(out, 0, 4);
          (shuffle ? reduce_shuffle : reduce_shared)<<<1056, 256>>>(dx, out, stream_n);
          cudaDeviceSynchronize();
        },
        outputs{{{out, 1}}}, [&] { return want.is(back(out, 1)); });
    cudaFree(dx), cudaFree(out);
  }
  void (*const sums_of_blocks[])(const float*, float*, int) = {block_sums_halves, block_sums_spread,
                                                               block_sums_places, block_sums_extern,
                                                               block_sums_shuffles};
  for (const char* const& name : block_sums) {
    if (!chosen(name)) continue;
    const floats x = summands();
    const auto want = right_sums(x);
    float *dx = on_device(x), *out = on_device(want.values);
    measure(
        name,
        [&] {
          auto* kernel = sums_of_blocks[&name - block_sums];
          kernel<<<stream_n / 256, 256, kernel == block_sums_extern ? 256 * sizeof(float) : 0>>>(
              dx, out, stream_n);
          cudaDeviceSynchronize();
        },
        outputs{{{out, stream_n / 256}}}, [&] { return want.is(back(out, stream_n / 256)); });
    cudaFree(dx), cudaFree(out);
  }
  if (chosen("scan")) {
    const std::vector<int> in = whole_numbers(scan_n);
    const auto want = right_scan(in);
    int *din = on_device(in), *out = on_device(in);
    int* sums[3] = {on_device(std::vector<int>(scan_n / 256)), on_device(std::vector<int>(256)),
                    on_device(std::vector<int>(256))};
    measure(
        "scan",
        [&] {
          // Blocks, then their sums (65536 / 4 of them, in two levels), and back.
          scan_blocks<<<scan_n / 256, 256>>>(din, out, sums[0]);
          scan_blocks<<<scan_n / 65536, 256>>>(sums[0], sums[0], sums[1]);
          scan_blocks<<<1, 256>>>(sums[1], sums[1], sums[2]);
          add_sums<<<scan_n / 65536, 256>>>(sums[0], sums[1]);
          add_sums<<<scan_n / 256, 256>>>(out, sums[0]);
          cudaDeviceSynchronize();
        },
        outputs{{{out, scan_n}}}, [&] { return want.is(back(out, scan_n)); });
  }
  if (chosen("transpose")) {
    const floats in = numbers(side * side, 65521);
    const auto want = right_transpose(in);
    float *din = on_device(in), *out = on_device(in);
    measure(
        "transpose",
        [&] {
          transpose<<<dim3(side / 32, side / 32), dim3(32, 8)>>>(din, out);
          cudaDeviceSynchronize();
        },
        outputs{{{out, in.size()}}}, [&] { return want.is(back(out, in.size())); });
  }
  if (chosen("histogram")) {
    const auto in = letters();
    const auto want = right_histogram(in);
    unsigned char* din = on_device(in);
    int* out = on_device(std::vector<int>(bins));
    measure(
        "histogram",
        [&] {
          cudaMemsetAsync(out, 0, bins * sizeof(int));
          histogram<<<1056, bins>>>(din, out, bytes_n);
          cudaDeviceSynchronize();
        },
        outputs{{{out, bins}}}, [&] { return want.is(back(out, bins)); });
  }
  if (chosen("stencil")) {
    const floats in = numbers(side * side, 1009);
    const auto want = right_stencil(in);
    float *din = on_device(in), *out = on_device(in);
    measure(
        "stencil",
        [&] {
          stencil<<<dim3(side / 32, side / 8), dim3(32, 8)>>>(din, out);
          cudaDeviceSynchronize();
        },
        outputs{{{out, in.size()}}}, [&] { return want.is(back(out, in.size())); });
  }
  if (chosen("columns")) {
    const floats in = numbers(side * side, 1009);
    const auto want = right_columns(in);
    float *din = on_device(in), *out = on_device(in);
    measure(
        "columns",
        [&] {
          columns<<<side / 256, 256>>>(din, out, side);
          cudaDeviceSynchronize();
        },
        outputs{{{out, in.size()}}}, [&] { return want.is(back(out, in.size())); });
  }
  if (chosen("spmv")) {
    const sparse_matrix a = sparse();
    const floats x = numbers(sparse_rows, 11);
    const auto want = right_sparse_product(a, x);
    int *starts = on_device(a.starts), *columns = on_device(a.columns);
    float *values = on_device(a.values), *dx = on_device(x), *y = on_device(x);
    measure(
        "spmv",
        [&] {
          multiply_sparse<<<sparse_rows / 8, 256>>>(starts, columns, values, dx, y, sparse_rows);
          cudaDeviceSynchronize();
        },
        outputs{{{y, sparse_rows}}}, [&] { return want.is(back(y, sparse_rows)); });
  }
  if (chosen("nbody")) {
    const floats x = numbers(bodies, 101, 0.1f), y = numbers(bodies, 103, 0.1f),
                 z = numbers(bodies, 107, 0.1f);
    const auto want = right_forces(x, y, z);
    float *dx = on_device(x), *dy = on_device(y), *dz = on_device(z);
    float *fx = on_device(x), *fy = on_device(x), *fz = on_device(x);
    measure(
        "nbody",
        [&] {
          forces<<<bodies / 256, 256>>>(dx, dy, dz, fx, fy, fz);
          cudaDeviceSynchronize();
        },
        outputs{{{fx, bodies}, {fy, bodies}, {fz, bodies}}},
        [&] {
          return want.x.is(back(fx, bodies)) && want.y.is(back(fy, bodies)) &&
                 want.z.is(back(fz, bodies));
        });
  }
  if (chosen("black_scholes")) {
    const floats spot = numbers(options_n, 251, 0.1f, 5), strike = numbers(options_n, 991, 0.1f, 1);
    const floats years = numbers(options_n, 97, 0.1f, 0.25f);
    const auto want = right_prices(spot, strike, years);
    float *ds = on_device(spot), *dk = on_device(strike), *dt = on_device(years);
    float *call = on_device(spot), *put = on_device(spot);
    measure(
        "black_scholes",
        [&] {
          black_scholes<<<options_n / 256, 256>>>(ds, dk, dt, call, put, options_n);
          cudaDeviceSynchronize();
        },
        outputs{{{call, options_n}, {put, options_n}}},
        [&] { return want.call.is(back(call, options_n)) && want.put.is(back(put, options_n)); });
  }
  void (*const functions[])(const float*, float*, int) = {expf_all, logf_all, sinf_all,
                                                          powf_all, erff_all, tanhf_all};
  for (const maths_problem& problem : maths_problems) {
    if (!chosen(problem.name)) continue;
    const floats x = maths_arguments();
    const auto want = right_maths(problem, x);
    float *dx = on_device(x), *dy = on_device(x);
    measure(
        problem.name,
        [&] {
          functions[&problem - maths_problems]<<<maths_n / 256, 256>>>(dx, dy, maths_n);
          cudaDeviceSynchronize();
        },
        outputs{{{dy, maths_n}}}, [&] { return want.is(back(dy, maths_n)); });
    cudaFree(dx), cudaFree(dy);
  }
  if (chosen("memcpy")) {
    const std::size_t bytes = std::size_t{stream_n} * sizeof(float);
    float *host = nullptr, *device = nullptr;
    cudaMallocHost(&host, bytes);
    cudaMalloc(&device, bytes);
    const expected<float> want{numbers(stream_n, 1000)};
    std::copy(want.values.begin(), want.values.end(), host);
    measure(
        "memcpy",
        [&] {
          cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, nullptr);
          cudaStreamSynchronize(nullptr);
        },
        outputs{{{device, stream_n}}}, [&] { return want.is(back(device, stream_n)); });
  }
}
