/* The CUDA runtime API, as declared by CUDA 13.0. Usable from C and C++, with any compiler.
   What is declared here is what the runtime implements; what it lacks is not declared. */
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#define CUDART_VERSION 13000
#define __CUDART_API_VERSION CUDART_VERSION

#include "builtin_types.h"
#include "crt/per_thread_stream.h"
#include "host_defines.h"

#ifdef __cplusplus
#define SB_DEFAULT(value) = value
extern "C" {
#else
#define SB_DEFAULT(value)
#endif

#include "crt/api_array.h"
#include "crt/api_device.h"
#include "crt/api_graph.h"
#include "crt/api_launch.h"
#include "crt/api_memory.h"
#include "crt/api_stream.h"

#ifdef __cplusplus
}
#endif
#undef SB_DEFAULT

#endif
