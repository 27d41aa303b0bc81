/* Atomics come with cuda_runtime.h; older programs include this name as well. */
#ifndef __DEVICE_ATOMIC_FUNCTIONS_H__
#define __DEVICE_ATOMIC_FUNCTIONS_H__
#include "cuda_runtime.h"
#endif
