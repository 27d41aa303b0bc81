/* Where NVTX 2 had it. */
#include "nvtx3/nvToolsExt.h"
