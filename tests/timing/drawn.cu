// Kernels whose threads, warps or blocks draw their work from a counter: whoever is done takes the
// next item, so that the work spreads over all that are there, whatever an item takes.
#include "unseen/measure.h"

namespace {

constexpr unsigned all_lanes = 0xffffffffu;
constexpr unsigned row_words = 1024;

// How much item i of n is: all alike, one in eight 17 times as much as the others, or the more the
// later it is drawn.
enum class item { even, some, growing };

__device__ unsigned rounds_of(item kind, unsigned i, unsigned n, unsigned rounds) {
  if (kind == item::some) return (i * 2654435761u) >> 29 == 0 ? rounds * 17 / 3 : rounds / 3;
  if (kind == item::growing) return 2 * rounds * i / n;
  return rounds;
}
__device__ float chain(float x, unsigned rounds) {
  for (unsigned k = 0; k < rounds; ++k) x = x * 0.999f + 0.5f;
  return x;
}

// --- arithmetic

__global__ void threads_compute(unsigned* next, float* out, unsigned n, unsigned rounds,
                                item kind) {
  float x = static_cast<float>(threadIdx.x & 3);
  unsigned i;
  while ((i = atomicAdd(next, 1)) < n) x = chain(x, rounds_of(kind, i, n, rounds));
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void warps_compute(unsigned* next, float* out, unsigned n, unsigned rounds, item kind) {
  float x = static_cast<float>(threadIdx.x & 3);
  while (true) {
    unsigned i = 0;
    if (threadIdx.x % 32 == 0) i = atomicAdd(next, 1);
    i = __shfl_sync(all_lanes, i, 0);
    if (i >= n) break;
    x = chain(x, rounds_of(kind, i, n, rounds));
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void blocks_compute(unsigned* next, float* out, unsigned n, unsigned rounds, item kind) {
  __shared__ unsigned drawn;
  float x = static_cast<float>(threadIdx.x & 3);
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) drawn = atomicAdd(next, 1);
    __syncthreads();
    if (drawn >= n) break;
    x = chain(x, rounds_of(kind, drawn, n, rounds));
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
// The first item is the block's own, and those after it are drawn.
__global__ void blocks_begin(unsigned* next, float* out, unsigned n, unsigned rounds, item kind) {
  __shared__ unsigned drawn;
  float x = static_cast<float>(threadIdx.x & 3);
  for (unsigned i = blockIdx.x; i < n;) {
    x = chain(x, rounds_of(kind, i, n, rounds));
    if (threadIdx.x == 0) drawn = gridDim.x + atomicAdd(next, 1);
    __syncthreads();
    i = drawn;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// --- memory: a float of each thread, a row of each warp or block

__global__ void threads_move(unsigned* next, const float* in, float* out, unsigned n) {
  unsigned i;
  while ((i = atomicAdd(next, 1)) < n) out[i] = in[i] + 1;
}
__global__ void warps_move(unsigned* next, const float* in, float* out, unsigned n) {
  const unsigned lane = threadIdx.x % 32;
  while (true) {
    unsigned i = 0;
    if (lane == 0) i = atomicAdd(next, 1);
    i = __shfl_sync(all_lanes, i, 0);
    if (i >= n) break;
    for (unsigned k = lane; k < row_words; k += 32)
      out[i * row_words + k] = in[i * row_words + k] + 1;
  }
}
__global__ void blocks_move(unsigned* next, const float* in, float* out, unsigned n) {
  __shared__ unsigned drawn;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) drawn = atomicAdd(next, 1);
    __syncthreads();
    if (drawn >= n) break;
    const unsigned row = drawn * row_words * 4;
    for (unsigned k = threadIdx.x; k < row_words * 4; k += blockDim.x)
      out[row + k] = in[row + k] + 1;
  }
}
// The sum of each row.
__global__ void blocks_add(unsigned* next, const float* in, float* out, unsigned n) {
  __shared__ unsigned drawn;
  __shared__ float part[8];
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) drawn = atomicAdd(next, 1);
    __syncthreads();
    if (drawn >= n) break;
    float sum = 0;
    for (unsigned k = threadIdx.x; k < row_words * 4; k += blockDim.x)
      sum += in[drawn * row_words * 4 + k];
    for (unsigned d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(all_lanes, sum, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (unsigned w = 1; w < blockDim.x / 32; ++w) sum += part[w];
      out[drawn] = sum;
    }
  }
}

class drawn {
 public:
  drawn() {
    MUST(cudaMalloc(&in_, words * sizeof(float)));
    MUST(cudaMalloc(&out_, words * sizeof(float)));
    MUST(cudaMalloc(&next_, sizeof(unsigned)));
    MUST(cudaMemset(in_, 0, words * sizeof(float)));
  }
  void run() const {
    for (const int blocks : {66, 132, 1056, 4096}) {
      const auto by = [&](const char* what) { return what + ("." + std::to_string(blocks)); };
      const unsigned many = blocks < 1056 ? 1 : 2;
      compute(by("threads.short"), threads_compute, blocks, many * 60000, 100, item::even);
      compute(by("threads.some"), threads_compute, blocks, many * 20000, 600, item::some);
      compute(by("warps.short"), warps_compute, blocks, many * 4000, 200, item::even);
      compute(by("warps.some"), warps_compute, blocks, many * 1500, 800, item::some);
      compute(by("blocks.short"), blocks_compute, blocks, many * 1500, 200, item::even);
      compute(by("blocks.some"), blocks_compute, blocks, many * 500, 600, item::some);
      move(by("threads.move"), threads_move, blocks, 400000);
      move(by("warps.move"), warps_move, blocks, 4000);
      move(by("blocks.move"), blocks_move, blocks, 1000);
      move(by("blocks.add"), blocks_add, blocks, 1000);
    }
    // Fewer items than there is room for, as many, a few more, and such that get longer.
    for (const unsigned n : {20u, 100u, 132u, 140u, 400u}) {
      const std::string items = "of" + std::to_string(n);
      compute("blocks.long.132." + items, blocks_compute, 132, n, 4000, item::even);
      compute("blocks.long.1056." + items, blocks_compute, 1056, n, 4000, item::even);
      compute("warps.long.132." + items, warps_compute, 132, n, 8000, item::even);
      compute("threads.long.132." + items, threads_compute, 132, n * 32, 8000, item::even);
    }
    compute("blocks.growing.132", blocks_compute, 132, 600, 600, item::growing);
    compute("warps.growing.132", warps_compute, 132, 4000, 600, item::growing);
    compute("threads.growing.132", threads_compute, 132, 100000, 600, item::growing);
    compute("begin.even.132", blocks_begin, 132, 600, 600, item::even);
    compute("begin.some.264", blocks_begin, 264, 600, 600, item::some);
    compute("begin.even.1056", blocks_begin, 1056, 2500, 200, item::even);
  }

 private:
  static constexpr unsigned words = 4 << 20;

  // The counter is put back before, and is not in what is measured.
  template <class Launch>
  void draw(const std::string& key, Launch launch) const {
    told(key, [&] {
      MUST(cudaMemset(next_, 0, sizeof(unsigned)));
      MUST(cudaDeviceSynchronize());
      const auto begin = clk::now();
      launch();
      MUST(cudaDeviceSynchronize());
      return microseconds(begin, clk::now());
    });
  }
  template <class Kernel>
  void compute(const std::string& key, Kernel kernel, int blocks, unsigned n, unsigned rounds,
               item kind) const {
    draw(key, [&] { kernel<<<blocks, 256>>>(next_, out_, n, rounds, kind); });
  }
  template <class Kernel>
  void move(const std::string& key, Kernel kernel, int blocks, unsigned n) const {
    draw(key, [&] { kernel<<<blocks, 256>>>(next_, in_, out_, n); });
  }

  float *in_ = nullptr, *out_ = nullptr;
  unsigned* next_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  drawn().run();
  return end();
}
