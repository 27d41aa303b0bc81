/* Barriers, fences, clocks, traps. */
#ifndef STREAMBED_SYNC_FUNCTIONS_H
#define STREAMBED_SYNC_FUNCTIONS_H

#include "device_builtins.h"

#define SB_FN static __device__ __forceinline__
/* What contains a meeting of threads is one itself. */
#define SB_MEETING_FN static __device__ __attribute__((convergent)) __forceinline__

/* clang knows __syncthreads as an instruction of NVIDIA's processors. */
#define __syncthreads() __sb_syncthreads()
SB_MEETING_FN void __sb_syncthreads() { __sb_rt_barrier(0, 0); }
SB_MEETING_FN int __syncthreads_count(int predicate) { return __sb_rt_barrier(1, predicate); }
SB_MEETING_FN int __syncthreads_and(int predicate) { return __sb_rt_barrier(2, predicate); }
SB_MEETING_FN int __syncthreads_or(int predicate) { return __sb_rt_barrier(3, predicate); }
SB_MEETING_FN void __syncwarp(unsigned mask = 0xffffffffu) { __sb_rt_warp_sync(mask); }

SB_FN void __threadfence_block() { __atomic_thread_fence(__ATOMIC_ACQ_REL); }
SB_FN void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SB_FN void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

/* The device's clock is not the host's: both are called `clock`. */
SB_FN clock_t clock() { return static_cast<clock_t>(__sb_rt_clock()); }
SB_FN long long clock64() { return static_cast<long long>(__sb_rt_clock()); }
SB_FN void __nanosleep(unsigned ns) { __sb_rt_nanosleep(ns); }

SB_FN __attribute__((noreturn)) void __trap() { __sb_rt_trap(); }
/* With no debugger there, a breakpoint ends the kernel. */
SB_FN void __brkpt() { __sb_rt_trap(); }
#define __prof_trigger(counter) ((void)(counter))

/* A kernel begins when those before it have ended, also where its launch allows it sooner: there is
   nothing to wait for, and nobody to let go on. */
SB_FN void cudaGridDependencySynchronize() {}
SB_FN void cudaTriggerProgrammaticLaunchCompletion() {}

/* The handle of a conditional graph node is the address of its value. */
SB_FN void cudaGraphSetConditional(unsigned long long handle, unsigned int value) {
  __atomic_store_n(reinterpret_cast<unsigned int*>(handle), value, __ATOMIC_RELAXED);
}

#endif
