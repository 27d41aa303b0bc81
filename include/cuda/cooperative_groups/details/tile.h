/* Tiles: 1, 2, 4, 8, 16 or 32 neighbouring threads of a warp. */
#ifndef STREAMBED_CG_TILE_H
#define STREAMBED_CG_TILE_H

#include "group.h"

namespace cooperative_groups {

namespace details {

/* A value of any trivially copyable type goes through a shuffle in pieces of four or eight bytes.
 */
template <typename Type>
SB_CG_MEETING_FN Type shuffle(unsigned mask, unsigned kind, const Type& value,
                              unsigned lane_or_delta, unsigned width) {
  lane_or_delta &= 31; /* as the hardware does */
  static_assert(__is_trivially_copyable(Type), "only trivially copyable values can be shuffled");
  static_assert(sizeof(Type) <= 32, "values of up to 32 bytes can be shuffled");
  if constexpr (sizeof(Type) == 4 || sizeof(Type) == 8) {
    return __sb_from_payload<Type>(
        __sb_rt_shuffle(mask, kind, __sb_to_payload(value), lane_or_delta, width, 0));
  } else {
    Type result;
    const char* from = reinterpret_cast<const char*>(&value);
    char* to = reinterpret_cast<char*>(&result);
    for (unsigned at = 0; at < sizeof(Type); at += 8) {
      const unsigned bytes = sizeof(Type) - at < 8 ? static_cast<unsigned>(sizeof(Type) - at) : 8;
      unsigned long long piece = 0;
      __builtin_memcpy(&piece, from + at, bytes);
      piece = __sb_rt_shuffle(mask, kind, piece, lane_or_delta, width, 0);
      __builtin_memcpy(to + at, &piece, bytes);
    }
    return result;
  }
}

}  // namespace details

template <unsigned Size, typename Parent = void>
class thread_block_tile;

/* A tile that has forgotten what it is a part of. */
template <unsigned Size>
class thread_block_tile<Size, void> : public thread_group {
  static_assert(Size == 1 || Size == 2 || Size == 4 || Size == 8 || Size == 16 || Size == 32,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  SB_CG_MEETING_FN void sync() const { __sb_rt_warp_sync(mask_); }
  SB_CG_FN static constexpr unsigned num_threads() { return Size; }
  SB_CG_FN static constexpr unsigned size() { return Size; }
  SB_CG_FN static unsigned thread_rank() { return __sb_laneid() & (Size - 1); }
  SB_CG_FN unsigned meta_group_rank() const { return meta_rank_; }
  SB_CG_FN unsigned meta_group_size() const { return meta_size_; }

  template <typename Type>
  SB_CG_MEETING_FN Type shfl(Type value, unsigned rank) const {
    return details::shuffle(mask_, 0, value, rank, Size);
  }
  template <typename Type>
  SB_CG_MEETING_FN Type shfl_up(Type value, unsigned delta) const {
    return details::shuffle(mask_, 1, value, delta, Size);
  }
  template <typename Type>
  SB_CG_MEETING_FN Type shfl_down(Type value, unsigned delta) const {
    return details::shuffle(mask_, 2, value, delta, Size);
  }
  template <typename Type>
  SB_CG_MEETING_FN Type shfl_xor(Type value, unsigned lane_mask) const {
    return details::shuffle(mask_, 3, value, lane_mask, Size);
  }
  SB_CG_MEETING_FN int any(int predicate) const {
    return static_cast<int>(__sb_rt_vote(mask_, 1, predicate));
  }
  SB_CG_MEETING_FN int all(int predicate) const {
    return static_cast<int>(__sb_rt_vote(mask_, 0, predicate));
  }
  SB_CG_MEETING_FN unsigned ballot(int predicate) const {
    return __sb_rt_vote(mask_, 3, predicate) >> first_lane();
  }
  template <typename Type>
  SB_CG_MEETING_FN unsigned match_any(Type value) const {
    return __match_any_sync(mask_, value) >> first_lane();
  }
  template <typename Type>
  SB_CG_MEETING_FN unsigned match_all(Type value, int& predicate) const {
    return __match_all_sync(mask_, value, &predicate) >> first_lane();
  }

  SB_CG_FN unsigned __sb_mask() const { return mask_; }

 protected:
  SB_CG_FN thread_block_tile(unsigned meta_rank, unsigned meta_size)
      : thread_group(kind::of_lanes, tile_mask(), meta_rank, meta_size) {}
  SB_CG_FN static unsigned first_lane() { return __sb_laneid() & ~(Size - 1); }
  SB_CG_FN static unsigned tile_mask() { return (~0u >> (32 - Size)) << first_lane(); }
};

template <unsigned Size, typename Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
  SB_CG_FN thread_block_tile(unsigned meta_rank, unsigned meta_size)
      : thread_block_tile<Size, void>(meta_rank, meta_size) {}

  template <unsigned Other, typename OtherParent>
  friend SB_CG_FN thread_block_tile<Other, OtherParent> __sb_make_tile(unsigned meta_rank,
                                                                       unsigned meta_size);
};

template <unsigned Size, typename Parent>
SB_CG_FN thread_block_tile<Size, Parent> __sb_make_tile(unsigned meta_rank, unsigned meta_size) {
  return thread_block_tile<Size, Parent>(meta_rank, meta_size);
}

}  // namespace cooperative_groups

#endif
