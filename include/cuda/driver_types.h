/* Types of the CUDA runtime API: one file per topic. Usable from C and C++, with any compiler. */
#ifndef __DRIVER_TYPES_H__
#define __DRIVER_TYPES_H__

#include "crt/types_array.h"
#include "crt/types_device.h"
#include "crt/types_error.h"
#include "crt/types_graph.h"
#include "crt/types_launch.h"
#include "crt/types_memory.h"
#include "crt/types_stream.h"
#include "host_defines.h"
#include "vector_types.h"

#endif
