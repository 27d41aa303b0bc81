// Programs that draw their work: tiles of a matrix product, rows of a sparse matrix, lines of a
// picture, chunks of a vector.
#include "measure.h"

namespace {

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int tile = 16;

// Persistent blocks that take tiles of c = a * b.
__global__ void product(int* next, const float* a, const float* b, float* c, int n) {
  __shared__ float left[tile][tile], right[tile][tile];
  __shared__ int drawn;
  const int across = n / tile;
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  while (true) {
    if (x == 0 && y == 0) drawn = atomicAdd(next, 1);
    __syncthreads();
    const int at = drawn;
    if (at >= across * across) return;
    const int row = at / across * tile + y, column = at % across * tile + x;
    float sum = 0;
    for (int k = 0; k < n; k += tile) {
      left[y][x] = a[row * n + k + x];
      right[y][x] = b[(k + y) * n + column];
      __syncthreads();
      for (int i = 0; i < tile; ++i) sum += left[y][i] * right[i][x];
      __syncthreads();
    }
    c[row * n + column] = sum;
  }
}

// A warp for each row, of which some have many entries.
__global__ void sparse(int* next, const int* begin, const int* column, const float* value,
                       const float* x, float* y, int rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (;;) {
    int row = 0;
    if (lane == 0) row = atomicAdd(next, 1);
    row = __shfl_sync(all_lanes, row, 0);
    if (row >= rows) break;
    float sum = 0;
    for (int k = begin[row] + lane; k < begin[row + 1]; k += 32) sum += value[k] * x[column[k]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(all_lanes, sum, d);
    if (lane == 0) y[row] = sum;
  }
}

// A line of the Mandelbrot set for each block.
__global__ void fractal(unsigned* next, int* out, unsigned width, unsigned height, int most) {
  __shared__ unsigned line;
  while (true) {
    if (threadIdx.x == 0) line = atomicAdd(next, 1u);
    __syncthreads();
    const unsigned at = line;
    __syncthreads();
    if (at >= height) break;
    for (unsigned k = threadIdx.x; k < width; k += blockDim.x) {
      const float re = -2 + 3 * static_cast<float>(k) / static_cast<float>(width);
      const float im = -1.2f + 2.4f * static_cast<float>(at) / static_cast<float>(height);
      float a = 0, b = 0;
      int i = 0;
      for (; i < most && a * a + b * b < 4; ++i) {
        const float t = a * a - b * b + re;
        b = 2 * a * b + im;
        a = t;
      }
      out[at * width + k] = i;
    }
  }
}

// Chunks of several elements for each thread, or for each block.
__global__ void chunks(unsigned long long* next, const float* in, float* out,
                       unsigned long long n) {
  constexpr unsigned long long each = 4;
  for (unsigned long long at = atomicAdd(next, each); at < n; at = atomicAdd(next, each))
    for (unsigned long long k = at; k < min(at + each, n); ++k) out[k] = sqrtf(in[k]) + 1;
}
__global__ void block_chunks(unsigned* next, const float* in, float* out, unsigned n) {
  __shared__ unsigned drawn;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) drawn = atomicAdd(next, blockDim.x);
    __syncthreads();
    if (drawn >= n) return;
    const unsigned i = drawn + threadIdx.x;
    if (i < n) {
      float x = in[i];
      for (int k = 0; k < 50; ++k) x = x * x + 0.25f;
      out[i] = x;
    }
  }
}

class draws {
 public:
  draws() {
    for (float** each : {&a_, &b_, &c_}) {
      MUST(cudaMalloc(each, words * sizeof(float)));
      MUST(cudaMemset(*each, 0, words * sizeof(float)));
    }
    MUST(cudaMalloc(&next_, sizeof(unsigned long long)));
    std::vector<int> begin(1, 0), column;
    for (int row = 0; row < rows; ++row) {
      const int length = row % 37 == 0 ? 1000 : 20 + row % 50;
      for (int k = 0; k < length; ++k) column.push_back((row * 7 + k * 13) % rows);
      begin.push_back(static_cast<int>(column.size()));
    }
    MUST(cudaMalloc(&begin_, begin.size() * sizeof(int)));
    MUST(cudaMalloc(&column_, column.size() * sizeof(int)));
    MUST(cudaMemcpy(begin_, begin.data(), begin.size() * sizeof(int), cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(column_, column.data(), column.size() * sizeof(int), cudaMemcpyHostToDevice));
  }
  void run() const {
    auto* counter = reinterpret_cast<int*>(next_);
    auto* number = reinterpret_cast<unsigned*>(next_);
    auto* picture = reinterpret_cast<int*>(c_);
    for (const int blocks : {132, 500, 1056}) {
      const std::string by = "." + std::to_string(blocks);
      for (const int n : {256, 512})
        draw("product." + std::to_string(n) + by,
             [&] { product<<<blocks, dim3(tile, tile)>>>(counter, a_, b_, c_, n); });
      draw("sparse" + by,
           [&] { sparse<<<blocks, 128>>>(counter, begin_, column_, a_, b_, c_, rows); });
      draw("fractal.200" + by, [&] { fractal<<<blocks, 128>>>(number, picture, 512, 512, 200); });
      draw("chunks" + by, [&] { chunks<<<blocks, 256>>>(next_, a_, c_, 500000); });
      draw("block_chunks" + by, [&] { block_chunks<<<blocks, 512>>>(number, a_, c_, 1000000); });
    }
  }

 private:
  static constexpr unsigned words = 2 << 20;
  static constexpr int rows = 20000;

  template <class Launch>
  void draw(const std::string& key, Launch launch) const {
    told(key, [&] {
      MUST(cudaMemset(next_, 0, sizeof(unsigned long long)));
      MUST(cudaDeviceSynchronize());
      const auto begin = clk::now();
      launch();
      MUST(cudaDeviceSynchronize());
      return microseconds(begin, clk::now());
    });
  }

  float *a_ = nullptr, *b_ = nullptr, *c_ = nullptr;
  int *begin_ = nullptr, *column_ = nullptr;
  unsigned long long* next_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  draws().run();
  return end();
}
