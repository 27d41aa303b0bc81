// What kernels printed and nobody has synchronised with yet. As on the device, the buffer has a
// fixed size, text comes out at synchronisation, and when it overflows the oldest text is lost. A
// host that waits already has it meanwhile, so that none is; h200/limits.tsv fifo.*
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
  static constexpr std::size_t usual_bytes = 8650752;

  explicit print_fifo(std::size_t bytes = usual_bytes) : limit_(bytes) {}

  // False when a kernel has printed already.
  bool resize(std::size_t bytes);

  // A host thread that waits for the device, as long as it lives.
  class reader {
   public:
    explicit reader(print_fifo& of) : of_(of) { of.readers_.fetch_add(1); }
    ~reader() { of_.readers_.fetch_sub(1); }
    reader(const reader&) = delete;
    reader& operator=(const reader&) = delete;

   private:
    print_fifo& of_;
  };

  void add(std::string_view text);
  void flush(std::FILE* to);
  void reset();  // as it was in the beginning

 private:
  std::atomic<int> readers_{0};
  std::atomic<bool> quiet_{true};  // no text is here, and none on its way out; written under mutex_
  std::mutex mutex_;
  std::deque<std::string> texts_;  // guarded by mutex_
  std::size_t bytes_ = 0;          // guarded by mutex_
  std::size_t limit_;              // guarded by mutex_
  bool used_ = false;              // guarded by mutex_
  std::mutex flushing_;  // taken before mutex_: keeps texts in order when two threads flush
};

}  // namespace sb::engine
