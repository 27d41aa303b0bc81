#include "engine/shared_space.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "engine/races.hpp"

namespace sb::engine {

namespace {

// On each side. A multiprocessor's shared memory has addresses of 24 bits, an index four bytes.
constexpr std::size_t margin = 64 << 20;
constexpr std::size_t window = 16 << 20;
constexpr std::size_t kept_by_cuda = 1024;  // cudaDevAttrReservedSharedMemoryPerBlock

}  // namespace

shared_space::~shared_space() { give_back(); }

void shared_space::give_back() {
  if (range_ != nullptr) munmap(range_, capacity_ + (has_margins_ ? 2 * margin : 0));
  range_ = data_ = nullptr;
  capacity_ = held_ = 0;
}

char* shared_space::hold(std::size_t bytes) {
  if (bytes + kept_by_cuda > capacity_ && bytes != 0 && !grow(bytes + kept_by_cuda)) return nullptr;
  held_ = bytes;
  return data_ + (capacity_ - bytes);
}

void shared_space::forget() { forget_accesses(data_, capacity_); }

bool shared_space::grow(std::size_t bytes) {
  give_back();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t length = (bytes + page - 1) / page * page;
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* at = mmap(nullptr, length + 2 * margin, PROT_NONE, flags, -1, 0);
  has_margins_ = at != MAP_FAILED;
  if (has_margins_) {
    range_ = static_cast<char*>(at);
    data_ = range_ + margin;
    capacity_ = length;
    if (mprotect(data_, length, PROT_READ | PROT_WRITE) == 0) return true;
    give_back();
    has_margins_ = false;
  }
  at = mmap(nullptr, length, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (at == MAP_FAILED) return false;
  range_ = data_ = static_cast<char*>(at);
  capacity_ = length;
  return true;
}

shared_space::place shared_space::place_of(const void* address) const {
  const auto* at = static_cast<const char*>(address);
  if (!has_margins_ || range_ == nullptr || at < range_ || at >= range_ + capacity_ + 2 * margin)
    return place::elsewhere;
  const char* end = data_ + capacity_;
  const char* begin = end - held_ - kept_by_cuda;
  return at < begin || at >= begin + window ? place::outside : place::behind;
}

}  // namespace sb::engine
