#include "engine/private_space.hpp"

#include <sys/mman.h>

#include "engine/races.hpp"

namespace sb::engine {

namespace {

// New pages for the arrays of every few blocks take longer than what the threads do with them: the
// pages stay. Of more than that the system may take them when it needs some.
constexpr std::size_t most_kept = 128 << 20;

}  // namespace

private_space::~private_space() {
  for (piece& one : pieces_) drop(one);
}

void private_space::drop(piece& one) {
  if (one.data != nullptr) munmap(one.data, one.bytes);
  one = {};
}

char* private_space::hold(std::uint32_t number, std::size_t bytes) {
  if (pieces_.size() <= number) pieces_.resize(std::size_t{number} + 1);
  piece& one = pieces_[number];
  if (bytes <= one.bytes) return one.data;
  drop(one);
  // Threads that touch little of their arrays take little memory.
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  one = {static_cast<char*>(at), bytes};
  return one.data;
}

void private_space::release() {
  std::size_t kept = 0;
  for (piece& one : pieces_) {
    if (one.data == nullptr) continue;
    kept += one.bytes;
    forget_accesses(one.data, one.bytes);
    if (kept > most_kept) madvise(one.data, one.bytes, MADV_FREE);
  }
}

}  // namespace sb::engine
