// The language of kernels, through the shipped nvcc and runtime: each check prints its name when it
// is wrong. Compiles with NVIDIA's nvcc too (--extended-lambda).
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace cg = cooperative_groups;

static int wrong = 0;
static void check(bool ok, const char* what) {
  if (!ok) {
    std::printf("wrong: %s\n", what);
    ++wrong;
  }
}
static bool ran() {
  return cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
}

struct shape {
  __device__ virtual int area() const = 0;
};
struct square : shape {
  int side;
  __device__ explicit square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int (*chosen)(int) = fibonacci;
__managed__ int managed_total = 5;
__constant__ int scale[2] = {3, 4};
__device__ int lock_word, counter, table[4];
__device__ unsigned arrived;

__global__ void dimensions(unsigned* out) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = block * 1000 + thread;
}
__global__ void objects(int* out) {
  square s(threadIdx.x);
  const shape* p = &s;
  out[threadIdx.x] = p->area() * scale[0] + chosen(10);
  atomicAdd(&managed_total, 1);
}
// nvcc warns of them, and goes on behind their ends.
#pragma nv_diag_suppress 940
__device__ int returns_at_times(int x, int* out) {
  if (x > 3) {
    out[0] = 7;
    return 1;
  }
  out[1] = 9;
}
__device__ int returns_nothing(int x) { x *= 17; }
#pragma nv_diag_default 940
__global__ void ends_of_functions(int* out, int x) {
  returns_at_times(x, out);
  returns_nothing(x);
  out[2] = 5;
}
__global__ void spin_lock() {
  for (bool done = false; !done;) {
    if (atomicCAS(&lock_word, 0, 1) == 0) {
      counter = counter + 1;
      __threadfence();
      atomicExch(&lock_word, 0);
      done = true;
    }
  }
}
__global__ void producer_consumer(volatile int* box, int* out) {
  if (threadIdx.x == 0) {
    while (box[0] == 0) {
    }
    *out = box[1];
  } else if (threadIdx.x == 33) {
    box[1] = 42;
    __threadfence();
    box[0] = 1;
  }
}
__global__ void in_turn(volatile int* turn, int* out) {
  while (*turn != (int)blockIdx.x) {
  }
  out[blockIdx.x] = *turn;
  __threadfence();
  *turn = blockIdx.x + 1;
}
__global__ void own_grid_barrier(int* out) {
  __shared__ int open;
  if (threadIdx.x == 0) {
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) < gridDim.x) {
    }
    open = 1;
  }
  __syncthreads();
  if (threadIdx.x == 1) atomicAdd(out, open);
}
__global__ void reversed(float* out) {
  extern __shared__ float dynamic[];
  __shared__ float fixed[256];
  fixed[threadIdx.x] = threadIdx.x;
  __syncthreads();
  dynamic[threadIdx.x] = fixed[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = dynamic[threadIdx.x];
}
__global__ void barriers(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  for (int d = 32; d > 0; d >>= 1) {
    __syncthreads();
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
  }
  if (blockDim.y == 1) __syncthreads();
  const int odd = __syncthreads_count(threadIdx.x & 1);
  const int all = __syncthreads_and(threadIdx.x < 64);
  const int any = __syncthreads_or(threadIdx.x == 63);
  if (threadIdx.x == 0) out[0] = s[0], out[1] = odd, out[2] = all, out[3] = any;
}
__global__ void warps(unsigned* out) {
  const unsigned lane = threadIdx.x;
  unsigned sum = lane;
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  out[lane] = sum;
  out[32 + lane] = __ballot_sync(~0u, lane & 1);
  out[64 + lane] = __shfl_up_sync(~0u, lane, 1);
  out[96 + lane] = __all_sync(~0u, lane < 32) + 2 * __any_sync(~0u, lane == 3);
  if (lane < 8) out[128] = __activemask();
  __syncwarp();
}
__global__ void groups(int* out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  const int sum = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());
  block.sync();
  if (tile.thread_rank() == 0) atomicAdd(out, sum);
}
__global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
  atomicAdd(i, 1);
  atomicMax(i + 1, (int)threadIdx.x);
  atomicMin(i + 2, -(int)threadIdx.x);
  atomicSub(i + 3, 2);
  atomicXor(u, 1u << (threadIdx.x & 31));
  atomicInc(u + 1, 9);
  atomicOr(u + 2, 1u << (threadIdx.x & 31));
  atomicAdd(l, 1ull << 33);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
}
__global__ void maths(float* out, float x) {
  out[0] = __fmaf_rn(x, x, 1.0f);
  out[1] = rsqrtf(x);
  out[2] = __fdiv_rn(1.0f, x);
  out[3] = sqrtf(x);
  out[4] = __sinf(x);
  out[5] = __popc(0xff) + __clz(1) + __ffs(8);
  const float4 v = make_float4(1, 2, 3, 4);
  out[6] = v.x + v.y + v.z + v.w;
}
__global__ void heap(int* out) {
  int* p = (int*)malloc(64);
  p[3] = 7;
  int* q = new int(5);
  *out = p[3] + *q + __ldg(scale + 1);
  free(p);
  delete q;
}
__global__ void time_passes(long long* out) {
  const long long begin = clock64();
  __nanosleep(1000);
  out[0] = clock64() - begin;
}
__global__ void says(int n) { printf("%s %d %5.2f %llu %c\n", "kernel", n, 1.5, 1ull << 40, 'x'); }
template <class Function>
__global__ void apply(Function f, int* out) {
  out[threadIdx.x] = f(threadIdx.x);
}
__global__ void __launch_bounds__(64, 2) bounded(int* __restrict__ out) { out[threadIdx.x] = 1; }

