/* Reductions over the threads of a tile or a coalesced group. Every thread gets the result. */
#ifndef _CG_REDUCE_H_
#define _CG_REDUCE_H_

#include "../cooperative_groups.h"

#if defined(__cplusplus) && defined(__CUDA__) && defined(__clang__)
#include "details/functional.h"

namespace cooperative_groups {

template <unsigned Size, typename Parent, typename Type, typename Operation>
SB_CG_MEETING_FN auto reduce(const thread_block_tile<Size, Parent>& group, Type&& value,
                             Operation&& operation) -> decltype(operation(value, value)) {
  decltype(operation(value, value)) result = value;
  for (unsigned distance = Size / 2; distance > 0; distance /= 2) {
    result = operation(result, group.shfl_xor(result, distance));
  }
  return result;
}
template <typename Type, typename Operation>
SB_CG_MEETING_FN auto reduce(const coalesced_group& group, Type&& value, Operation&& operation)
    -> decltype(operation(value, value)) {
  const decltype(operation(value, value)) own = value;
  decltype(operation(value, value)) result = group.shfl(own, 0);
  const unsigned count = group.num_threads();
  for (unsigned rank = 1; rank < count; ++rank) result = operation(result, group.shfl(own, rank));
  return result;
}

/* The group's first thread stores the result. */
template <typename Group, typename Destination, typename Type, typename Operation>
SB_CG_MEETING_FN void reduce_store_async(const Group& group, Destination* destination, Type&& value,
                                         Operation&& operation) {
  const auto result = reduce(group, value, operation);
  if (group.thread_rank() == 0) *destination = result;
}

}  // namespace cooperative_groups
#endif

#endif
