/* Many programs include cuda.h without using the driver API. It names the version and the handles
   that both APIs share; the driver's functions are not provided, so a program that calls one fails
   to compile by that name. */
#ifndef CUDA_H
#define CUDA_H

#define CUDA_VERSION 13000

#include "driver_types.h"

typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUgraph_st* CUgraph;
typedef struct CUgraphNode_st* CUgraphNode;
typedef struct CUgraphExec_st* CUgraphExec;

#endif