int main() {
  int* m = nullptr;
  check(cudaMallocManaged(&m, 1 << 16) == cudaSuccess, "managed memory");
  unsigned* u = (unsigned*)m;
  float* f = (float*)m;
  auto clear = [&] { std::memset(m, 0, 1 << 16); };

  dimensions<<<dim3(2, 3, 2), dim3(4, 2, 3)>>>(u);
  check(ran() && u[11 * 24 + 23] == 11023 && u[0] == 0, "three dimensions");
  objects<<<1, 8>>>(m);
  check(ran() && m[5] == 25 * 3 + 55 && managed_total == 13, "virtual, pointer, constant, managed");
  clear();
  ends_of_functions<<<1, 32>>>(m, 1);
  check(ran() && m[0] == 0 && m[1] == 9 && m[2] == 5, "functions without a return");
  spin_lock<<<4, 64>>>();
  int value = 0;
  check(ran() && cudaMemcpyFromSymbol(&value, counter, 4) == cudaSuccess && value == 256,
        "spin lock");
  clear();
  producer_consumer<<<1, 64>>>(m, m + 2);
  check(ran() && m[2] == 42, "producer and consumer in one block");
  clear();
  in_turn<<<64, 1>>>(m, m + 1);
  check(ran() && m[0] == 64 && m[64] == 63, "blocks that wait for earlier blocks");
  clear();
  own_grid_barrier<<<100, 64>>>(m);
  check(ran() && m[0] == 100, "a grid barrier of resident blocks");
  reversed<<<1, 256, 1024>>>(f);
  check(ran() && f[0] == 255 && f[255] == 0, "static and dynamic shared memory");
  barriers<<<1, 64>>>(m);
  check(ran() && m[0] == 2016 && m[1] == 32 && m[2] != 0 && m[3] != 0, "barriers");
  warps<<<1, 32>>>(u);
  check(ran() && u[7] == 496 && u[32] == 0xaaaaaaaau && u[64] == 0 && u[70] == 5 && u[96] == 3 &&
            u[128] == 0xff,
        "shuffles, votes, active mask");
  clear();
  groups<<<2, 64>>>(m);
  check(ran() && m[0] == 2 * 2016, "cooperative groups");
  clear();
  u[1024] = 0;
  atomics<<<4, 64>>>(m, u + 16, (unsigned long long*)(m + 32), f + 48, (double*)(m + 64));
  check(ran() && m[0] == 256 && m[1] == 63 && m[2] == -63 && m[3] == -512 && u[16] == 0 &&
            u[17] == 256 % 10 && u[18] == ~0u && *(unsigned long long*)(m + 32) == 256ull << 33 &&
            f[48] == 128.0f && *(double*)(m + 64) == 64.0,
        "atomics");
  maths<<<1, 1>>>(f, 2.25f);
  check(ran() && f[0] == std::fmaf(2.25f, 2.25f, 1.0f) && std::fabs(f[1] - 2.0f / 3) < 1e-6f &&
            f[2] == 1.0f / 2.25f && f[3] == 1.5f && std::fabs(f[4] - std::sin(2.25f)) < 1e-5f &&
            f[5] == 8 + 31 + 4 && f[6] == 10,
        "maths");
  heap<<<1, 1>>>(m);
  check(ran() && m[0] == 7 + 5 + 4, "malloc, new, __ldg");
  time_passes<<<1, 1>>>((long long*)m);
  check(ran() && *(long long*)m > 0, "clock64 over __nanosleep");
  const int factor = 7;
  apply<<<1, 4>>>([=] __device__(int i) { return i * factor; }, m);
  check(ran() && m[3] == 21, "a device lambda");
  bounded<<<1, 64>>>(m);
  check(ran() && m[63] == 1, "launch bounds");
  const int four[4] = {1, 2, 3, 4};
  int back[4] = {};
  check(cudaMemcpyToSymbol(table, four, sizeof four) == cudaSuccess &&
            cudaMemcpyFromSymbol(back, table, sizeof back) == cudaSuccess && back[3] == 4,
        "a device variable");
  says<<<1, 1>>>(3);
  check(ran(), "printf");
  std::puts(wrong == 0 ? "ok" : "not ok");
  return wrong != 0;
}
