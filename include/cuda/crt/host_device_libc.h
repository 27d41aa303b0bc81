/* The C library for device code. Kernels are compiled for the host's own architecture, so a kernel
   may call what the host calls; clang only wants to be told. The C headers are taken without
   libstdc++'s wrappers and declared for both sides; the C++ ones follow as usual (their functions
   are constexpr or templates, which clang accepts on both sides). */
#ifndef STREAMBED_HOST_DEVICE_LIBC_H
#define STREAMBED_HOST_DEVICE_LIBC_H

/* glibc declares a private twin of each maths function, __sinf beside sinf; CUDA has intrinsics of
   the same names. While math.h is read its twins take another name. */
#define __cosf __libc_cosf
#define __exp10f __libc_exp10f
#define __expf __libc_expf
#define __log10f __libc_log10f
#define __log2f __libc_log2f
#define __logf __libc_logf
#define __powf __libc_powf
#define __sincosf __libc_sincosf
#define __sinf __libc_sinf
#define __tanf __libc_tanf
#define __tanhf __libc_tanhf

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
/* Outside of the pragma: `clock` of the host and of the device are different functions. */
#include <time.h>

#pragma clang force_cuda_host_device begin
#ifndef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#define SB_UNDEF_INCLUDE_NEXT
#endif
#include <assert.h>
#include <ctype.h>
#include <limits.h>
/* Declares functions of stdlib.h once more. */
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
/* So does this one, which every header of x86-64's vectors includes, and <random> some of these. */
#if defined(__x86_64__) && __has_include(<mm_malloc.h>)
#include <mm_malloc.h>
#endif
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef SB_UNDEF_INCLUDE_NEXT
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#undef SB_UNDEF_INCLUDE_NEXT
#endif
#pragma clang force_cuda_host_device end

#undef __cosf
#undef __exp10f
#undef __expf
#undef __log10f
#undef __log2f
#undef __logf
#undef __powf
#undef __sincosf
#undef __sinf
#undef __tanf
#undef __tanhf

#ifdef __cplusplus
#include <cmath>
#include <cstdlib>
#include <cstring>
/* clang puts device twins of operator new and delete beside it, made from malloc and free. */
#include <new>
#include <utility>

/* The overloads for float and integers in the global namespace. */
#include <math.h>
#include <stdlib.h>
#endif

#endif
