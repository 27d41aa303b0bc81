// The least that a kernel needs in the tests of the pass: qualifiers, builtins, runtime calls. The
// tests must not depend on the real headers.
#pragma once
#define __global__ __attribute__((global, annotate("streambed.kernel")))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device, annotate("streambed.managed")))
#define __launch_bounds__(...) \
  __attribute__((launch_bounds(__VA_ARGS__), annotate("streambed.launch_bounds", __VA_ARGS__)))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ __inline__ __attribute__((always_inline))

typedef unsigned long size_t;
typedef unsigned long long u64;

extern "C" {
#define SB_BUILTIN(name) __device__ unsigned __sb_##name(void)
SB_BUILTIN(tid_x);
SB_BUILTIN(tid_y);
SB_BUILTIN(tid_z);
SB_BUILTIN(ntid_x);
SB_BUILTIN(ntid_y);
SB_BUILTIN(ntid_z);
SB_BUILTIN(ctaid_x);
SB_BUILTIN(ctaid_y);
SB_BUILTIN(ctaid_z);
SB_BUILTIN(nctaid_x);
SB_BUILTIN(nctaid_y);
SB_BUILTIN(nctaid_z);
SB_BUILTIN(laneid);
SB_BUILTIN(warpid);
SB_BUILTIN(linear_tid);
SB_BUILTIN(dynamic_shared_bytes);
#undef SB_BUILTIN
__device__ int __sb_rt_barrier(unsigned kind, int predicate);
__device__ u64 __sb_rt_clock(void);
__device__ u64 __sb_rt_global_timer(void);
__device__ void __sb_rt_nanosleep(unsigned ns);
__device__ u64 __sb_rt_shuffle(unsigned, unsigned, u64, unsigned, unsigned, int*);
__device__ unsigned __sb_rt_vote(unsigned, unsigned, int);
__device__ unsigned __sb_rt_match(unsigned, unsigned, u64, int*);
__device__ unsigned __sb_rt_reduce(unsigned, unsigned, unsigned);
__device__ unsigned __sb_rt_active_mask(void);
__device__ void __sb_rt_grid_sync(void);
__device__ int printf(const char*, ...);
__device__ void* malloc(size_t);
__device__ void free(void*);
__device__ void __assert_fail(const char*, const char*, unsigned, const char*)
    __attribute__((noreturn));
__device__ float sinf(float);
__device__ float sqrtf(float);
}

struct sb_uint3 {
  unsigned x, y, z;
};
struct sb_dim3 {
  unsigned x, y, z;
  __host__ __device__ sb_dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
#define SB_AXIS(axis)                                                  \
  __device__ unsigned get_##axis() const { return __sb_tid_##axis(); } \
  __declspec(property(get = get_##axis)) unsigned axis;
#define SB_INDEX(type, variable, prefix)                               \
  struct type {                                                        \
    __device__ static unsigned get_x() { return __sb_##prefix##_x(); } \
    __device__ static unsigned get_y() { return __sb_##prefix##_y(); } \
    __device__ static unsigned get_z() { return __sb_##prefix##_z(); } \
    __declspec(property(get = get_x)) unsigned x;                      \
    __declspec(property(get = get_y)) unsigned y;                      \
    __declspec(property(get = get_z)) unsigned z;                      \
  };                                                                   \
  extern const __attribute__((device)) __attribute__((weak)) type variable;
SB_INDEX(sb_thread_index, threadIdx, tid)
SB_INDEX(sb_block_index, blockIdx, ctaid)
SB_INDEX(sb_block_size, blockDim, ntid)
SB_INDEX(sb_grid_size, gridDim, nctaid)

static __device__ __forceinline__ void __sb_syncthreads() { __sb_rt_barrier(0, 0); }
#define __syncthreads __sb_syncthreads
static __device__ __forceinline__ long long clock64() { return (long long)__sb_rt_clock(); }
// The register has 32 bits.
static __device__ __forceinline__ long clock() { return (int)__sb_rt_clock(); }
static __device__ __forceinline__ int atomicAdd(int* p, int v) {
  return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
static __device__ __forceinline__ int atomicExch(int* p, int v) {
  return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);
}
static __device__ __forceinline__ int atomicCAS(int* p, int compare, int value) {
  __atomic_compare_exchange_n(p, &compare, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return compare;
}
static __device__ __forceinline__ void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static __device__ __forceinline__ int shuffle_down(int v, unsigned delta) {
  int in = 0;
  return (int)__sb_rt_shuffle(0xffffffffu, 2, (unsigned)v, delta, 32, &in);
}
#define assert(e) ((e) ? (void)0 : __assert_fail(#e, __FILE__, __LINE__, __PRETTY_FUNCTION__))
