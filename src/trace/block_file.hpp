// A file that is appended to through a shared mapping: what was stored in it stays when the process
// is killed, without a system call for each record.
//
// Not safe for several threads; the writer has a lock.
//
// The file is made of slots of one size. Only the first three are ever mapped: to map fresh pages
// of a file costs more than everything else here. Block 0 is written in slot 0. All others are
// written in slot 1, the window: when one is full it is copied to the end of the file by ordinary
// writes, and the window becomes the next block. Each but the first begins with a mark and its own
// number; that of the window is 0 while it changes, and by then the block is in its place. What a
// block does not use is 0.
//
//   slot     0        1                     2                 3        4       ...
//   block    0        the last (window)     (pending calls)   1        2
//
// Slot 2 belongs to pending_calls.hpp. It stays writable after the file is closed, without being of
// the file any more: threads that were about to store something there need not be asked.
//
// A full disk is an error here, not a signal in the program: what is mapped is allocated before,
// the others are written.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/outcome.hpp"
#include "trace/checksum.hpp"
#include "trace/format.hpp"

namespace sb::trace {

// `replace`: but only a trace, and not one that another process is writing. `beside`: a file that
// has contents, or that another process is writing, stays. In both cases the new one gets a name
// with a number.
enum class existing_file { refuse, replace, beside };

// run.sbt becomes run.2.sbt.
std::string numbered_name(const std::string& path, unsigned number);

class block_file {
 public:
  static outcome<std::unique_ptr<block_file>> create(const std::string& path, existing_file policy);
  block_file(const block_file&) = delete;
  block_file& operator=(const block_file&) = delete;
  ~block_file();

  // Room for `bytes` (less than a block) in one piece, all 0; nullptr when the file cannot grow,
  // from then on always.
  byte* room(std::size_t bytes) {
    return bytes <= static_cast<std::size_t>(limit_ - at_) ? at_ : next_block(bytes);
  }
  // The room up to here now belongs to the file.
  void advance(byte* to) { at_ = to; }
  // Of everything up to now.
  [[nodiscard]] checksum sum() const;
  [[nodiscard]] std::uint64_t size() const;  // without what is not used of the last block
  void close();                              // the file ends where its contents do
  [[nodiscard]] byte* pending() const { return mapping_ + 2 * block_bytes; }
  // The child of a fork: the file is the parent's.
  void forget();
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  block_file(int descriptor, std::string path) : path_(std::move(path)), descriptor_(descriptor) {}
  byte* next_block(std::size_t bytes);
  bool copy_out();
  byte* give_up(std::string why);

  byte* at_ = nullptr;
  byte* limit_ = nullptr;    // of the block
  byte* begin_ = nullptr;    // of the block
  byte* mapping_ = nullptr;  // of three slots
  std::uint32_t block_ = 0;
  std::uint64_t closed_size_ = 0;
  checksum sum_;  // of the blocks before
  const std::string path_;
  int descriptor_;
  std::string problem_;  // why the file cannot grow; empty: it can
};

}  // namespace sb::trace
