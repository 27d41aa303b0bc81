// Kernels whose threads wait for each other, and the same work by OpenMP. `waiting PROBLEM`:
// milliseconds of both.
#include <cuda_runtime.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace {

constexpr int elements = 1 << 19, width = 256, slots = 1 << 20;

void check(bool good, const char* what) {
  if (good && cudaGetLastError() == cudaSuccess) return;
  std::fprintf(stderr, "wrong result: %s\n", what);
  std::exit(1);
}

template <class Type>
Type* allocate(std::size_t count) {
  void* memory = nullptr;
  check(cudaMallocManaged(&memory, count * sizeof(Type)) == cudaSuccess, "memory");
  return static_cast<Type*>(memory);
}

template <class Prepare, class Work>
double milliseconds(Prepare&& prepare, Work&& work) {
  std::vector<double> took;
  for (int i = 0; i < 6; ++i) {
    prepare();
    const auto begin = std::chrono::steady_clock::now();
    work();
    took.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  std::sort(took.begin() + 1, took.end());  // the first is not counted
  return took[3];
}

// --- a hash table

__global__ void insert(unsigned* table, int* counts, const unsigned* keys, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (unsigned at = keys[i] * 2654435761u % slots;; at = at + 1 == slots ? 0 : at + 1) {
    const unsigned old = atomicCAS(&table[at], ~0u, keys[i]);
    if (old != ~0u && old != keys[i]) continue;
    atomicAdd(&counts[at], 1);
    return;
  }
}

std::pair<double, double> hash_table() {
  auto* table = allocate<unsigned>(slots);
  auto* counts = allocate<int>(slots);
  auto* keys = allocate<unsigned>(elements);
  for (int i = 0; i < elements; ++i) keys[i] = unsigned(i) * 7919u;
  const auto clear = [&] {
    std::memset(table, 255, slots * sizeof(unsigned));
    std::memset(counts, 0, slots * sizeof(int));
  };
  const auto full = [&] { check(std::accumulate(counts, counts + slots, 0) == elements, "table"); };
  const double ours = milliseconds(clear, [&] {
    insert<<<elements / width, width>>>(table, counts, keys, elements);
    cudaDeviceSynchronize();
  });
  full();
  const double theirs = milliseconds(clear, [&] {
#pragma omp parallel for
    for (int i = 0; i < elements; ++i) {
      for (unsigned at = keys[i] * 2654435761u % slots;; at = at + 1 == slots ? 0 : at + 1) {
        unsigned old = ~0u;
        if (!std::atomic_ref(table[at]).compare_exchange_strong(old, keys[i],
                                                                std::memory_order_relaxed) &&
            old != keys[i])
          continue;
        std::atomic_ref(counts[at]).fetch_add(1, std::memory_order_relaxed);
        break;
      }
    }
  });
  full();
  return {ours, theirs};
}

// --- a scan in one pass: each tile looks back at those before it

__device__ int next_tile;

__global__ void look_back(const unsigned* in, unsigned* out, volatile unsigned long long* states) {
  __shared__ int drawn;
  __shared__ unsigned sums[width], before;
  const int t = threadIdx.x;
  if (t == 0) drawn = atomicAdd(&next_tile, 1);
  __syncthreads();
  const int tile = drawn;
  sums[t] = in[tile * width + t];
  __syncthreads();
  for (int step = 1; step < width; step <<= 1) {
    const unsigned other = t >= step ? sums[t - step] : 0;
    __syncthreads();
    sums[t] += other;
    __syncthreads();
  }
  if (t == 0) {
    const unsigned total = sums[width - 1];
    unsigned all = 0;
    states[tile] = ((tile == 0 ? 2ull : 1ull) << 32) | total;
    for (int at = tile - 1; at >= 0; --at) {
      unsigned long long state;
      while (((state = states[at]) >> 32) == 0) {
      }
      all += static_cast<unsigned>(state);
      if (state >> 32 == 2) break;
    }
    states[tile] = (2ull << 32) | (all + total);
    before = all;
  }
  __syncthreads();
  out[tile * width + t] = before + sums[t];
}

std::pair<double, double> scan() {
  auto* in = allocate<unsigned>(elements);
  auto* out = allocate<unsigned>(elements);
  auto* states = allocate<unsigned long long>(elements / width);
  for (int i = 0; i < elements; ++i) in[i] = unsigned(i) * 2654435761u >> 20;
  std::vector<unsigned> expected(elements);
  std::partial_sum(in, in + elements, expected.begin());
  const auto clear = [&] {
    const int zero = 0;
    cudaMemcpyToSymbol(next_tile, &zero, sizeof(zero));
    std::memset(states, 0, elements / width * sizeof(*states));
    std::memset(out, 0, elements * sizeof(unsigned));
  };
  const auto right = [&] { check(std::equal(expected.begin(), expected.end(), out), "scan"); };
  const double ours = milliseconds(clear, [&] {
    look_back<<<elements / width, width>>>(in, out, states);
    cudaDeviceSynchronize();
  });
  right();
  std::vector<unsigned> sums(omp_get_max_threads() + 1);
  const double theirs = milliseconds(clear, [&] {
#pragma omp parallel
    {
      const int me = omp_get_thread_num(), threads = omp_get_num_threads();
      const int first = int(1ll * elements * me / threads),
                last = int(1ll * elements * (me + 1) / threads);
      unsigned sum = 0;
      for (int i = first; i < last; ++i) sum += in[i];
      sums[me + 1] = sum;
#pragma omp barrier
      sum = 0;
      for (int i = 1; i <= me; ++i) sum += sums[i];
      for (int i = first; i < last; ++i) out[i] = sum += in[i];
    }
  });
  right();
  return {ours, theirs};
}

// --- a barrier of all blocks, as programs make it

__global__ void rounds(volatile int* arrived, int count, int* data) {
  int& mine = data[blockIdx.x * blockDim.x + threadIdx.x];
  for (int round = 1; round <= count; ++round) {
    mine += round;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(const_cast<int*>(arrived), 1);
      while (*arrived < round * int(gridDim.x)) {
      }
    }
    __syncthreads();
  }
}

