/* Copies into shared memory in stages. */
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_

#include "cuda_pipeline_primitives.h"

#if defined(__cplusplus) && defined(__CUDA__) && defined(__clang__)

namespace nvcuda {
namespace experimental {

class pipeline {
 public:
  pipeline() = default;
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  __device__ size_t commit() { return stage_++; }
  __device__ void commit_and_wait() { ++stage_; }
  __device__ void wait(size_t) {}
  template <unsigned Prior>
  __device__ void wait_prior() {}

 private:
  size_t stage_ = 0;
};

template <typename Type>
static __device__ __forceinline__ void memcpy_async(Type& destination, const Type& source,
                                                    pipeline&) {
  destination = source;
}

}  // namespace experimental
}  // namespace nvcuda

#endif

#endif
