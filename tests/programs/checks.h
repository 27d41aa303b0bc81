// Checks of programs that say in the end whether all was right: what was not is told with its line,
// and counted.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>

static int wrong = 0;
#define CHECK(what)                                           \
  do {                                                        \
    if (!(what)) {                                            \
      std::printf("line %d: %s\n", __LINE__, #what), ++wrong; \
    }                                                         \
  } while (0)
#define OK(call) CHECK((call) == cudaSuccess)
