// malloc and free inside kernels: a heap per device, kept until the device is reset.
//
// Thread safety: every member may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace sb::engine {

class device_heap {
 public:
  static constexpr std::size_t usual_bytes = 8 << 20;

  explicit device_heap(std::size_t bytes = usual_bytes) : limit_(usable(bytes)) {}
  ~device_heap() { reset(); }
  device_heap(const device_heap&) = delete;
  device_heap& operator=(const device_heap&) = delete;

  // False when a kernel has used the heap already.
  bool resize(std::size_t bytes);
  // Null when the heap is full. `counted_as`: see below.
  void* allocate(std::size_t bytes, std::uint64_t counted_as = 0);
  // False for an address that allocate did not return, or that was freed before.
  bool free(void* address);
  // Whether the address lies in memory that a kernel allocated.
  bool contains(const void* address);
  // Where an address lies for whoever counts accesses: the same in every run, wherever the host's
  // heap has it. An address of other memory is what it is.
  std::uint64_t counted(const void* address);
  void reset();  // as it was in the beginning

 private:
  // CUDA: some of it is the heap's own; h200/limits.tsv heap.*.greatest
  static constexpr std::size_t usable(std::size_t bytes) { return bytes / 35 * 32; }
  void clear();

  struct piece {
    std::size_t bytes;
    std::uint64_t counted_as;
  };
  using pieces = std::map<const void*, piece, std::less<>>;
  // The piece that an address lies in, or the end. Called under the lock.
  [[nodiscard]] pieces::const_iterator around(const void* address) const;

  std::atomic<std::size_t> count_{0};  // of pieces; written under mutex_
  std::mutex mutex_;
  std::size_t limit_;     // guarded by mutex_
  bool touched_ = false;  // guarded by mutex_
  pieces pieces_;         // guarded by mutex_
  std::size_t used_ = 0;  // guarded by mutex_
};

}  // namespace sb::engine
