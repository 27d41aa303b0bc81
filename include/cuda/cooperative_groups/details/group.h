/* The general group, the block and the grid. */
#ifndef STREAMBED_CG_GROUP_H
#define STREAMBED_CG_GROUP_H

#include "../../cuda_runtime.h"

#define SB_CG_FN __device__ __forceinline__
#define SB_CG_MEETING_FN __device__ __attribute__((convergent)) __forceinline__

namespace cooperative_groups {

class thread_block;
class coalesced_group;

/* A group of any kind. A group of a warp is described by the mask of its lanes. */
class thread_group {
 public:
  enum class kind : unsigned { of_block, of_grid, of_lanes };

  SB_CG_FN unsigned long long num_threads() const {
    if (kind_ == kind::of_block) return __sb_ntid_x() * __sb_ntid_y() * __sb_ntid_z();
    if (kind_ == kind::of_grid) {
      return static_cast<unsigned long long>(__sb_ntid_x() * __sb_ntid_y() * __sb_ntid_z()) *
             __sb_nctaid_x() * __sb_nctaid_y() * __sb_nctaid_z();
    }
    return static_cast<unsigned>(__builtin_popcount(mask_));
  }
  SB_CG_FN unsigned long long size() const { return num_threads(); }
  SB_CG_FN unsigned long long thread_rank() const {
    if (kind_ == kind::of_block) return __sb_linear_tid();
    if (kind_ == kind::of_grid) {
      const unsigned long long block_rank =
          (static_cast<unsigned long long>(__sb_ctaid_z()) * __sb_nctaid_y() + __sb_ctaid_y()) *
              __sb_nctaid_x() +
          __sb_ctaid_x();
      return block_rank * (__sb_ntid_x() * __sb_ntid_y() * __sb_ntid_z()) + __sb_linear_tid();
    }
    return rank_in_mask();
  }
  SB_CG_MEETING_FN void sync() const {
    if (kind_ == kind::of_block) {
      __sb_rt_barrier(0, 0);
    } else if (kind_ == kind::of_grid) {
      __sb_rt_grid_sync();
    } else {
      __sb_rt_warp_sync(mask_);
    }
  }
  /* A grid has somewhere to meet when its launch is cooperative. */
  SB_CG_FN bool is_valid() const { return kind_ != kind::of_grid || __sb_cooperative() != 0; }

 protected:
  SB_CG_FN explicit thread_group(kind which, unsigned mask = 0, unsigned meta_rank = 0,
                                 unsigned meta_size = 1)
      : kind_(which), mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

  SB_CG_FN unsigned rank_in_mask() const {
    return static_cast<unsigned>(__builtin_popcount(mask_ & ((1u << __sb_laneid()) - 1u)));
  }

  kind kind_;
  unsigned mask_;
  /* Where the group stands among those that its parent was divided into. */
  unsigned meta_rank_;
  unsigned meta_size_;

  friend SB_CG_FN thread_group tiled_partition(const thread_group& parent, unsigned size);
};

class thread_block : public thread_group {
 public:
  struct arrival_token {};

  SB_CG_MEETING_FN static void sync() { __sb_rt_barrier(0, 0); }
  /* The two halves of a barrier. The first only promises: the threads meet in the second. */
  SB_CG_FN static arrival_token barrier_arrive() { return {}; }
  SB_CG_MEETING_FN static void barrier_wait(arrival_token&&) { sync(); }
  SB_CG_MEETING_FN static void barrier_wait(arrival_token&) { sync(); }

  SB_CG_FN static unsigned num_threads() { return __sb_ntid_x() * __sb_ntid_y() * __sb_ntid_z(); }
  SB_CG_FN static unsigned size() { return num_threads(); }
  SB_CG_FN static unsigned thread_rank() { return __sb_linear_tid(); }
  SB_CG_FN static dim3 group_index() {
    return dim3(__sb_ctaid_x(), __sb_ctaid_y(), __sb_ctaid_z());
  }
  SB_CG_FN static dim3 thread_index() { return dim3(__sb_tid_x(), __sb_tid_y(), __sb_tid_z()); }
  SB_CG_FN static dim3 dim_threads() { return dim3(__sb_ntid_x(), __sb_ntid_y(), __sb_ntid_z()); }
  SB_CG_FN static dim3 group_dim() { return dim_threads(); }

 private:
  SB_CG_FN thread_block() : thread_group(kind::of_block) {}
  friend SB_CG_FN thread_block this_thread_block();
};

SB_CG_FN thread_block this_thread_block() { return thread_block(); }

class grid_group : public thread_group {
 public:
  struct arrival_token {};

  SB_CG_FN static bool is_valid() { return __sb_cooperative() != 0; }
  SB_CG_MEETING_FN static void sync() { __sb_rt_grid_sync(); }
  SB_CG_FN static arrival_token barrier_arrive() { return {}; }
  SB_CG_MEETING_FN static void barrier_wait(arrival_token&&) { sync(); }
  SB_CG_MEETING_FN static void barrier_wait(arrival_token&) { sync(); }

  SB_CG_FN unsigned long long thread_rank() const { return thread_group::thread_rank(); }
  SB_CG_FN unsigned long long num_threads() const { return thread_group::num_threads(); }
  SB_CG_FN unsigned long long size() const { return num_threads(); }
  SB_CG_FN static dim3 dim_blocks() {
    return dim3(__sb_nctaid_x(), __sb_nctaid_y(), __sb_nctaid_z());
  }
  SB_CG_FN static dim3 group_dim() { return dim_blocks(); }
  SB_CG_FN static dim3 block_index() {
    return dim3(__sb_ctaid_x(), __sb_ctaid_y(), __sb_ctaid_z());
  }
  SB_CG_FN static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(__sb_nctaid_x()) * __sb_nctaid_y() * __sb_nctaid_z();
  }
  SB_CG_FN static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(__sb_ctaid_z()) * __sb_nctaid_y() + __sb_ctaid_y()) *
               __sb_nctaid_x() +
           __sb_ctaid_x();
  }
  SB_CG_FN static unsigned long long num_clusters() { return num_blocks(); }
  SB_CG_FN static unsigned long long cluster_rank() { return block_rank(); }

 private:
  SB_CG_FN grid_group() : thread_group(kind::of_grid) {}
  friend SB_CG_FN grid_group this_grid();
};

SB_CG_FN grid_group this_grid() { return grid_group(); }

/* The same questions as functions. */
template <typename Group>
SB_CG_MEETING_FN void sync(const Group& group) {
  group.sync();
}
template <typename Group>
SB_CG_FN auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <typename Group>
SB_CG_FN auto group_size(const Group& group) {
  return group.size();
}

}  // namespace cooperative_groups

#endif
