/* threadIdx, blockIdx, blockDim, gridDim, warpSize. */
#ifndef __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "vector_types.h"

#if defined(__CUDA__) && defined(__clang__)
#include "cuda_runtime.h"
#else
/* Only so that a source that names them parses: there is no thread outside of a kernel. */
#ifdef __cplusplus
extern "C" {
#endif
extern const uint3 threadIdx;
extern const uint3 blockIdx;
extern const dim3 blockDim;
extern const dim3 gridDim;
extern const int warpSize;
#ifdef __cplusplus
}
#endif
#endif

#endif
