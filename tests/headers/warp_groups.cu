// Warp functions, cooperative groups and atomics: prints what each of 64 threads got, one line per
// question. h200_warp_groups.tsv holds what an H200 printed; compiles with NVIDIA's nvcc as well.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

constexpr int threads = 64;

// Answers of one thread; the names are the same in all.
struct answers {
  long long* values;
  int count = 0;
  __device__ void say(long long value) { values[threads * count++ + threadIdx.x] = value; }
};

struct wide {
  double a;
  int b, c;
};

__global__ void shuffles(long long* out) {
  answers a{out};
  const int t = threadIdx.x;
  const unsigned all = 0xffffffffu;
  a.say(__shfl_sync(all, t * 3, 5));
  a.say(__shfl_sync(all, t, t + 1));
  a.say(__shfl_sync(all, t, 3, 8));
  a.say(__shfl_up_sync(all, t, 2));
  a.say(__shfl_up_sync(all, t, 3, 8));
  a.say(__shfl_up_sync(all, t, 40));
  a.say(__shfl_down_sync(all, t, 5));
  a.say(__shfl_down_sync(all, t, 3, 16));
  a.say(__shfl_xor_sync(all, t, 7));
  a.say(__shfl_xor_sync(all, t, 9, 8));
  a.say(static_cast<long long>(__shfl_sync(all, t * 1.5, 31)));
  a.say(__shfl_xor_sync(all, static_cast<long long>(t) << 40, 1));
}

__global__ void votes(long long* out) {
  answers a{out};
  const int t = threadIdx.x;
  const unsigned all = 0xffffffffu;
  a.say(__all_sync(all, t < 31));
  a.say(__any_sync(all, t == 7));
  a.say(__uni_sync(all, t > 100));
  a.say(__ballot_sync(all, t & 1));
  a.say(__match_any_sync(all, t % 5));
  int same = 0;
  a.say(__match_all_sync(all, t / 32, &same));
  a.say(same);
  a.say(__reduce_add_sync(all, static_cast<unsigned>(t)));
  a.say(__reduce_min_sync(all, 5 - t));
  a.say(__reduce_max_sync(all, static_cast<unsigned>(5 - t)));
  a.say(__reduce_xor_sync(all, static_cast<unsigned>(t) * 77u));
  a.say(__syncthreads_count(t % 3 == 0));
  a.say(__syncthreads_and(t < 63));
  a.say(__syncthreads_or(t == 63));
}

__global__ void coalesced(long long* out) {
  answers a{out};
  const int t = threadIdx.x;
  if (t >= 20) return;
  a.say(__activemask());
  cg::coalesced_group group = cg::coalesced_threads();
  a.say(group.size());
  a.say(group.thread_rank());
  a.say(group.shfl(t, 3));
  a.say(group.shfl_up(t, 2));
  a.say(group.shfl_down(t, 18));
  a.say(group.ballot(t & 1));
  a.say(cg::reduce(group, t, cg::plus<int>()));
}

__global__ void tiles(long long* out) {
  answers a{out};
  const int t = threadIdx.x;
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto tile = cg::tiled_partition<8>(warp);
  cg::thread_group four = cg::tiled_partition(block, 4);
  a.say(warp.meta_group_rank());
  a.say(warp.meta_group_size());
  a.say(tile.meta_group_rank());
  a.say(tile.meta_group_size());
  a.say(tile.thread_rank());
  a.say(four.thread_rank());
  a.say(four.size());
  a.say(tile.ballot(t & 2));
  a.say(tile.match_any(t & 3));
  a.say(tile.shfl(t, 9));
  a.say(warp.shfl_up(t, 40));
  a.say(cg::reduce(tile, t, cg::plus<int>()));
  a.say(cg::inclusive_scan(tile, t));
  a.say(cg::exclusive_scan(warp, 2));
  const wide w = warp.shfl(wide{t * 1.0, t, -t}, 4);
  a.say(static_cast<long long>(w.a) + w.b * 100 + w.c * 10000);
  auto labelled = cg::labeled_partition(warp, t % 3);
  a.say(labelled.size());
  a.say(labelled.thread_rank());
  a.say(labelled.meta_group_rank());
  a.say(labelled.meta_group_size());
  auto half = cg::binary_partition(warp, t % 4 == 0);
  a.say(half.size());
  a.say(half.thread_rank());
  a.say(half.meta_group_rank());
}

struct cells {
  unsigned u[8];
  int i[2];
  unsigned long long q[2];
  double d;
  float f, pad;
  unsigned short h[8];
  float4 f4;
};

__global__ void atomics(cells* c) {
  const unsigned t = threadIdx.x;
  atomicInc(&c->u[0], 6);
  atomicDec(&c->u[1], 5);
  atomicAdd(&c->u[2], 3);
  atomicSub(&c->u[3], 1);
  atomicMax(&c->u[4], t);
  atomicXor(&c->u[5], t);
  atomicCAS(&c->u[6], 0u, 9u);
  atomicOr(&c->u[7], 1u << (t % 32));
  atomicMin(&c->i[0], -static_cast<int>(t));
  atomicAdd(&c->i[1], -2);
  atomicAdd(&c->q[0], 1ull << 33);
  atomicMax(&c->q[1], static_cast<unsigned long long>(t) << 40);
  atomicAdd(&c->d, 0.5);
  atomicAdd(&c->f, 1.0f);
  atomicCAS(&c->h[0], static_cast<unsigned short>(0), static_cast<unsigned short>(77));
  atomicAdd(&c->f4, float4{1, 2, 3, 4});
}

void print(const char* name, void (*kernel)(long long*), int questions) {
  const size_t count = static_cast<size_t>(questions) * threads;
  std::vector<long long> host(count);
  long long* device = nullptr;
  cudaMalloc(&device, count * sizeof(long long));
  cudaMemset(device, 0, count * sizeof(long long));
  kernel<<<1, threads>>>(device);
  const cudaError_t status =
      cudaMemcpy(host.data(), device, count * sizeof(long long), cudaMemcpyDeviceToHost);
  printf("%s\t%s\n", name, cudaGetErrorName(status));
  for (int question = 0; question < questions; ++question) {
    printf("%s.%d\t", name, question);
    for (int t = 0; t < threads; ++t) printf(" %lld", host[question * threads + t]);
    printf("\n");
  }
  cudaFree(device);
}

int main() {
  print("shuffles", shuffles, 12);
  print("votes", votes, 14);
  print("coalesced", coalesced, 8);
  print("tiles", tiles, 22);
  cells *device = nullptr, c = {};
  cudaMalloc(&device, sizeof(cells));
  cudaMemset(device, 0, sizeof(cells));
  atomics<<<3, 50>>>(device);
  cudaMemcpy(&c, device, sizeof(cells), cudaMemcpyDeviceToHost);
  printf("atomics.u\t%u %u %u %u %u %u %u %u\n", c.u[0], c.u[1], c.u[2], c.u[3], c.u[4], c.u[5],
         c.u[6], c.u[7]);
  printf("atomics.wide\t%d %d %llu %llu\n", c.i[0], c.i[1], c.q[0], c.q[1]);
  printf("atomics.floating\t%g %g %g %g %g %g\n", c.d, c.f, c.f4.x, c.f4.y, c.f4.z, c.f4.w);
  printf("atomics.short\t%d\n", c.h[0]);
  return 0;
}
