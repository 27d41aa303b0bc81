// Names every group of device functions once; it only has to compile.
#include <math_constants.h>

#include <cassert>
#include <cmath>
#include <cstdio>

__constant__ float coefficients[4];
__device__ int counter;
__managed__ int managed_counter = 3;
extern __shared__ float dynamic_memory[];

template <int Threads>
__global__ void __launch_bounds__(Threads, 2) bounded(float* out) {
  out[threadIdx.x] = Threads;
}
template __global__ void bounded<128>(float*);

__global__ __launch_bounds__(64) void with_constant(const __grid_constant__ dim3 size, int* out) {
  *out = size.x;
}

__global__ void indices(uint3* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint3 thread = threadIdx, block = blockIdx;
  dim3 threads = blockDim, blocks = gridDim;
  dim3 thread_as_dim = threadIdx;
  out[0] = thread;
  out[1] = block;
  out[2] = uint3{threads.x + blocks.y, thread_as_dim.z, static_cast<unsigned>(warpSize)};
  if (i < n) out[i].x = min(threadIdx.x, blockDim.y) + max(gridDim.z, 1u);
}

__global__ void synchronisation(int* out) {
  __shared__ int values[32];
  values[threadIdx.x % 32] = threadIdx.x;
  __syncthreads();
  out[0] = __syncthreads_count(threadIdx.x > 3) + __syncthreads_and(1) + __syncthreads_or(0);
  __syncwarp();
  __syncwarp(0xff);
  __threadfence_block();
  __threadfence();
  __threadfence_system();
  const long long start = clock64();
  const clock_t begin = clock();
  __nanosleep(100);
  out[1] = static_cast<int>(clock64() - start) + static_cast<int>(clock() - begin);
  if (out[2] == 12345) __trap();
  if (out[2] == 12346) __brkpt();
  dynamic_memory[threadIdx.x] = coefficients[0];
  counter = managed_counter;
}

template <typename T>
__device__ void atomics_of(T* p, T v) {
  atomicAdd(p, v);
  atomicExch(p, v);
  atomicMin(p, v);
  atomicMax(p, v);
  atomicAnd(p, v);
  atomicOr(p, v);
  atomicXor(p, v);
  atomicCAS(p, v, v);
  atomicAdd_block(p, v);
  atomicAdd_system(p, v);
  atomicExch_block(p, v);
  atomicCAS_block(p, v, v);
  atomicCAS_system(p, v, v);
  atomicMin_system(p, v);
  atomicMax_block(p, v);
  atomicAnd_system(p, v);
  atomicOr_block(p, v);
  atomicXor_system(p, v);
}

__global__ void atomics(int* i, unsigned* u, unsigned long long* q, long long* l, float* f,
                        double* d, unsigned short* h, float2* f2, float4* f4, ulonglong2* wide) {
  atomics_of(i, 1);
  atomics_of(u, 1u);
  atomics_of(q, 1ull);
  atomicMin(l, 1ll);
  atomicMax_system(l, 1ll);
  atomicSub(i, 1);
  atomicSub_block(u, 1u);
  atomicInc(u, 7u);
  atomicDec_system(u, 7u);
  *f = atomicAdd(f, 1.0f) + atomicExch(f, 2.0f) + atomicAdd_block(f, 1.0f) +
       atomicAdd_system(f, 1.0f);
  *d = atomicAdd(d, 1.0) + atomicAdd_system(d, 1.0);
  atomicCAS(h, static_cast<unsigned short>(1), static_cast<unsigned short>(2));
  *f2 = atomicAdd(f2, float2{1, 2});
  *f4 = atomicAdd_system(f4, float4{1, 2, 3, 4});
  ulonglong2 old = atomicCAS(wide, ulonglong2{1, 2}, ulonglong2{3, 4});
  *wide = atomicExch(wide, old);
}

template <typename T>
__device__ T warp_of(T v) {
  int all = 0;
  v = __shfl_sync(~0u, v, 3) + __shfl_up_sync(~0u, v, 1) + __shfl_down_sync(~0u, v, 2, 16) +
      __shfl_xor_sync(~0u, v, 4, 8);
  return v + static_cast<T>(__match_any_sync(~0u, v) + __match_all_sync(~0u, v, &all) + all);
}

