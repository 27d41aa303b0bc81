/* What compiled kernels ask of the engine. The compiler's pass replaces every one of these: the
   indices become loads or loop variables, __sb_rt_NAME a call of the slot NAME of the engine's
   table. */
#ifndef STREAMBED_DEVICE_BUILTINS_H
#define STREAMBED_DEVICE_BUILTINS_H

#include "../vector_types.h"

/* The same for a thread from its start to its end, so calls may be merged and moved. */
#define SB_INDEX extern "C" __device__ __attribute__((const, nothrow))
/* A place where threads meet: calls must not be duplicated or moved across branches. */
#define SB_MEET extern "C" __device__ __attribute__((convergent, nothrow))
#define SB_RUNTIME extern "C" __device__ __attribute__((nothrow))

SB_INDEX unsigned __sb_tid_x(void);
SB_INDEX unsigned __sb_tid_y(void);
SB_INDEX unsigned __sb_tid_z(void);
SB_INDEX unsigned __sb_ntid_x(void);
SB_INDEX unsigned __sb_ntid_y(void);
SB_INDEX unsigned __sb_ntid_z(void);
SB_INDEX unsigned __sb_ctaid_x(void);
SB_INDEX unsigned __sb_ctaid_y(void);
SB_INDEX unsigned __sb_ctaid_z(void);
SB_INDEX unsigned __sb_nctaid_x(void);
SB_INDEX unsigned __sb_nctaid_y(void);
SB_INDEX unsigned __sb_nctaid_z(void);
SB_INDEX unsigned __sb_laneid(void);
SB_INDEX unsigned __sb_warpid(void);
SB_INDEX unsigned __sb_linear_tid(void);
SB_INDEX unsigned __sb_dynamic_shared_bytes(void);
SB_INDEX unsigned __sb_cooperative(void); /* 1: the launch is cooperative */
SB_INDEX void* __sb_shared_base(void);

/* Kinds: plain 0, count 1, and 2, or 3. */
SB_MEET int __sb_rt_barrier(unsigned kind, int predicate);
SB_MEET void __sb_rt_warp_sync(unsigned mask);
/* Kinds: index 0, up 1, down 2, xor 3. `in_range` may be null. */
SB_MEET unsigned long long __sb_rt_shuffle(unsigned mask, unsigned kind, unsigned long long value,
                                           unsigned lane_or_delta, unsigned width, int* in_range);
/* Kinds: all 0, any 1, uniform 2, ballot 3. */
SB_MEET unsigned __sb_rt_vote(unsigned mask, unsigned kind, int predicate);
SB_MEET unsigned __sb_rt_match(unsigned mask, unsigned all, unsigned long long value,
                               int* predicate);
/* Kinds: add 0, signed min 1 and max 2, unsigned min 3 and max 4, and 5, or 6, xor 7. */
SB_MEET unsigned __sb_rt_reduce(unsigned mask, unsigned kind, unsigned value);
SB_MEET unsigned __sb_rt_active_mask(void);
SB_MEET void __sb_rt_grid_sync(void);

SB_RUNTIME unsigned long long __sb_rt_clock(void);
SB_RUNTIME unsigned long long __sb_rt_global_timer(void);
SB_RUNTIME void __sb_rt_nanosleep(unsigned ns);
SB_RUNTIME void __sb_rt_yield(void);
SB_RUNTIME __attribute__((noreturn)) void __sb_rt_trap(void);
SB_RUNTIME unsigned __sb_rt_sm_id(void);

/* threadIdx and its kin have members that are calls: there is no such variable in memory. */
#define SB_INDEX_MEMBER(name, call)                       \
  __declspec(property(get = __get_##name)) unsigned name; \
  static __device__ __forceinline__ unsigned __get_##name() { return call(); }

struct __sb_thread_index {
  SB_INDEX_MEMBER(x, __sb_tid_x)
  SB_INDEX_MEMBER(y, __sb_tid_y)
  SB_INDEX_MEMBER(z, __sb_tid_z)
  __device__ __forceinline__ operator uint3() const { return uint3{x, y, z}; }
  __device__ __forceinline__ operator dim3() const { return dim3(x, y, z); }
};

struct __sb_block_index {
  SB_INDEX_MEMBER(x, __sb_ctaid_x)
  SB_INDEX_MEMBER(y, __sb_ctaid_y)
  SB_INDEX_MEMBER(z, __sb_ctaid_z)
  __device__ __forceinline__ operator uint3() const { return uint3{x, y, z}; }
  __device__ __forceinline__ operator dim3() const { return dim3(x, y, z); }
};

struct __sb_block_dim {
  SB_INDEX_MEMBER(x, __sb_ntid_x)
  SB_INDEX_MEMBER(y, __sb_ntid_y)
  SB_INDEX_MEMBER(z, __sb_ntid_z)
  __device__ __forceinline__ operator dim3() const { return dim3(x, y, z); }
};

struct __sb_grid_dim {
  SB_INDEX_MEMBER(x, __sb_nctaid_x)
  SB_INDEX_MEMBER(y, __sb_nctaid_y)
  SB_INDEX_MEMBER(z, __sb_nctaid_z)
  __device__ __forceinline__ operator dim3() const { return dim3(x, y, z); }
};

#undef SB_INDEX_MEMBER

/* In the device pass they are defined, because a conversion of the whole takes their address; in
   the host pass a definition would be registered as a device variable. */
#ifdef __CUDA_ARCH__
#define SB_INDEX_VARIABLE static const __device__ __attribute__((unused))
#else
#define SB_INDEX_VARIABLE extern const __device__
#endif
SB_INDEX_VARIABLE __sb_thread_index threadIdx
#ifdef __CUDA_ARCH__
    {}
#endif
;
SB_INDEX_VARIABLE __sb_block_index blockIdx
#ifdef __CUDA_ARCH__
    {}
#endif
;
SB_INDEX_VARIABLE __sb_block_dim blockDim
#ifdef __CUDA_ARCH__
    {}
#endif
;
SB_INDEX_VARIABLE __sb_grid_dim gridDim
#ifdef __CUDA_ARCH__
    {}
#endif
;
#undef SB_INDEX_VARIABLE

static constexpr int warpSize = 32;

#endif
