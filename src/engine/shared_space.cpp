#include "engine/shared_space.hpp"

#include <sys/mman.h>

namespace sb::engine {

namespace {

// On each side. A multiprocessor's shared memory has addresses of 24 bits, an index four bytes.
constexpr std::size_t margin = 64 << 20;
constexpr std::size_t page = 64 << 10;  // the largest there is

}  // namespace

shared_space::~shared_space() { give_back(); }

void shared_space::give_back() {
  if (range_ != nullptr) munmap(range_, capacity_ + (has_margins_ ? 2 * margin : 0));
  range_ = data_ = nullptr;
  capacity_ = 0;
}

char* shared_space::hold(std::size_t bytes) {
  if (bytes <= capacity_) return data_;
  give_back();
  const std::size_t length = (bytes + page - 1) / page * page;
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* at = mmap(nullptr, length + 2 * margin, PROT_NONE, flags, -1, 0);
  has_margins_ = at != MAP_FAILED;
  if (has_margins_) {
    range_ = static_cast<char*>(at);
    data_ = range_ + margin;
    capacity_ = length;
    if (mprotect(data_, length, PROT_READ | PROT_WRITE) == 0) return data_;
    give_back();
    has_margins_ = false;
  }
  at = mmap(nullptr, length, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  range_ = data_ = static_cast<char*>(at);
  capacity_ = length;
  return data_;
}

bool shared_space::beyond(const void* address) const {
  const auto* at = static_cast<const char*>(address);
  if (!has_margins_ || range_ == nullptr) return false;
  return at >= range_ && at < range_ + capacity_ + 2 * margin &&
         (at < data_ || at >= data_ + capacity_);
}

}  // namespace sb::engine
