#include "engine/device_heap.hpp"

#include <cstdlib>

namespace sb::engine {

bool device_heap::resize(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (touched_) return false;
  limit_ = usable(bytes);
  return true;
}

void* device_heap::allocate(std::size_t bytes, std::uint64_t counted_as) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  touched_ = true;
  if (bytes > limit_ - used_) return nullptr;
  void* address = std::malloc(bytes);
  if (address == nullptr) return nullptr;
  pieces_.emplace(address, piece{bytes, counted_as});
  used_ += bytes;
  count_.store(pieces_.size(), std::memory_order_relaxed);
  return address;
}

bool device_heap::free(void* address) {
  if (address == nullptr) return true;
  const std::lock_guard lock(mutex_);
  const auto found = pieces_.find(address);
  if (found == pieces_.end()) return false;
  used_ -= found->second.bytes;
  pieces_.erase(found);
  count_.store(pieces_.size(), std::memory_order_relaxed);
  std::free(address);
  return true;
}

device_heap::pieces::const_iterator device_heap::around(const void* address) const {
  auto after = pieces_.upper_bound(address);
  if (after == pieces_.begin()) return pieces_.end();
  --after;
  const auto* const end = static_cast<const char*>(after->first) + after->second.bytes;
  return static_cast<const char*>(address) < end ? after : pieces_.end();
}

bool device_heap::contains(const void* address) {
  const std::lock_guard lock(mutex_);
  return around(address) != pieces_.end();
}

std::uint64_t device_heap::counted(const void* address) {
  const auto as_it_is = reinterpret_cast<std::uint64_t>(address);
  if (count_.load(std::memory_order_relaxed) == 0) return as_it_is;
  const std::lock_guard lock(mutex_);
  const auto found = around(address);
  if (found == pieces_.end() || found->second.counted_as == 0) return as_it_is;
  return found->second.counted_as + (as_it_is - reinterpret_cast<std::uint64_t>(found->first));
}

void device_heap::reset() {
  const std::lock_guard lock(mutex_);
  clear();
  limit_ = usable(usual_bytes);
  touched_ = false;
}

// Called under the lock.
void device_heap::clear() {
  for (const auto& [address, piece] : pieces_) std::free(const_cast<void*>(address));
  pieces_.clear();
  count_.store(0, std::memory_order_relaxed);
  used_ = 0;
}

}  // namespace sb::engine
