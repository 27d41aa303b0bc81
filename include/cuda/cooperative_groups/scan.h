/* Prefix sums, and prefixes of other operations, over the threads of a tile or a coalesced group.
 */
#ifndef _CG_SCAN_H_
#define _CG_SCAN_H_

#include "../cooperative_groups.h"

#if defined(__cplusplus) && defined(__CUDA__) && defined(__clang__)
#include "details/functional.h"

namespace cooperative_groups {

template <typename Group, typename Type, typename Operation>
SB_CG_MEETING_FN auto inclusive_scan(const Group& group, Type&& value, Operation&& operation)
    -> decltype(operation(value, value)) {
  decltype(operation(value, value)) result = value;
  const unsigned rank = group.thread_rank(), count = group.num_threads();
  for (unsigned distance = 1; distance < count; distance *= 2) {
    const auto earlier = group.shfl_up(result, distance);
    if (rank >= distance) result = operation(earlier, result);
  }
  return result;
}
template <typename Group, typename Type>
SB_CG_MEETING_FN auto inclusive_scan(const Group& group, Type&& value) {
  return inclusive_scan(group, value, plus<__remove_cvref(Type)>());
}

/* The first thread gets a value-initialised result. */
template <typename Group, typename Type, typename Operation>
SB_CG_MEETING_FN auto exclusive_scan(const Group& group, Type&& value, Operation&& operation)
    -> decltype(operation(value, value)) {
  const auto earlier = group.shfl_up(inclusive_scan(group, value, operation), 1);
  return group.thread_rank() == 0 ? decltype(operation(value, value)){} : earlier;
}
template <typename Group, typename Type>
SB_CG_MEETING_FN auto exclusive_scan(const Group& group, Type&& value) {
  return exclusive_scan(group, value, plus<__remove_cvref(Type)>());
}

}  // namespace cooperative_groups
#endif

#endif
