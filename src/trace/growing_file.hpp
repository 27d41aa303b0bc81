// A file that is appended to through a shared mapping: what was stored in it stays when the process
// is killed, without a system call for each record.
//
// Not safe for several threads; the writer has a lock. The mapping is a window of the file that
// begins at the page of the end and moves on when it is full. Its space is allocated before it is
// mapped: a full disk is an error here, not a signal in the program.
#pragma once

#include <memory>
#include <string>

#include "base/outcome.hpp"
#include "trace/checksum.hpp"

namespace sb::trace {

enum class existing_file { refuse, replace };

class growing_file {
 public:
  static outcome<std::unique_ptr<growing_file>> create(const std::string& path,
                                                       existing_file policy);
  growing_file(const growing_file&) = delete;
  growing_file& operator=(const growing_file&) = delete;
  ~growing_file();  // the file ends where the last record does

  // Room for `bytes` at the end, all 0; nullptr when the file cannot grow, from then on always.
  byte* room(std::size_t bytes) {
    return bytes <= static_cast<std::size_t>(limit_ - at_) ? at_ : grow(bytes);
  }
  // The first bytes of the room now belong to the file.
  void advance(byte* to) { at_ = to; }
  // Of everything up to the end. Nothing may be added afterwards but the end record.
  const checksum& sum();
  [[nodiscard]] std::uint64_t size() const {
    return window_offset_ + static_cast<std::uint64_t>(at_ - window_);
  }
  void close();
  // The child of a fork: the file is the parent's.
  void forget();
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  explicit growing_file(int descriptor) : descriptor_(descriptor) {}
  byte* grow(std::size_t bytes);
  byte* give_up(std::string why);
  void unmap();

  byte* at_ = nullptr;
  byte* limit_ = nullptr;  // of the room: the window's end
  byte* window_ = nullptr;
  std::size_t window_size_ = 0;
  std::uint64_t window_offset_ = 0;
  byte* summed_ = nullptr;  // what is before it is in sum_
  checksum sum_;
  int descriptor_;
  std::string problem_;  // why the file cannot grow; empty: it can
};

}  // namespace sb::trace
