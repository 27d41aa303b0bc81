/* Everything that only a CUDA compilation sees: the language's built-in variables and functions. */
#ifndef STREAMBED_DEVICE_CODE_H
#define STREAMBED_DEVICE_CODE_H

#if defined(__CUDA__) && defined(__clang__)
#include "host_device_libc.h"

#include "device_builtins.h"
#include "sync_functions.h"

#include "atomic_functions.h"
#include "dpx_functions.h"
#include "fast_math_functions.h"
#include "integer_functions.h"
#include "memory_functions.h"
#include "min_max_functions.h"
#include "nv_atomic_functions.h"
#include "packed_functions.h"
#include "rounding_functions.h"
#include "special_functions.h"
#include "surface_functions.h"
#include "texture_functions.h"
#include "warp_functions.h"

/* What `<<< >>>` compiles to: the configuration is kept until the kernel's stub asks for it. The
   place of the launch goes along for messages, so the function behind it is one of our own. */
extern "C" unsigned __cudaPushCallConfiguration(
    dim3 gridDim, dim3 blockDim = 1, size_t sharedMem = 0, struct CUstream_st* stream = 0,
    const char* file = __builtin_FILE(),
    unsigned line = __builtin_LINE()) __asm__("__cudaPushCallConfigurationAt");
extern "C" cudaError_t __cudaPopCallConfiguration(dim3* gridDim, dim3* blockDim, size_t* sharedMem,
                                                  void* stream);
#endif

#endif
