/* Copies made by a group together. They are complete when `wait` returns. */
#ifndef _CG_MEMCPY_ASYNC_H_
#define _CG_MEMCPY_ASYNC_H_

#include "../cooperative_groups.h"

#if defined(__cplusplus) && defined(__CUDA__) && defined(__clang__)
namespace cooperative_groups {

/* `bytes` of memory; each thread copies every n-th piece. */
template <typename Group, typename Type>
SB_CG_FN void memcpy_async(const Group& group, Type* destination, const Type* source,
                           size_t bytes) {
  const size_t step = group.num_threads();
  char* to = reinterpret_cast<char*>(destination);
  const char* from = reinterpret_cast<const char*>(source);
  for (size_t at = group.thread_rank() * 4; at + 4 <= bytes; at += step * 4) {
    __builtin_memcpy(to + at, from + at, 4);
  }
  const size_t tail = bytes / 4 * 4;
  for (size_t at = tail + group.thread_rank(); at < bytes; at += step) to[at] = from[at];
}
/* As many elements as both sides have room for. */
template <typename Group, typename Type>
SB_CG_FN void memcpy_async(const Group& group, Type* destination, size_t destination_count,
                           const Type* source, size_t source_count) {
  memcpy_async(
      group, destination, source,
      (destination_count < source_count ? destination_count : source_count) * sizeof(Type));
}

template <typename Group>
SB_CG_MEETING_FN void wait(const Group& group) {
  group.sync();
}
template <unsigned Stages, typename Group>
SB_CG_MEETING_FN void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
#endif

#endif
