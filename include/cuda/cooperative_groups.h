/* Cooperative groups: blocks, grids, tiles of a warp, the threads that happen to be together. */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDA__) && defined(__clang__)
#define _CG_VERSION 1000

#include "cooperative_groups/details/group.h"

#include "cooperative_groups/details/tile.h"

#include "cooperative_groups/details/coalesced.h"

#include "cooperative_groups/details/partition.h"
#endif

#endif
