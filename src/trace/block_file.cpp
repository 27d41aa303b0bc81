#include "trace/block_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "trace/format.hpp"

namespace sb::trace {
namespace {

// Larger pieces make some file systems look for larger pages, which takes longer.
constexpr std::size_t write_bytes = std::size_t{64} << 10;

constexpr std::size_t mapped_bytes = 3 * block_bytes;

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

// One call instead of a fault for each page. Where the system does not know it, they fault.
void populate(byte* begin) { ::madvise(begin, block_bytes, MADV_POPULATE_WRITE); }

// The block's number, which appears as a whole.
void set_number(byte* block, std::uint32_t number) {
  if constexpr (std::endian::native == std::endian::big) number = __builtin_bswap32(number);
  std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(block + block_mark.size()))
      .store(number, std::memory_order_release);
  // What follows in the window must not come before it.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

constexpr int open_flags = O_RDWR | O_CREAT | O_CLOEXEC;

// As long as the file is open, others know that it is being written.
bool is_written_elsewhere(int descriptor) {
  return ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool has_contents(int descriptor) {
  struct stat what{};
  return ::fstat(descriptor, &what) == 0 && what.st_size != 0;
}

// Neither its name nor its first bytes are those of a trace: it may be a source, named by mistake.
bool is_somebody_elses(const std::string& name, int descriptor) {
  if (name.ends_with(".sbt")) return false;
  std::array<std::uint8_t, file_magic.size()> first{};
  const ssize_t got = ::pread(descriptor, first.data(), first.size(), 0);
  return has_contents(descriptor) &&
         (got != static_cast<ssize_t>(first.size()) || first != file_magic);
}

// -1, and errno stays.
int closed(int descriptor) {
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return -1;
}

// -1 and errno. `path` becomes the name of the file that was opened.
int open_free(std::string& path, existing_file policy) {
  if (policy == existing_file::refuse) {
    const int made = ::open(path.c_str(), open_flags | O_EXCL, 0666);
    if (made >= 0) (void)is_written_elsewhere(made);
    return made;
  }
  constexpr unsigned most = 10'000;
  for (unsigned number = 0; number < most; ++number) {
    const std::string name = number == 0 ? path : numbered_name(path, number);
    const int found = ::open(name.c_str(), open_flags, 0666);
    if (found < 0) return found;
    const bool replaced = policy == existing_file::replace && number == 0;
    if (!is_written_elsewhere(found) && (replaced || !has_contents(found))) {
      if (replaced && is_somebody_elses(name, found)) {
        errno = EEXIST;
        return closed(found);
      }
      if (replaced && ::ftruncate(found, 0) != 0 && has_contents(found)) return closed(found);
      path = name;
      return found;
    }
    ::close(found);
  }
  errno = EEXIST;
  return -1;
}

// Programs that close every descriptor they may have inherited begin with the low ones.
int out_of_the_way(int descriptor) {
  constexpr int first = 1000;
  if (descriptor < 0) return descriptor;
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, first);
  if (moved < 0) return descriptor;
  ::close(descriptor);
  return moved;
}

}  // namespace

std::string numbered_name(const std::string& path, unsigned number) {
  const std::size_t name = path.rfind('/') + 1;  // 0 without one
  std::size_t dot = path.rfind('.');
  if (dot == std::string::npos || dot <= name) dot = path.size();
  return path.substr(0, dot) + "." + std::to_string(number) + path.substr(dot);
}

outcome<std::unique_ptr<block_file>> block_file::create(const std::string& path,
                                                        existing_file policy) {
  std::string name = path;
  const int descriptor = out_of_the_way(open_free(name, policy));
  if (descriptor < 0) {
    if (errno == EEXIST)
      return failure{path + (policy == existing_file::replace
                                 ? " is there already and is no trace. Choose another name, or "
                                   "remove it."
                                 : " exists already. Choose another name, or say that it may be "
                                   "replaced.")};
    return failure{"cannot create " + path + ": " + std::strerror(errno)};
  }
  std::unique_ptr<block_file> file(new block_file(descriptor, name));
  if (const int error = ::posix_fallocate(descriptor, 0, mapped_bytes))
    return failure{"cannot write " + name + ": " + std::strerror(error)};
  void* const mapping =
      ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapping == MAP_FAILED) return failure{"cannot map " + name + ": " + std::strerror(errno)};
  file->mapping_ = file->begin_ = file->at_ = static_cast<byte*>(mapping);
  file->limit_ = file->begin_ + block_bytes;
  populate(file->begin_);
  return file;
}

