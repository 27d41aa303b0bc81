#include "trace/growing_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sb::trace {
namespace {

// Some ten thousand operations.
constexpr std::size_t step = std::size_t{1} << 20;

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

outcome<std::unique_ptr<growing_file>> growing_file::create(const std::string& path,
                                                            existing_file policy) {
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC;
  const int descriptor =
      ::open(path.c_str(), flags | (policy == existing_file::refuse ? O_EXCL : O_TRUNC), 0666);
  if (descriptor < 0) {
    if (errno == EEXIST)
      return failure{path +
                     " exists already. Choose another name, or say that it may be replaced."};
    return failure{"cannot create " + path + ": " + std::strerror(errno)};
  }
  std::unique_ptr<growing_file> file(new growing_file(descriptor));
  if (!file->room(page_size())) return failure{"cannot write " + path + ": " + file->problem()};
  return file;
}

growing_file::~growing_file() { close(); }

byte* growing_file::grow(std::size_t bytes) {
  if (descriptor_ < 0 || !problem_.empty()) return nullptr;
  const std::size_t page = page_size();
  const auto used = static_cast<std::size_t>(at_ - window_);
  const std::size_t passed = used / page * page;
  const std::uint64_t offset = window_offset_ + passed;
  const std::size_t size = (std::max(step, used - passed + bytes) + page - 1) / page * page;
  int error = ::posix_fallocate(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size));
  if (error) return give_up(std::strerror(error));
  void* const next = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_,
                            static_cast<off_t>(offset));
  if (next == MAP_FAILED) return give_up(std::strerror(errno));
  // One call instead of a fault for each page. Where the kernel does not know it, they fault.
  ::madvise(next, size, MADV_POPULATE_WRITE);
  if (window_) {
    sum_.add(summed_, static_cast<std::size_t>(window_ + passed - summed_));
    unmap();
  }
  window_ = static_cast<byte*>(next);
  window_size_ = size;
  window_offset_ = offset;
  summed_ = window_;
  limit_ = window_ + size;
  at_ = window_ + (used - passed);
  return at_;
}

byte* growing_file::give_up(std::string why) {
  problem_ = std::move(why);
  limit_ = at_;
  return nullptr;
}

const checksum& growing_file::sum() {
  if (window_) sum_.add(summed_, static_cast<std::size_t>(at_ - summed_));
  summed_ = at_;
  return sum_;
}

void growing_file::unmap() {
  ::munmap(window_, window_size_);
  window_ = nullptr;
}

void growing_file::close() {
  if (descriptor_ < 0) return;
  // A file that could not be cut has zeros at its end, which the reader takes for the end.
  [[maybe_unused]] const int done = ::ftruncate(descriptor_, static_cast<off_t>(size()));
  forget();
}

void growing_file::forget() {
  if (descriptor_ < 0) return;
  window_offset_ = size();
  if (window_) unmap();
  at_ = limit_ = summed_ = nullptr;
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace sb::trace
