/* The CUDA runtime for C++: the API with typed pointers, and in a CUDA compilation the language's
   own functions and variables. From C, and in plain C++, it is the API alone. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "builtin_types.h"
#include "channel_descriptor.h"
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "host_defines.h"
#include "vector_functions.h"

#ifdef __cplusplus
#include "crt/device_code.h"

#include "crt/earlier_forms.h"
#include "crt/occupancy_templates.h"
#include "crt/runtime_templates.h"
#endif

#endif