__global__ void warps(int* i, unsigned* u, long* n, unsigned long* m, long long* l,
                      unsigned long long* q, float* f, double* d) {
  *i = warp_of(*i);
  *u = warp_of(*u);
  *n = warp_of(*n);
  *m = warp_of(*m);
  *l = warp_of(*l);
  *q = warp_of(*q);
  *f = warp_of(*f);
  *d = warp_of(*d);
  *i += __all_sync(~0u, 1) + __any_sync(~0u, 0) + __uni_sync(~0u, 1);
  *u += __ballot_sync(~0u, 1) + __activemask();
  *u += __reduce_add_sync(~0u, *u) + __reduce_min_sync(~0u, *u) + __reduce_max_sync(~0u, *u);
  *u += __reduce_and_sync(~0u, *u) + __reduce_or_sync(~0u, *u) + __reduce_xor_sync(~0u, *u);
  *i += __reduce_add_sync(~0u, *i) + __reduce_min_sync(~0u, *i) + __reduce_max_sync(~0u, *i);
}

__global__ void memory(const int* in, const float4* vectors, int* out, float4* vectors_out) {
  *out = __ldg(in) + __ldcg(in) + __ldca(in) + __ldcs(in) + __ldlu(in) + __ldcv(in);
  float4 v = __ldg(vectors);
  __stcs(vectors_out, v);
  v = __ldcv(vectors);
  __stcg(vectors_out, v);
  __stwb(out, 1);
  __stwt(out, 2);
  __shared__ int shared;
  *out = __isShared(&shared) + __isGlobal(in) + __isLocal(&v) + __isConstant(coefficients);
  *out += *static_cast<int*>(__cvta_shared_to_generic(__cvta_generic_to_shared(&shared)));
}

struct shape {
  __device__ virtual ~shape() {}
  __device__ virtual float area() const = 0;
};
struct square : shape {
  float side;
  __device__ explicit square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};

__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
using binary = int (*)(int, int);
__device__ int add(int a, int b) { return a + b; }

__global__ void language(float* out, int n) {
  shape* s = new square(3.0f);
  *out = s->area();
  delete s;
  float* array = new float[8];
  delete[] array;
  void* raw = malloc(16);
  memset(raw, 0, 16);
  memcpy(out, raw, 4);
  free(raw);
  alignas(8) char storage[sizeof(square)];
  new (storage) square(1.0f);
  printf("%d %f\n", n, *out);
  assert(n > 0);
  binary f = add;
  auto twice = [=] __device__(int x) { return 2 * x + n; };
  *out += f(factorial(n), twice(3)) + CUDART_PI_F + static_cast<float>(CUDART_PI) + CUDART_INF_F;
}

// Overloads for float keep the type; names of std work.
__global__ void maths(float* f, double* d, int n) {
  float x = *f;
  static_assert(sizeof(sin(x)) == 4 && sizeof(max(x, 1.0f)) == 4 && sizeof(rsqrt(x)) == 4, "");
  x += sin(x) + std::cos(x) + sqrtf(x) + fabs(x) + std::abs(x) + abs(n) + floor(x) + fmaf(x, x, x);
  x += __fadd_rn(x, x) + __fmul_rz(x, x) + __fdividef(x, x) + __saturatef(x) + powf(x, 2) +
       exp10f(x);
  float s, c;
  sincosf(x, &s, &c);
  __sincosf(x, &s, &c);
  sincospif(x, &s, &c);
  *f = x + s + c + (isnan(x) ? 1 : 0) + (std::isinf(x) ? 1 : 0) + signbit(x) + min(n, 3) +
       max(2u, 3);
  double y = *d;
  y += pow(y, 2) + fma(y, y, y) + erfinv(y) + norm3d(y, y, y) + cyl_bessel_i0(y) + max(y, 1.0f);
  *d = y + __double2int_rn(y) + double2int(y) + frexp(y, &n) + ldexp(y, n) + nan("");
}

// Both sides.
__host__ __device__ float both(float x) {
  return rsqrtf(x) + max(x, 2.0f) + normcdff(x) + make_float2(x, x).y;
}
float on_the_host(float x) {
  return both(x) + static_cast<float>(min(1, 2)) + static_cast<float>(clock());
}