block_file::~block_file() {
  close();
  if (mapping_) ::munmap(mapping_, mapped_bytes);
}

byte* block_file::next_block(std::size_t bytes) {
  if (descriptor_ < 0 || !problem_.empty() || bytes > block_bytes - block_header_bytes)
    return nullptr;
  sum_.add(begin_, block_bytes);
  if (block_ == 0) {
    begin_ = mapping_ + block_bytes;
    limit_ = begin_ + block_bytes;
    populate(begin_);
    std::copy(block_mark.begin(), block_mark.end(), begin_);
  } else {
    if (!copy_out()) return give_up(std::strerror(errno));
    set_number(begin_, 0);
    std::memset(begin_ + block_header_bytes, 0, block_bytes - block_header_bytes);
  }
  set_number(begin_, ++block_);
  at_ = begin_ + block_header_bytes;
  return at_;
}

namespace {

// A limit for the size of files is an error as well, not a signal in the program.
class no_size_signal {
 public:
  no_size_signal() {
    sigemptyset(&one_);
    sigaddset(&one_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &one_, &before_);
  }
  ~no_size_signal() {
    const int error = errno;
    constexpr timespec now{0, 0};
    if (sigismember(&before_, SIGXFSZ) == 0) sigtimedwait(&one_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  no_size_signal(const no_size_signal&) = delete;
  no_size_signal& operator=(const no_size_signal&) = delete;

 private:
  sigset_t one_, before_;
};

}  // namespace

bool block_file::copy_out() {
  const no_size_signal quiet;
  const std::uint64_t slot = (std::uint64_t{block_} + 2) * block_bytes;
  for (std::size_t done = 0; done < block_bytes;) {
    const ssize_t written =
        ::pwrite(descriptor_, begin_ + done, std::min(write_bytes, block_bytes - done),
                 static_cast<off_t>(slot + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

byte* block_file::give_up(std::string why) {
  problem_ = std::move(why);
  limit_ = at_;
  std::copy(cut_mark.begin(), cut_mark.end(), pending() + block_bytes - cut_mark.size());
  return nullptr;
}

checksum block_file::sum() const {
  checksum whole = sum_;
  if (begin_) whole.add(begin_, static_cast<std::size_t>(at_ - begin_));
  return whole;
}

std::uint64_t block_file::size() const {
  if (descriptor_ < 0) return closed_size_;
  return std::uint64_t{block_} * block_bytes + static_cast<std::uint64_t>(at_ - begin_);
}

void block_file::close() {
  if (descriptor_ < 0) return;
  // What is behind the contents is 0, which the reader takes for the end, should this fail.
  const std::uint64_t end =
      block_ < 2 && problem_.empty() ? size() : (std::uint64_t{block_} + 2) * block_bytes;
  const int descriptor = ::dup(descriptor_);
  const bool mapped = mapping_ != nullptr;
  forget();  // before the file gets shorter: a store behind its end would be a signal
  [[maybe_unused]] const int done = mapped ? ::ftruncate(descriptor, static_cast<off_t>(end)) : 0;
  ::close(descriptor);
}

void block_file::forget() {
  if (descriptor_ < 0) return;
  closed_size_ = size();
  if (mapping_)
    ::mmap(mapping_, mapped_bytes, PROT_READ | PROT_WRITE,
           MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  begin_ = at_ = limit_ = nullptr;
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace sb::trace
