// malloc and free inside kernels: a heap per device with CUDA's default limit, kept until the
// device is reset.
//
// Thread safety: every member may be called from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>

namespace sb::engine {

class device_heap {
 public:
  explicit device_heap(std::size_t limit = 8 << 20) : limit_(limit) {}
  ~device_heap() { clear(); }
  device_heap(const device_heap&) = delete;
  device_heap& operator=(const device_heap&) = delete;

  void* allocate(std::size_t bytes);  // null when the heap is full
  // False for an address that allocate did not return, or that was freed before.
  bool free(void* address);
  // Whether the address lies in memory that a kernel allocated.
  bool contains(const void* address);
  void clear();

 private:
  const std::size_t limit_;
  std::mutex mutex_;
  std::map<void*, std::size_t, std::less<>> blocks_;  // guarded by mutex_
  std::size_t used_ = 0;                              // guarded by mutex_
};

}  // namespace sb::engine
