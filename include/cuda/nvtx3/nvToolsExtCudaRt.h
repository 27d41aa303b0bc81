/* NVTX: names for streams of the CUDA runtime. */
#ifndef NVTX3_NVTOOLSEXTCUDART_H
#define NVTX3_NVTOOLSEXTCUDART_H

#include "../driver_types.h"
#include "nvToolsExt.h"

#ifdef __cplusplus
extern "C" {
#endif
extern __attribute__((weak)) void __cuda_nvtxNameCudaStreamA(cudaStream_t stream, const char* name);
extern __attribute__((weak)) void __cuda_nvtxNameCudaStreamW(cudaStream_t stream,
                                                             const wchar_t* name);
#ifdef __cplusplus
}
#endif

NVTX_INLINE_STATIC __attribute__((unused)) void nvtxNameCudaStreamA(cudaStream_t stream,
                                                                    const char* name) {
  if (__cuda_nvtxNameCudaStreamA) __cuda_nvtxNameCudaStreamA(stream, name);
}
NVTX_INLINE_STATIC __attribute__((unused)) void nvtxNameCudaStreamW(cudaStream_t stream,
                                                                    const wchar_t* name) {
  if (__cuda_nvtxNameCudaStreamW) __cuda_nvtxNameCudaStreamW(stream, name);
}

#ifdef UNICODE
#define nvtxNameCudaStream nvtxNameCudaStreamW
#else
#define nvtxNameCudaStream nvtxNameCudaStreamA
#endif

#endif
