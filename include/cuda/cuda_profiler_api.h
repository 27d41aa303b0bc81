#ifndef __CUDA_PROFILER_API_H__
#define __CUDA_PROFILER_API_H__

/* cudaProfilerStart and cudaProfilerStop. */
#include "cuda_runtime_api.h"

#endif
