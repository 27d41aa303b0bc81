// Objects of cuda/atomic, copies of cuda_pipeline.h and names of cuda/std: what they compute.
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda_pipeline.h>

#include "probe.h"

struct pair {
  int a, b;
};
struct counters {
  cuda::atomic<int> all;
  cuda::atomic<unsigned, cuda::thread_scope_device> most, least, bits, either;
  cuda::atomic<unsigned long long, cuda::thread_scope_block> wide;
  cuda::atomic<float, cuda::thread_scope_device> sum;
  cuda::atomic<double> exact;
  cuda::atomic<int*> place;
  cuda::atomic<pair, cuda::thread_scope_device> both;
  cuda::std::atomic<int> exchanged;
  int plain;
  unsigned long long plain_wide;
  float plain_sum;
};

__global__ void count(counters* c, int* won) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  c->all.fetch_add(i, cuda::memory_order_relaxed);
  c->all++;
  --c->all;
  c->all -= 2;
  c->most.fetch_max(static_cast<unsigned>(i * 7 % 251));
  c->least.fetch_min(static_cast<unsigned>(i * 5 % 241 + 3));
  c->bits |= 1u << (i % 31);
  c->either.fetch_xor(static_cast<unsigned>(i), cuda::std::memory_order_acq_rel);
  c->wide += static_cast<unsigned long long>(i) << 20;
  c->sum.fetch_add(0.5f);
  c->exact.fetch_sub(0.25);
  c->place.fetch_add(1);
  pair now = c->both.load(cuda::memory_order_relaxed);
  while (!c->both.compare_exchange_weak(now, pair{now.a + 1, now.b - i})) {
  }
  int free = 0;
  if (c->exchanged.compare_exchange_strong(free, i + 1, cuda::std::memory_order_acquire,
                                           cuda::std::memory_order_relaxed))
    atomicAdd(won, 1);
  cuda::atomic_ref<int, cuda::thread_scope_device> plain(c->plain);
  plain.fetch_add(3);
  ++plain;
  cuda::atomic_ref<unsigned long long>(c->plain_wide).fetch_max(1000ull * i);
  cuda::atomic_ref<float, cuda::thread_scope_device>(c->plain_sum) += 0.125f;
}

// One block hands numbers to the other.
__global__ void hand_over(cuda::atomic<int, cuda::thread_scope_device>* turn, int* data, int* seen) {
  for (int round = 0; round < 20; ++round) {
    if (blockIdx.x == 0) {
      while (turn->load(cuda::memory_order_acquire) != 2 * round) {
      }
      *data = round * round;
      cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
      turn->store(2 * round + 1, cuda::memory_order_relaxed);
    } else {
      turn->wait(2 * round, cuda::memory_order_acquire);
      *seen += *data;
      turn->store(2 * round + 2, cuda::memory_order_release);
      turn->notify_all();
    }
  }
}

__global__ void staged(const int4* in, int* out) {
  __shared__ int4 buffer[2][32];
  const int t = threadIdx.x;
  int sum = 0;
  __pipeline_memcpy_async(&buffer[0][t], &in[t], sizeof(int4));
  __pipeline_commit();
  for (int k = 0; k < 4; ++k) {
    if (k < 3)
      __pipeline_memcpy_async(&buffer[(k + 1) & 1][t], &in[(k + 1) * 32 + t], 16, k == 2 ? 4 : 0);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const int4 v = buffer[k & 1][31 - t];
    sum = sum * 3 + v.x + 2 * v.y + 5 * v.z + 7 * v.w;
    __syncthreads();
  }
  out[t] = sum;
}

template <class T>
__device__ cuda::std::enable_if_t<cuda::std::is_integral<T>::value, T> largest() {
  return cuda::std::numeric_limits<T>::max();
}
__global__ void names(long long* out) {
  cuda::std::array<int, 4> a{3, 1, 4, 1};
  a[2] += 5;
  int x = 1, y = 2;
  cuda::std::swap(x, y);
  const cuda::std::tuple<int, long long> t = cuda::std::make_tuple(7, 1ll << 40);
  const cuda::std::pair<int, int> p{4, 5};
  const cuda::std::uint8_t small = static_cast<cuda::std::uint8_t>(300);
  out[0] = a[0] + a[1] + a[2] + a[3] + static_cast<long long>(a.size());
  out[1] = x * 10 + y;
  out[2] = cuda::std::get<0>(t) + cuda::std::get<1>(t);
  out[3] = p.first * 10 + p.second;
  out[4] = small;
  out[5] = largest<int>();
  out[6] = largest<long long>();
  out[7] = cuda::std::is_same<cuda::std::decay_t<const int&>, int>::value;
  out[8] = cuda::std::exchange(x, 6) + x;
}

static std::string text(const char* format, double v) {
  char t[64];
  std::snprintf(t, sizeof t, format, v);
  return t;
}

int main() {
  watchdog(60);
  counters* c;
  int* won;
  MUST(cudaMallocManaged(&c, sizeof *c));
  MUST(cudaMallocManaged(&won, 4096));
  new (c) counters{};
  c->least = 1000;
  *won = 0;
  int somewhere[1];
  c->place.store(somewhere);
  count<<<8, 128>>>(c, won);
  MUST(cudaDeviceSynchronize());
  say("all", c->all.load());
  say("most.least", std::to_string(c->most) + " " + std::to_string(c->least));
  say("bits.either", std::to_string(c->bits) + " " + std::to_string(c->either));
  say("sum.exact", text("%a", c->sum) + " " + text("%a", c->exact));
  say("place", static_cast<long long>(c->place.load() - somewhere));
  say("both", std::to_string(c->both.load().a) + " " + std::to_string(c->both.load().b));
  say("won", *won);
  say("plain", std::to_string(c->plain) + " " + std::to_string(c->plain_wide) + " " +
                   text("%a", c->plain_sum));
  say("sizes", std::to_string(sizeof(cuda::atomic<char>)) + " " +
                   std::to_string(sizeof(cuda::atomic<double>)) + " " +
                   std::to_string(sizeof(cuda::atomic<pair>)) + " " +
                   std::to_string(alignof(cuda::atomic<pair>)));
  // The host takes part.
  c->all.store(5);
  int host[5];
  host[0] = c->all.exchange(9);
  host[1] = c->all += 3;
  host[2] = c->all.fetch_and(6);
  host[3] = c->all--;
  host[4] = c->all;
  std::string taken;
  for (const int h : host) taken += std::to_string(h) + " ";
  say("host", taken);

  cuda::atomic<int, cuda::thread_scope_device>* turn;
  MUST(cudaMalloc(&turn, sizeof *turn));
  MUST(cudaMemset(turn, 0, sizeof *turn));
  won[0] = won[1] = 0;
  hand_over<<<2, 1>>>(turn, won, won + 1);
  MUST(cudaDeviceSynchronize());
  say("handed", won[1]);

  int4* in;
  MUST(cudaMallocManaged(&in, 128 * sizeof *in));
  for (int i = 0; i < 128; ++i) in[i] = make_int4(i, i * i, 3 - i, i ^ 5);
  staged<<<1, 32>>>(in, won);
  MUST(cudaDeviceSynchronize());
  long long sum = 0;
  for (int i = 0; i < 32; ++i) sum = sum * 31 + won[i];
  say("staged", sum);

  long long* n;
  MUST(cudaMallocManaged(&n, 64 * 8));
  names<<<1, 1>>>(n);
  MUST(cudaDeviceSynchronize());
  std::string all;
  for (int i = 0; i < 9; ++i) all += (i ? " " : "") + std::to_string(n[i]);
  say("names", all);
}
