/* The operations that reductions and scans take. */
#ifndef STREAMBED_CG_FUNCTIONAL_H
#define STREAMBED_CG_FUNCTIONAL_H

#include "group.h"

namespace cooperative_groups {

#define SB_CG_OPERATION(name, expression)                                                     \
  template <typename Type>                                                                    \
  struct name {                                                                               \
    __host__ __device__ __forceinline__ Type operator()(const Type& a, const Type& b) const { \
      return expression;                                                                      \
    }                                                                                         \
  };
SB_CG_OPERATION(plus, a + b)
SB_CG_OPERATION(less, b < a ? b : a)
SB_CG_OPERATION(greater, a < b ? b : a)
SB_CG_OPERATION(bit_and, a& b)
SB_CG_OPERATION(bit_or, a | b)
SB_CG_OPERATION(bit_xor, a ^ b)
#undef SB_CG_OPERATION

}  // namespace cooperative_groups

#endif
