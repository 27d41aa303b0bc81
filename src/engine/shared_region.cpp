#include "engine/shared_region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <utility>

namespace sb::engine {

namespace {

// The regions, for the fault handler: read without a lock. A place with end 0 is free.
struct known_range {
  std::atomic<bool> taken{false};
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
};
std::array<known_range, 1024> known_ranges;

int remember(const char* begin, std::size_t bytes) {
  for (std::size_t i = 0; i < known_ranges.size(); ++i) {
    known_range& k = known_ranges[i];
    if (k.taken.exchange(true, std::memory_order_acq_rel)) continue;
    const auto at = reinterpret_cast<std::uintptr_t>(begin);
    k.begin.store(at, std::memory_order_relaxed);
    k.end.store(at + bytes, std::memory_order_release);
    return static_cast<int>(i);
  }
  return -1;
}

void forget(int place) {
  if (place < 0) return;
  known_range& k = known_ranges[static_cast<std::size_t>(place)];
  k.end.store(0, std::memory_order_release);
  k.taken.store(false, std::memory_order_release);
}

// Other threads wrote here until the pages were closed to them, and write again when the file is in
// place, which a thread sanitizer does not know: looked at without it, and below written and mapped
// by the system calls themselves.
#if defined(__clang__)
__attribute__((no_sanitize("thread")))
#elif defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize_thread))
#endif
bool all_zero(const char* begin, std::size_t bytes) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(begin);
  for (std::size_t i = 0; i < bytes / sizeof *words; ++i) {
    if (words[i] != 0) return false;
  }
  return true;
}

bool write_all(int file, const char* from, std::size_t bytes, std::uint64_t at) {
  while (bytes != 0) {
    const long n = ::syscall(SYS_pwrite64, file, from, bytes, at);
    if (n <= 0) return false;
    from += n;
    at += static_cast<std::uint64_t>(n);
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool map_over(int file, char* begin, std::size_t bytes) {
  return ::syscall(SYS_mmap, begin, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                   0L) == reinterpret_cast<long>(begin);
}

// Pages of zeros stay holes.
bool copy_into(int file, const char* begin, std::size_t bytes) {
  constexpr std::size_t step = 64 << 10;
  for (std::size_t at = 0; at < bytes; at += step) {
    const std::size_t n = std::min(step, bytes - at);
    if (all_zero(begin + at, n)) continue;
    if (!write_all(file, begin + at, n, at)) return false;
  }
  return true;
}

}  // namespace

int make_file(std::uint64_t bytes) {
  const int file = ::memfd_create("streambed", MFD_CLOEXEC);
  if (file < 0) return -1;
  if (::ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
  ::close(file);
  return -1;
}

file_address address_of_file(int descriptor, std::uint64_t bytes) {
  struct stat about{};
  ::fstat(descriptor, &about);
  return {::getpid(), descriptor, about.st_ino, bytes};
}

int open_file(const file_address& address) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", address.process, address.descriptor);
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return -1;
  struct stat about{};
  if (::fstat(file, &about) == 0 && about.st_ino == address.inode &&
      static_cast<std::uint64_t>(about.st_size) >= address.bytes) {
    return file;
  }
  ::close(file);
  return -1;
}

std::optional<shared_region> shared_region::take_over(char* begin, std::size_t bytes) {
  shared_region made;
  made.descriptor_ = make_file(bytes);
  if (made.descriptor_ < 0) return std::nullopt;
  made.begin_ = begin;
  made.bytes_ = bytes;
  // Who writes from here on faults, and tries again until the file is in place (fault.cpp).
  made.place_ = remember(begin, bytes);
  if (made.place_ >= 0) ::mprotect(begin, bytes, PROT_READ);
  if (copy_into(made.descriptor_, begin, bytes) && map_over(made.descriptor_, begin, bytes))
    return made;
  ::mprotect(begin, bytes, PROT_READ | PROT_WRITE);
  return std::nullopt;
}

shared_region::shared_region(shared_region&& other) noexcept { *this = std::move(other); }

shared_region& shared_region::operator=(shared_region&& other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(bytes_, other.bytes_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(place_, other.place_);
  return *this;
}

shared_region::~shared_region() {
  forget(place_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool in_shared_region(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const known_range& k : known_ranges) {
    const std::uintptr_t end = k.end.load(std::memory_order_acquire);
    if (at < end && at >= k.begin.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

}  // namespace sb::engine
