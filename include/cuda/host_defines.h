/* CUDA's declaration keywords. In a CUDA compilation they are clang attributes; in plain C and C++
   the execution-space ones mean nothing, so that a header with annotated functions compiles
   anywhere. */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __inline_hint__
#define __nv_pure__ __attribute__((pure))
#define CUDARTAPI
#define __cudart_builtin__
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__

#if defined(__CUDA__) && defined(__clang__)

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

/* Compiled for the host's own architecture, a kernel looks like any function: the annotations are
   what the compiler's pass finds it by, and where it reads the bounds. */
#define __global__ __attribute__((global, annotate("streambed.kernel")))
#define __launch_bounds__(...) \
  __attribute__((launch_bounds(__VA_ARGS__), annotate("streambed.launch_bounds", __VA_ARGS__)))
#define __cluster_dims__(...) __attribute__((annotate("streambed.cluster_dims", __VA_ARGS__)))
#define __maxnreg__(...)
#define __block_size__(...)

/* Managed variables are device variables that the host reaches through their own storage. */
#define __managed__ __attribute__((device, annotate("streambed.managed")))

/* A parameter of a kernel is never written to by another thread here, so this asks for nothing. */
#define __grid_constant__

/* `__noinline__` is a keyword of clang's CUDA mode; a macro would break libstdc++. */

#else

#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __block_size__(...)
#define __grid_constant__

#endif

#endif
