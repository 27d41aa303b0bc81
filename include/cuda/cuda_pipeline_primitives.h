/* Copies into shared memory that go on beside the thread: here they are done when the call returns,
   so there is never anything to wait for. */
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_

#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDA__) && defined(__clang__)

/* Of `size` bytes the last `zfill` are not copied but made zero. */
static __device__ __forceinline__ void __pipeline_memcpy_async(void* __restrict__ destination,
                                                               const void* __restrict__ source,
                                                               size_t size, size_t zfill = 0) {
  __builtin_memcpy(destination, source, size - zfill);
  __builtin_memset(static_cast<char*>(destination) + (size - zfill), 0, zfill);
}
static __device__ __forceinline__ void __pipeline_commit() {}
static __device__ __forceinline__ void __pipeline_wait_prior(size_t) {}

#endif

#endif
