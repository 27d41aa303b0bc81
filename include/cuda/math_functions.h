/* Maths functions come with cuda_runtime.h; older programs include this name as well. */
#ifndef __MATH_FUNCTIONS_H__
#define __MATH_FUNCTIONS_H__
#include "cuda_runtime.h"
#endif
