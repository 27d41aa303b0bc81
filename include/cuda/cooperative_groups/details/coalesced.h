/* Any set of lanes of a warp: those that run together, or a part of another group. */
#ifndef STREAMBED_CG_COALESCED_H
#define STREAMBED_CG_COALESCED_H

#include "tile.h"

namespace cooperative_groups {

class coalesced_group : public thread_group {
 public:
  SB_CG_MEETING_FN void sync() const { __sb_rt_warp_sync(mask_); }
  SB_CG_FN unsigned num_threads() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
  SB_CG_FN unsigned size() const { return num_threads(); }
  SB_CG_FN unsigned thread_rank() const { return rank_in_mask(); }
  SB_CG_FN unsigned meta_group_rank() const { return meta_rank_; }
  SB_CG_FN unsigned meta_group_size() const { return meta_size_; }

  template <typename Type>
  SB_CG_MEETING_FN Type shfl(Type value, unsigned rank) const {
    return details::shuffle(mask_, 0, value, lane_of(rank % num_threads()), 32);
  }
  /* Beyond the group's ends a thread keeps its own value. */
  template <typename Type>
  SB_CG_MEETING_FN Type shfl_up(Type value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return details::shuffle(mask_, 0, value, lane_of(rank >= delta ? rank - delta : rank), 32);
  }
  template <typename Type>
  SB_CG_MEETING_FN Type shfl_down(Type value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return details::shuffle(mask_, 0, value,
                            lane_of(delta < num_threads() - rank ? rank + delta : rank), 32);
  }
  SB_CG_MEETING_FN int any(int predicate) const {
    return static_cast<int>(__sb_rt_vote(mask_, 1, predicate));
  }
  SB_CG_MEETING_FN int all(int predicate) const {
    return static_cast<int>(__sb_rt_vote(mask_, 0, predicate));
  }
  SB_CG_MEETING_FN unsigned ballot(int predicate) const {
    return packed(__sb_rt_vote(mask_, 3, predicate));
  }
  template <typename Type>
  SB_CG_MEETING_FN unsigned match_any(Type value) const {
    return packed(__match_any_sync(mask_, value));
  }
  template <typename Type>
  SB_CG_MEETING_FN unsigned match_all(Type value, int& predicate) const {
    return packed(__match_all_sync(mask_, value, &predicate));
  }

  SB_CG_FN unsigned __sb_mask() const { return mask_; }

 private:
  SB_CG_FN explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : thread_group(kind::of_lanes, mask, meta_rank, meta_size) {}

  SB_CG_FN unsigned lane_of(unsigned rank) const {
    unsigned left = mask_;
    for (; rank > 0; --rank) left &= left - 1;
    return static_cast<unsigned>(__builtin_ctz(left | 0x80000000u));
  }
  /* Bit i of the answer is the bit of the group's i-th lane. */
  SB_CG_FN unsigned packed(unsigned lanes) const {
    unsigned result = 0, rank = 0;
    for (unsigned left = mask_; left; left &= left - 1, ++rank) {
      result |= ((lanes >> __builtin_ctz(left)) & 1u) << rank;
    }
    return result;
  }

  friend SB_CG_FN coalesced_group __sb_make_coalesced(unsigned mask, unsigned meta_rank,
                                                      unsigned meta_size);
};

SB_CG_FN coalesced_group __sb_make_coalesced(unsigned mask, unsigned meta_rank,
                                             unsigned meta_size) {
  return coalesced_group(mask, meta_rank, meta_size);
}

SB_CG_MEETING_FN coalesced_group coalesced_threads() {
  return __sb_make_coalesced(__sb_rt_active_mask(), 0, 1);
}

}  // namespace cooperative_groups

#endif
