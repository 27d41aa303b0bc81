/* Device functions come with cuda_runtime.h; older programs include this name as well. */
#ifndef __DEVICE_FUNCTIONS_H__
#define __DEVICE_FUNCTIONS_H__
#include "cuda_runtime.h"
#endif
