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
#include "variadic_functions.h"
#include "warp_functions.h"

/* clang 19, when it reads a precompiled header that has these, takes the va_list of x86-64 for
   another type than its own: they are read behind it. */
#ifndef SB_LAUNCHES_COME_LATER
#include "launch_configuration.h"
#endif
#endif

#endif
