/* Dividing groups into smaller ones, and letting one thread act for all. */
#ifndef STREAMBED_CG_PARTITION_H
#define STREAMBED_CG_PARTITION_H

#include "coalesced.h"

namespace cooperative_groups {

template <unsigned Size>
SB_CG_FN thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
  return __sb_make_tile<Size, thread_block>(__sb_linear_tid() / Size,
                                            (thread_block::num_threads() + Size - 1) / Size);
}
template <unsigned Size, unsigned ParentSize, typename GrandParent>
SB_CG_FN thread_block_tile<Size, thread_block_tile<ParentSize, GrandParent>> tiled_partition(
    const thread_block_tile<ParentSize, GrandParent>&) {
  static_assert(Size <= ParentSize, "a tile cannot be larger than the group it is a part of");
  return __sb_make_tile<Size, thread_block_tile<ParentSize, GrandParent>>(
      (__sb_laneid() & (ParentSize - 1)) / Size, ParentSize / Size);
}

/* Sizes that are known only at run time. The threads of a set of lanes are taken in their order. */
SB_CG_FN thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (parent.kind_ == thread_group::kind::of_block) {
    const unsigned first = __sb_laneid() & ~(size - 1);
    const unsigned threads = thread_block::num_threads();
    return thread_group(thread_group::kind::of_lanes, (~0u >> (32 - size)) << first,
                        __sb_linear_tid() / size, (threads + size - 1) / size);
  }
  const unsigned part = parent.rank_in_mask() / size;
  unsigned mask = 0, rank = 0;
  for (unsigned left = parent.mask_; left; left &= left - 1, ++rank) {
    if (rank / size == part) mask |= left & (0u - left);
  }
  return thread_group(thread_group::kind::of_lanes, mask, part, (rank + size - 1) / size);
}
SB_CG_FN coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  const unsigned part = parent.thread_rank() / size;
  unsigned mask = 0, rank = 0;
  for (unsigned left = parent.__sb_mask(); left; left &= left - 1, ++rank) {
    if (rank / size == part) mask |= left & (0u - left);
  }
  return __sb_make_coalesced(mask, part, (rank + size - 1) / size);
}
template <unsigned Size>
SB_CG_FN coalesced_group tiled_partition(const coalesced_group& parent) {
  return tiled_partition(parent, Size);
}

/* Threads with the same label form a group; groups are numbered by their lowest lane. */
template <typename Group, typename Label>
SB_CG_MEETING_FN coalesced_group labeled_partition(const Group& parent, Label label) {
  const unsigned all = parent.__sb_mask();
  const unsigned mine = __match_any_sync(all, label);
  const unsigned is_leader = (mine & (0u - mine)) == (1u << __sb_laneid());
  const unsigned leaders = __sb_rt_vote(all, 3, static_cast<int>(is_leader));
  const unsigned before = leaders & ((mine & (0u - mine)) - 1u);
  return __sb_make_coalesced(mine, static_cast<unsigned>(__builtin_popcount(before)),
                             static_cast<unsigned>(__builtin_popcount(leaders)));
}
/* Threads for which the predicate holds are group 1, the others group 0. */
template <typename Group>
SB_CG_MEETING_FN coalesced_group binary_partition(const Group& parent, bool predicate) {
  const unsigned all = parent.__sb_mask();
  const unsigned holds = __sb_rt_vote(all, 3, predicate);
  return __sb_make_coalesced(predicate ? holds : all & ~holds, predicate ? 1 : 0, 2);
}

SB_CG_FN thread_block_tile<1> this_thread() { return __sb_make_tile<1, thread_block>(0, 1); }

/* The group's first thread calls the function. */
template <typename Group, typename Function, typename... Args>
SB_CG_MEETING_FN void invoke_one(const Group& group, Function&& function, Args&&... args) {
  if (group.thread_rank() == 0) static_cast<Function&&>(function)(static_cast<Args&&>(args)...);
}
template <typename Group, typename Function, typename... Args>
SB_CG_MEETING_FN auto invoke_one_broadcast(const Group& group, Function&& function, Args&&... args)
    -> decltype(static_cast<Function&&>(function)(static_cast<Args&&>(args)...)) {
  decltype(static_cast<Function&&>(function)(static_cast<Args&&>(args)...)) result{};
  if (group.thread_rank() == 0)
    result = static_cast<Function&&>(function)(static_cast<Args&&>(args)...);
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups

#endif
