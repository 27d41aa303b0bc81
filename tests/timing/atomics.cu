// Atomics that meet: many threads at one address or few, by type, by operation, and by what the
// compiler can know of the address.
#include "unseen/measure.h"

namespace {

constexpr unsigned wide = 256;

__device__ unsigned index() { return blockIdx.x * blockDim.x + threadIdx.x; }

struct add {
  template <class T>
  __device__ T operator()(T* at, T value) const {
    return atomicAdd(at, value);
  }
};
struct most {
  template <class T>
  __device__ T operator()(T* at, T value) const {
    return atomicMax(at, value);
  }
};
struct any_bit {
  template <class T>
  __device__ T operator()(T* at, T value) const {
    return atomicOr(at, value);
  }
};
struct exchange {
  template <class T>
  __device__ T operator()(T* at, T value) const {
    return atomicExch(at, value);
  }
};
struct compare {
  template <class T>
  __device__ T operator()(T* at, T value) const {
    return atomicCAS(at, T{0}, value);
  }
};

/// All threads, the same value or one of their own.
template <class T, class F>
__global__ void same_value(T* at, F f) {
  f(at, T{1});
}
template <class T, class F>
__global__ void own_value(T* at, F f) {
  f(at, static_cast<T>(index() & 7));
}
/// The old value is asked for.
template <class T, class F>
__global__ void with_answer(T* at, T* out, F f) {
  out[index()] = f(at, T{1});
}
/// Two of three threads.
template <class T, class F>
__global__ void some_threads(T* at, F f) {
  if (index() % 3 != 0) f(at, T{1});
}
/// The same address, but only the program knows.
template <class T, class F>
__global__ void loaded_place(T* at, const unsigned* place, F f) {
  f(at + place[index()], T{1});
}
/// One for each block, and one for each warp.
template <class T, class F>
__global__ void by_block(T* at, F f, unsigned spread) {
  f(at + (blockIdx.x & spread) * 32, T{1});
}
template <class T, class F>
__global__ void by_warp(T* at, F f, unsigned spread) {
  f(at + (index() / 32 & spread) * 32, T{1});
}
template <class T, class F>
__global__ void in_a_loop(T* at, F f, int loops) {
  for (int i = 0; i < loops; ++i) f(at, static_cast<T>(i));
}
template <class T, class F>
__global__ void in_shared(T* out, F f, int loops) {
  __shared__ T sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int i = 0; i < loops; ++i) f(&sum, T{1});
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
/// Adjacent threads, adjacent words of a table.
template <class T, class F>
__global__ void rows(T* at, F f, unsigned spread) {
  f(at + (index() & spread), T{1});
}

template <class T>
class atomics {
 public:
  atomics(const char* type, void* memory, const unsigned* zeros)
      : type_(type), at_(static_cast<T*>(memory)), out_(at_ + (1 << 16)), zeros_(zeros) {}

  void sums() {
    for (const unsigned ki : {64u, 512u, 2048u, 8192u}) {
      const unsigned blocks = ki * 1024 / wide;
      const std::string n = "." + std::to_string(ki) + "K";
      wall(key("same") + n, [&] { same_value<<<blocks, wide>>>(at_, add{}); });
      wall(key("own") + n, [&] { own_value<<<blocks, wide>>>(at_, add{}); });
      wall(key("answer") + n, [&] { with_answer<<<blocks, wide>>>(at_, out_, add{}); });
      wall(key("some") + n, [&] { some_threads<<<blocks, wide>>>(at_, add{}); });
      wall(key("loaded") + n, [&] { loaded_place<<<blocks, wide>>>(at_, zeros_, add{}); });
    }
    const unsigned blocks = 2048 * 1024 / wide;
    for (const unsigned spread : {3u, 31u, 255u}) {
      const std::string n = "." + std::to_string(spread + 1);
      wall(key("by_block") + n, [&] { by_block<<<blocks, wide>>>(at_, add{}, spread); });
      wall(key("by_warp") + n, [&] { by_warp<<<blocks, wide>>>(at_, add{}, spread); });
      wall(key("rows") + n, [&] { rows<<<blocks, wide>>>(at_, add{}, spread); });
    }
    for (const int loops : {4, 24})
      wall(key("loop") + "." + std::to_string(loops),
           [&] { in_a_loop<<<1056, wide>>>(at_, add{}, loops); });
    for (const int loops : {4, 32})
      wall(key("shared") + "." + std::to_string(loops),
           [&] { in_shared<<<1056, wide>>>(at_, add{}, loops); });
  }

  template <class F>
  void other(const char* name, F f) {
    for (const unsigned ki : {512u, 2048u}) {
      const unsigned blocks = ki * 1024 / wide;
      const std::string n = std::string(".") + name + "." + std::to_string(ki) + "K";
      wall(key("same") + n, [&] { same_value<<<blocks, wide>>>(at_, f); });
      wall(key("own") + n, [&] { own_value<<<blocks, wide>>>(at_, f); });
    }
  }

 private:
  std::string key(const char* what) const { return std::string(type_) + "." + what; }

  const char* type_;
  T *at_, *out_;
  const unsigned* zeros_;
};

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  void* memory;
  unsigned* zeros;
  constexpr std::size_t bytes = 128 * mib;
  MUST(cudaMalloc(&memory, bytes));
  MUST(cudaMalloc(reinterpret_cast<void**>(&zeros), 32 * mib));
  MUST(cudaMemset(memory, 0, bytes));
  MUST(cudaMemset(zeros, 0, 32 * mib));
  atomics<unsigned> of_unsigned("unsigned", memory, zeros);
  of_unsigned.sums();
  of_unsigned.other("max", most{});
  of_unsigned.other("or", any_bit{});
  of_unsigned.other("exchange", exchange{});
  of_unsigned.other("compare", compare{});
  atomics<int>("int", memory, zeros).sums();
  atomics<unsigned long long> of_long("long", memory, zeros);
  of_long.sums();
  of_long.other("max", most{});
  atomics<float>("float", memory, zeros).sums();
  atomics<double>("double", memory, zeros).sums();
  return end();
}
