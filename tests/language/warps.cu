// Kernels whose warps shuffle, vote, reduce and synchronise, in blocks of many shapes. Prints a
// hash of each result: what it is must not depend on how the threads are run.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
namespace cg = cooperative_groups;
static unsigned hash(const void* p, size_t n) {
  unsigned x = 2166136261u;
  for (size_t i = 0; i < n; i++) x = (x ^ ((const unsigned char*)p)[i]) * 16777619u;
  return x;
}
#define ID                                                                     \
  int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); \
  int nt = blockDim.x * blockDim.y * blockDim.z;                               \
  int i = blockIdx.x * nt + t;                                                 \
  (void)i;
__device__ int wsum(int v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
  return v;
}
__device__ int wxor(int v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
__global__ void warpsum(int* d, int n) {
  ID;
  d[i] = wsum(d[i]) + wxor(d[i]);
}
// One condition before and behind what the whole warp does.
__global__ void guarded_shuffle(int* d, int n) {
  ID;
  int v = i < n ? d[i] : 7;
  int w = __shfl_down_sync(0xffffffffu, v, 1);
  if (i < n) d[i] = v - w;
}
__global__ void guarded_most(int* d, int n) {
  ID;
  int v = i < n ? d[i] : 1000;
  int most = __reduce_max_sync(0xffffffffu, v);
  if (i < n) d[i] = most;
}
__global__ void guarded_any(int* d, int n) {
  ID;
  int v = i < n ? d[i] : 1000;
  int any = __any_sync(0xffffffffu, v == 1000);
  if (i < n) d[i] = v + any;
}
__global__ void blocksum(int* d, int n) {
  ID;
  __shared__ int s[32];
  int lane = threadIdx.x % 32, wid = threadIdx.x / 32;
  int v = wsum(d[i]);
  if (lane == 0) s[wid] = v;
  __syncthreads();
  v = (threadIdx.x < blockDim.x / 32) ? s[lane] : 0;
  if (wid == 0) v = wsum(v);
  if (threadIdx.x == 0)
    d[i] = v;
  else
    d[i] = v ^ lane;
}
__global__ void blocksum2(int* d, int n) {
  ID;
  __shared__ int s[1024];
  s[t] = d[i];
  __syncthreads();
  for (int k = nt / 2; k > 32; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  int v = 0;
  if (t < 32) {
    v = s[t];
    if (nt >= 64) v += s[t + 32];
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o);
  }
  if (t == 0) d[i] = v;
}
__global__ void wscan(int* d, int n) {
  ID;
  int lane = t & 31;
  int v = d[i];
  for (int o = 1; o < 32; o *= 2) {
    int u = __shfl_up_sync(0xffffffffu, v, o);
    if (lane >= o) v += u;
  }
  d[i] = v;
}
__global__ void votes(int* d, int n) {
  ID;
  unsigned b = __ballot_sync(0xffffffffu, d[i] & 1);
  int a = __all_sync(0xffffffffu, d[i] > 0), y = __any_sync(0xffffffffu, d[i] > 900);
  int rank = __popc(b & ((1u << (t & 31)) - 1));
  d[i] = b * 3 + a * 5 + y * 7 + rank;
}
__global__ void idx(int* d, int n) {
  ID;
  int v = d[i];
  int a = __shfl_sync(0xffffffffu, v, (v + t) & 31);
  int b = __shfl_sync(0xffffffffu, v, 3, 8);
  int c = __shfl_down_sync(0xffffffffu, v, 5, 16);
  int e = __shfl_up_sync(0xffffffffu, v, 3, 4);
  double q = __shfl_xor_sync(0xffffffffu, v * 0.5, 9);
  d[i] = a + b * 3 + c * 5 + e * 7 + (int)q;
}
__global__ void loopshf(int* d, int n) {
  ID;
  int v = d[i];
  for (int k = 0; k < n; k++) {
    int u = __shfl_sync(0xffffffffu, v, (t + k) & 31);
    if (u & 1)
      v += u;
    else
      v ^= k;
  }
  d[i] = v;
}
__global__ void syncw(int* d, int n) {
  ID;
  __shared__ int s[1024];
  s[t] = d[i];
  __syncwarp();
  int v = s[t ^ 1];
  __syncwarp();
  s[t] = v * 3;
  __syncwarp();
  v += s[(t & ~31) + ((t + 7) & 31)];
  d[i] = v;
}
__global__ void reds(int* d, int n) {
  ID;
  unsigned v = d[i];
  d[i] = __reduce_add_sync(~0u, v) + 3 * __reduce_max_sync(~0u, v) +
         5 * __reduce_min_sync(~0u, (int)v - 500) + 7 * __reduce_or_sync(~0u, v) +
         11 * __reduce_and_sync(~0u, v | 64) + 13 * __reduce_xor_sync(~0u, v);
}
__global__ void tile(int* d, int n) {
  ID;
  auto b = cg::this_thread_block();
  auto w = cg::tiled_partition<32>(b);
  auto q = cg::tiled_partition<8>(b);
  int v = d[i];
  for (int o = 4; o > 0; o /= 2) v += q.shfl_down(v, o);
  int z = w.any(v > 1500) + q.all(v > 10) * 2 + q.ballot(v & 1) * 4;
  b.sync();
  int r = cg::reduce(w, v, cg::plus<int>());
  d[i] = z + r * 3 + q.shfl(v, 2);
}
__global__ void diverge(int* d, int n) {
  ID;
  int v = d[i];
  if (t & 1) {
    v += __shfl_sync(0xaaaaaaaau, v, (t + 2) & 31);
  }
  d[i] = v;
}
__global__ void half(int* d, int n) {
  ID;
  int lane = t & 31;
  int v = d[i];
  if (lane < 16) v += __shfl_down_sync(0xffffu, v, 4);
  d[i] = v;
}
__global__ void wbranch(int* d, int n) {
  ID;
  int w = t >> 5;
  int v = d[i];
  if (w & 1) {
    v += __shfl_xor_sync(~0u, v, 1);
    for (int k = 0; k < w; k++) v ^= __shfl_sync(~0u, v, k);
  } else {
    v -= __ballot_sync(~0u, v & 4);
  }
  __syncthreads();
  d[i] = v;
}
__global__ void compact(int* d, int n) {
  ID;
  __shared__ int cnt;
  __shared__ int out[1024];
  if (t == 0) cnt = 0;
  __syncthreads();
  int v = d[i];
  bool keep = v % 3 == 0;
  unsigned m = __ballot_sync(~0u, keep);
  int lane = t & 31;
  int base = 0;
  if (lane == 0) base = atomicAdd(&cnt, 0) + (t >> 5) * 32;
  base = __shfl_sync(~0u, base, 0);
  if (keep) out[base + __popc(m & ((1u << lane) - 1))] = v;
  __syncthreads();
  d[i] = (lane < __popc(m)) ? out[base + lane] : -1;
}
__global__ void actm(int* d, int n) {
  ID;
  unsigned m = __activemask();
  d[i] += __popc(m);
}
__global__ void dyn(int* d, int n) {
  ID;
  int v = d[i];
  for (int k = 0; k < n + (int)blockIdx.x; k++) {
    v += __shfl_down_sync(~0u, v, k);
    if (__all_sync(~0u, v > 1000000)) break;
  }
  d[i] = v;
}
__global__ void gstride(int* d, int n) {
  ID;
  int s = 0;
  for (int k = t; k < nt * 3 / 2 && k < nt; k += nt / 2 + 1) s += d[blockIdx.x * nt + k];
  s = wsum(s);
  __syncthreads();
  if ((t & 31) == 0) d[i] = s;
}
template <class F>
void go(const char* name, int blocks, int threads, F f) {
  int n = blocks * threads;
  std::vector<int> a(n);
  srand(n);
  for (int& x : a) x = rand() % 1000;
  int* d;
  cudaMalloc(&d, n * 4);
  cudaMemcpy(d, a.data(), n * 4, cudaMemcpyHostToDevice);
  f(d);
  cudaError_t e = cudaDeviceSynchronize();
  cudaMemcpy(a.data(), d, n * 4, cudaMemcpyDeviceToHost);
  printf("%s %d %d: %08x %s\n", name, blocks, threads, hash(a.data(), n * 4),
         cudaGetErrorString(e));
  cudaFree(d);
}
int main() {
#define K(k, n)                                                               \
  for (dim3 b : {dim3(32), dim3(64), dim3(256), dim3(32, 4), dim3(64, 2, 2)}) \
    go(#k, 5, b.x* b.y* b.z, [&](int* d) { k<<<5, b>>>(d, n); });
#define P(k, n)                                                           \
  K(k, n)                                                                 \
  for (dim3 b : {dim3(1), dim3(20), dim3(100), dim3(16, 16), dim3(8, 3)}) \
    go(#k, 5, b.x* b.y* b.z, [&](int* d) { k<<<5, b>>>(d, n); });
  P(warpsum, 0)
  K(guarded_shuffle, 20)
  K(guarded_most, 107)
  K(guarded_any, 20)
  K(blocksum, 0)
  K(blocksum2, 0)
  P(wscan, 0)
  P(votes, 0)
  K(idx, 0)
  P(loopshf, 0)
  P(loopshf, 9)
  K(syncw, 0)
  P(reds, 0)
  K(tile, 0) K(diverge, 0) K(half, 0) K(wbranch, 0) K(compact, 0) P(actm, 0) P(dyn, 3) K(gstride, 0)
}
