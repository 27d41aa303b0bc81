// What kernels printed and nobody has synchronised with yet. As on the device, the buffer has a
// fixed size, text comes out at synchronisation, and when it overflows the oldest text is lost.
//
// Thread safety: every member may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace sb::engine {

class print_fifo {
 public:
  explicit print_fifo(std::size_t bytes = 1 << 20) : limit_(bytes) {}

  void add(std::string_view text);
  void flush(std::FILE* to);
  void clear();

 private:
  std::size_t limit_;
  std::atomic<bool> quiet_{true};  // no text is here, and none on its way out; written under mutex_
  std::mutex mutex_;
  std::deque<std::string> texts_;  // guarded by mutex_
  std::size_t bytes_ = 0;          // guarded by mutex_
  std::mutex flushing_;  // taken before mutex_: keeps texts in order when two threads flush
};

}  // namespace sb::engine
