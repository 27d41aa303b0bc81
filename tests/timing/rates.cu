// What a kernel's instructions take, one kind at a time: the program behind the rates and latencies
// in a device's profile. Every kernel does one thing many times over.
#include "unseen/measure.h"

namespace {

constexpr int full = 132 * 8, wide = 256;  // blocks and threads that fill an H200
constexpr int rounds = 256;

__device__ std::size_t index() {
  return blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
}
__device__ std::size_t all() { return gridDim.x * static_cast<std::size_t>(blockDim.x); }

// --- arithmetic: f again and again, in one chain or in four

struct multiply_add {
  template <class T>
  __device__ T operator()(T x) const {
    return x * T(0.999) + T(0.5);
  }
};
struct integer_add {
  __device__ unsigned operator()(unsigned x) const { return (x ^ 0x55) + 0x1234; }
};
struct integer_multiply {
  __device__ unsigned operator()(unsigned x) const { return x * x + 1013904223u; }
};
struct mixed_bits {
  __device__ unsigned operator()(unsigned x) const { return (x ^ (x >> 7)) + (x << 3); }
};
struct choice {
  __device__ int operator()(int x) const { return max(x - 7, 3) ^ 0x11; }
};
struct integer_division {
  __device__ unsigned operator()(unsigned x) const { return 0xfedcba98u / (x | 3) + 7; }
};
struct sine {
  __device__ float operator()(float x) const { return sinf(x) + 0.1f; }
};
struct quick_sine {
  __device__ float operator()(float x) const { return __sinf(x) + 0.1f; }
};
struct exponential {
  __device__ float operator()(float x) const { return expf(-x); }
};
struct logarithm {
  __device__ float operator()(float x) const { return logf(x + 2); }
};
struct power {
  __device__ float operator()(float x) const { return powf(x + 1.5f, 0.7f); }
};
struct root {
  __device__ float operator()(float x) const { return sqrtf(x + 1); }
};
struct one_by_root {
  __device__ float operator()(float x) const { return rsqrtf(x + 1); }
};
struct division {
  __device__ float operator()(float x) const { return 3.0f / (x + 1); }
};
struct hyperbolic {
  __device__ float operator()(float x) const { return tanhf(x + 0.3f); }
};
struct double_division {
  __device__ double operator()(double x) const { return 3.0 / (x + 1); }
};
struct double_root {
  __device__ double operator()(double x) const { return sqrt(x + 1); }
};
struct double_exponential {
  __device__ double operator()(double x) const { return exp(-x); }
};
struct double_sine {
  __device__ double operator()(double x) const { return sin(x) + 0.1; }
};
struct conversion {
  __device__ float operator()(float x) const {
    return static_cast<float>(static_cast<int>(x)) + 1.5f;
  }
};

template <class T, class F>
__global__ void chain(T* out, int loops, F f) {
  T x = T(threadIdx.x & 3) + T(1);
  for (int i = 0; i < loops; ++i) x = f(x);
  out[index()] = x;
}
template <class T, class F>
__global__ void four_chains(T* out, int loops, F f) {
  T x = T(threadIdx.x & 3), y = T(1), z = T(2), w = T(3);
  for (int i = 0; i < loops; ++i) x = f(x), y = f(y), z = f(z), w = f(w);
  out[index()] = x + y + z + w;
}

// --- memory

template <class T>
__global__ void read_all(const T* in, T* out, std::size_t n) {
  T sum{};
  for (std::size_t i = index(); i < n; i += all()) {
    const T v = in[i];
    sum.x += v.x + v.y + v.z + v.w;
  }
  if (sum.x == 12345) out[0] = sum;
}
__global__ void read_words(const float* in, float* out, std::size_t n) {
  float sum = 0;
  for (std::size_t i = index(); i < n; i += all()) sum += in[i];
  if (sum == 12345) out[0] = sum;
}
template <class T>
__global__ void copy_one(const T* in, T* out, std::size_t n) {
  const std::size_t i = index();
  if (i < n) out[i] = in[i];
}
template <class T>
__global__ void write_one(T* out, std::size_t n) {
  const std::size_t i = index();
  if (i < n) out[i] = T{};
}
__global__ void read_strided(const float* in, float* out, std::size_t n, int stride) {
  const std::size_t i = index();
  if (i < n) out[i] = in[i * stride];
}
__global__ void write_strided(const float* in, float* out, std::size_t n, int stride) {
  const std::size_t i = index();
  if (i < n) out[i * stride] = in[i];
}
__global__ void gather(const float* in, float* out, std::size_t n, unsigned mask) {
  const std::size_t i = index();
  if (i < n) out[i] = in[(static_cast<unsigned>(i) * 2654435761u >> 3) & mask];
}
__global__ void own_rows(const float* in, float* out, int each) {
  const float* mine = in + index() * each;
  float sum = 0;
  for (int k = 0; k < each; ++k) sum += mine[k];
  out[index()] = sum;
}
__global__ void make_chain(unsigned* next, unsigned n, unsigned step) {
  for (unsigned i = static_cast<unsigned>(index()); i < n; i += static_cast<unsigned>(all()))
    next[i * 32] = ((i + step) % n) * 32;
}
__global__ void follow(const unsigned* next, unsigned* out, int loops) {
  unsigned at = *out;  // where the last one was: what it did not read is in no cache
  for (int i = 0; i < loops; ++i) at = next[at];
  *out = at;
}

// --- shared memory, barriers, warps, atomics, blocks

__global__ void shared_reads(float* out, int loops, int stride) {
  __shared__ float data[8192];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) data[i] = 0;
  __syncthreads();
  float sum = 0;
  int at = threadIdx.x * stride & 8191;
  for (int i = 0; i < loops; ++i) {
    sum += data[at];
    at = (at + 32) & 8191;
  }
  out[index()] = sum;
}
__global__ void shared_reads_wide(float* out, int loops, int stride) {
  __shared__ float4 data[2048];
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) data[i] = float4{};
  __syncthreads();
  float sum = 0;
  int at = threadIdx.x * stride & 2047;
  for (int i = 0; i < loops; ++i) {
    const float4 v = data[at];
    sum += v.x + v.y + v.z + v.w;
    at = (at + 32) & 2047;
  }
  out[index()] = sum;
}
__global__ void shared_chain(unsigned* out, int loops) {
  __shared__ unsigned next[256];
  next[threadIdx.x & 255] = (threadIdx.x + 1) & 255;
  __syncthreads();
  unsigned at = threadIdx.x;
  for (int i = 0; i < loops; ++i) at = next[at];
  out[index()] = at;
}
__global__ void barriers(float* out, int loops) {
  __shared__ float one;
  float x = 0;
  for (int i = 0; i < loops; ++i) {
    if (threadIdx.x == 0) one = x;
    __syncthreads();
    x += 1;
  }
  out[index()] = x + one;
}
__global__ void shuffles(float* out, int loops) {
  float x = threadIdx.x;
  for (int i = 0; i < loops; ++i) x += __shfl_xor_sync(~0u, x, 1 << (i & 3));
  out[index()] = x;
}
__global__ void add_to(unsigned* bins, int loops, unsigned spread) {
  unsigned at = static_cast<unsigned>(index());
  for (int i = 0; i < loops; ++i) {
    atomicAdd(&bins[at & spread], 1u);
    at = at * 5 + 131;
  }
}
__global__ void add_to_shared(unsigned* out, int loops, unsigned spread) {
  __shared__ unsigned bins[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  unsigned at = threadIdx.x;
  for (int i = 0; i < loops; ++i) {
    atomicAdd(&bins[at & spread], 1u);
    at += 37;
  }
  __syncthreads();
  out[index()] = bins[threadIdx.x];
}
__global__ void nothing_much(float* out, int never) {
  if (never) out[index()] = 1;
}

class rates {
 public:
  rates() {
    MUST(cudaMalloc(reinterpret_cast<void**>(&a_), bytes));
    MUST(cudaMalloc(reinterpret_cast<void**>(&b_), bytes));
    MUST(cudaMemset(a_, 0, bytes));
    MUST(cudaMemset(b_, 0, bytes));
  }
  void run() {
    arithmetic();
    functions();
    streams_of_memory();
    patterns();
    latencies();
    multiprocessor();
  }

 private:
  static constexpr std::size_t bytes = std::size_t{160} << 20;

  template <class T, class F>
  void both(const std::string& name, F f, int loops = rounds) {
    T* out = reinterpret_cast<T*>(a_);
    wall("full." + name, [&] { four_chains<<<full, wide>>>(out, loops, f); });
  }
  template <class T, class F>
  void alone(const std::string& name, F f) {
    T* out = reinterpret_cast<T*>(a_);
    wall("chain." + name, [&] { chain<<<1, 32>>>(out, 20000, f); });
  }

  void arithmetic() {
    both<float>("multiply_add", multiply_add{});
    both<double>("double_multiply_add", multiply_add{});
    both<unsigned>("integer_add", integer_add{});
    both<unsigned>("integer_multiply", integer_multiply{});
    both<unsigned>("mixed_bits", mixed_bits{});
    both<int>("choice", choice{});
    both<float>("conversion", conversion{}, rounds / 2);
    alone<float>("multiply_add", multiply_add{});
    alone<double>("double_multiply_add", multiply_add{});
    alone<unsigned>("integer_add", integer_add{});
    alone<unsigned>("integer_multiply", integer_multiply{});
    alone<float>("one_by_root", one_by_root{});
    // Few warps: 1, 2, 4 and 8 for each of a multiprocessor's four schedulers.
    for (const int warps : {4, 8, 16, 32})
      wall("chains.warps" + std::to_string(warps),
           [&] { chain<<<132, warps * 32>>>(a_, 4000, multiply_add{}); });
  }

  void functions() {
    const int loops = rounds / 8;
    both<unsigned>("integer_division", integer_division{}, loops);
    both<float>("sine", sine{}, loops);
    both<float>("quick_sine", quick_sine{}, loops);
    both<float>("exponential", exponential{}, loops);
    both<float>("logarithm", logarithm{}, loops);
    both<float>("power", power{}, loops / 2);
    both<float>("root", root{}, loops);
    both<float>("one_by_root", one_by_root{}, loops);
    both<float>("division", division{}, loops);
    both<float>("hyperbolic", hyperbolic{}, loops);
    both<double>("double_division", double_division{}, loops / 2);
    both<double>("double_root", double_root{}, loops / 2);
    both<double>("double_exponential", double_exponential{}, loops / 2);
    both<double>("double_sine", double_sine{}, loops / 2);
  }

  void streams_of_memory() {
    for (const std::size_t mib : {8, 32, 160}) {
      const std::size_t n = (mib << 20) / sizeof(float4);
      const std::string size = std::to_string(mib) + "M";
      const auto* in = reinterpret_cast<const float4*>(a_);
      auto* out = reinterpret_cast<float4*>(b_);
      wall("read4." + size, [&] { read_all<<<full, wide>>>(in, out, n); });
      wall("read1." + size, [&] { read_words<<<full, wide>>>(a_, b_, n * 4); });
      wall("copy4." + size,
           [&] { copy_one<<<static_cast<unsigned>(n / wide / 2), wide>>>(in, out, n / 2); });
      wall("copy1." + size,
           [&] { copy_one<<<static_cast<unsigned>(n * 4 / wide / 2), wide>>>(a_, b_, n * 2); });
      wall("write4." + size, [&] { write_one<<<static_cast<unsigned>(n / wide), wide>>>(out, n); });
      wall("write1." + size,
           [&] { write_one<<<static_cast<unsigned>(n * 4 / wide), wide>>>(b_, n * 4); });
    }
    // Few multiprocessors, and few threads on each of them.
    for (const int blocks : {1, 16, 66})
      wall("read4.blocks" + std::to_string(blocks), [&] {
        read_all<<<blocks, 1024>>>(reinterpret_cast<const float4*>(a_),
                                   reinterpret_cast<float4*>(b_),
                                   static_cast<std::size_t>(blocks) << 14);
      });
    for (const int threads : {32, 128, 512})
      wall("read1.threads" + std::to_string(threads),
           [&] { read_words<<<132, threads>>>(a_, b_, std::size_t{132} * threads * 32); });
  }

  void patterns() {
    constexpr std::size_t n = std::size_t{1} << 20;
    const unsigned blocks = n / wide;
    for (const int stride : {2, 8, 32}) {
      const std::string name = std::to_string(stride);
      wall("read_stride" + name, [&] { read_strided<<<blocks, wide>>>(a_, b_, n, stride); });
      wall("write_stride" + name, [&] { write_strided<<<blocks, wide>>>(a_, b_, n, stride); });
    }
    wall("gather.4M", [&] { gather<<<blocks * 4, wide>>>(a_, b_, n * 4, (1u << 20) - 1); });
    wall("gather.128M", [&] { gather<<<blocks * 4, wide>>>(a_, b_, n * 4, (32u << 20) - 1); });
    wall("own_rows.16", [&] { own_rows<<<full, wide>>>(a_, b_, 16); });
    wall("own_rows.64", [&] { own_rows<<<full, wide>>>(a_, b_, 64); });
  }

  void latencies() {
    auto* next = reinterpret_cast<unsigned*>(a_);
    auto* out = reinterpret_cast<unsigned*>(b_);
    // Lines of 128 bytes: what the first-level cache holds, the second, and neither.
    for (const unsigned lines : {256u, 1u << 16, 5u << 18}) {
      make_chain<<<full, wide>>>(next, lines, lines / 3 * 2 + 1);
      MUST(cudaMemset(out, 0, sizeof *out));
      wall("follow." + std::to_string(lines / 8) + "K", [&] { follow<<<1, 1>>>(next, out, 2000); });
    }
    wall("follow.shared", [&] { shared_chain<<<1, 32>>>(out, 10000); });
    MUST(cudaMemset(a_, 0, bytes));
  }

  void multiprocessor() {
    auto* bins = reinterpret_cast<unsigned*>(b_);
    for (const int stride : {0, 1})
      wall("shared_wide.stride" + std::to_string(stride),
           [&] { shared_reads_wide<<<132 * 4, 512>>>(a_, rounds / 2, stride); });
    for (const int stride : {0, 1, 2, 8, 32})
      wall("shared.stride" + std::to_string(stride),
           [&] { shared_reads<<<132 * 4, 512>>>(a_, rounds / (stride > 8 ? 8 : 1), stride); });
    for (const int threads : {64, 256, 1024}) {
      const std::string name = std::to_string(threads);
      wall("barriers.alone." + name, [&] { barriers<<<132, threads>>>(a_, 500); });
      wall("barriers.full." + name, [&] { barriers<<<132 * 2048 / threads, threads>>>(a_, 100); });
    }
    wall("shuffles.full", [&] { shuffles<<<full, wide>>>(a_, rounds / 2); });
    wall("shuffles.chain", [&] { shuffles<<<1, 32>>>(a_, 5000); });
    for (const unsigned spread : {0u, 31u, 1023u, (1u << 22) - 1}) {
      const std::string name = std::to_string(spread + 1);
      wall("atomics." + name, [&] { add_to<<<full, wide>>>(bins, 4, spread); });
    }
    for (const unsigned spread : {0u, 31u, 1023u})
      wall("shared_atomics." + std::to_string(spread + 1),
           [&] { add_to_shared<<<full, wide>>>(bins, 32, spread); });
    for (const int threads : {32, 256, 1024})
      wall("blocks." + std::to_string(threads),
           [&] { nothing_much < < < 1 << 22 >> 5, threads >>> (a_, 0); });
  }

  float *a_, *b_;
};

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  rates().run();
  return end();
}