// --- the same, where who waits sleeps longer and longer between two looks

__global__ void rounds_with_sleep(volatile int* arrived, int count, int* data) {
  int& mine = data[blockIdx.x * blockDim.x + threadIdx.x];
  for (int round = 1; round <= count; ++round) {
    mine += round;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(const_cast<int*>(arrived), 1);
      for (unsigned ns = 8; *arrived < round * int(gridDim.x); ns = ns < 256 ? ns * 2 : ns)
        __nanosleep(ns);
    }
    __syncthreads();
  }
}

// --- one lane of each warp waits, beside sums of warps

__global__ void warps(volatile int* arrived, int count, int* data) {
  int& mine = data[blockIdx.x * blockDim.x + threadIdx.x];
  for (int round = 1; round <= count; ++round) {
    int sum = round;
    for (int step = 16; step != 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    mine += sum / 32;
    if (threadIdx.x % 32 == 0) {
      __threadfence();
      atomicAdd(const_cast<int*>(arrived), 1);
      while (*arrived < round * int(gridDim.x * blockDim.x / 32)) {
      }
    }
    __syncwarp();
  }
}

// Every element is the sum of all rounds then.
std::pair<double, double> meetings(void (*kernel)(volatile int*, int, int*), int blocks) {
  constexpr int count = 50;
  const int all = blocks * width;
  auto* data = allocate<int>(all);
  auto* arrived = allocate<int>(1);
  const auto clear = [&] {
    *arrived = 0;
    std::memset(data, 0, all * sizeof(int));
  };
  const auto right = [&] {
    check(std::count(data, data + all, count * (count + 1) / 2) == all, "rounds");
  };
  const double ours = milliseconds(clear, [&] {
    kernel<<<blocks, width>>>(arrived, count, data);
    cudaDeviceSynchronize();
  });
  right();
  const double theirs = milliseconds(clear, [&] {
#pragma omp parallel
    for (int round = 1; round <= count; ++round) {
#pragma omp for
      for (int i = 0; i < all; ++i) data[i] += round;
    }
  });
  right();
  return {ours, theirs};
}

std::pair<double, double> barrier() { return meetings(rounds, 132); }
std::pair<double, double> sleep() { return meetings(rounds_with_sleep, 132); }
std::pair<double, double> lanes() { return meetings(warps, 32); }

// --- sums that blocks bring under a lock

constexpr int polynomial_steps = 2000;

__host__ __device__ float steps_of(int thread) {
  float x = static_cast<float>(thread & 3) * 0.25f;
  for (int i = 0; i < polynomial_steps; ++i) x = x * 0.999f + 0.5f;
  return x;
}

__global__ void bring(float* sum, int* lock) {
  __shared__ float all[width];
  all[threadIdx.x] = steps_of(static_cast<int>(threadIdx.x));
  __syncthreads();
  for (int w = width / 2; w > 0; w /= 2) {
    if (threadIdx.x < w) all[threadIdx.x] += all[threadIdx.x + w];
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *static_cast<volatile float*>(sum) = *static_cast<volatile float*>(sum) + all[0];
  __threadfence();
  atomicExch(lock, 0);
}

std::pair<double, double> lock() {
  constexpr int blocks = 256;
  auto* sum = allocate<float>(1);
  auto* lock = allocate<int>(1);
  *lock = 0;
  const auto clear = [&] { *sum = 0; };
  const double ours = milliseconds(clear, [&] {
    bring<<<blocks, width>>>(sum, lock);
    cudaDeviceSynchronize();
  });
  const float ours_is = *sum;
  const double theirs = milliseconds(clear, [&] {
#pragma omp parallel for schedule(dynamic)
    for (int block = 0; block < blocks; ++block) {
      float all[width];
#pragma omp simd
      for (int t = 0; t < width; ++t) all[t] = static_cast<float>(t & 3) * 0.25f;
      for (int i = 0; i < polynomial_steps; ++i) {
#pragma omp simd
        for (int t = 0; t < width; ++t) all[t] = all[t] * 0.999f + 0.5f;
      }
      const float one = std::accumulate(all, all + width, 0.0f);
#pragma omp critical
      *sum += one;
    }
  });
  check(std::abs(ours_is - *sum) < 1e-3f * *sum && *sum > 0, "sum");
  return {ours, theirs};
}

// --- two blocks, or two threads, in turn

constexpr int turns_of_each = 2000;

__global__ void in_turn(volatile int* turn) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < turns_of_each; ++i) {
    const int mine = 2 * i + static_cast<int>(blockIdx.x);
    while (*turn != mine) {
    }
    *turn = mine + 1;
  }
}

std::pair<double, double> ping_pong() {
  auto* turn = allocate<int>(1);
  const auto clear = [&] { *turn = 0; };
  const double ours = milliseconds(clear, [&] {
    in_turn<<<2, 32>>>(turn);
    cudaDeviceSynchronize();
  });
  check(*turn == 2 * turns_of_each, "turns");
  const double theirs = milliseconds(clear, [&] {
    std::atomic_ref<int> shared(*turn);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < turns_of_each; ++i) {
      const int mine = 2 * i + omp_get_thread_num();
      while (shared.load() != mine) {
      }
      shared.store(mine + 1);
    }
  });
  return {ours, theirs};
}

}  // namespace

int main(int, char** arguments) {
  const std::pair<const char*, std::pair<double, double> (*)()> problems[] = {
      {"hash_table", hash_table}, {"scan", scan}, {"barrier", barrier},    {"sleep", sleep},
      {"lanes", lanes},           {"lock", lock}, {"ping_pong", ping_pong}};
  for (auto [name, run] : problems) {
    if (std::strcmp(name, arguments[1]) != 0) continue;
    auto [ours, theirs] = run();
    std::printf("%f %f\n", ours, theirs);
    return 0;
  }
  return 2;
}
