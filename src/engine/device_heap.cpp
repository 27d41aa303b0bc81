#include "engine/device_heap.hpp"

#include <cstdlib>

namespace sb::engine {

void* device_heap::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  std::lock_guard lock(mutex_);
  if (bytes > limit_ - used_) return nullptr;
  void* address = std::malloc(bytes);
  if (address == nullptr) return nullptr;
  blocks_.emplace(address, bytes);
  used_ += bytes;
  return address;
}

bool device_heap::free(void* address) {
  if (address == nullptr) return true;
  std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return false;
  used_ -= found->second;
  blocks_.erase(found);
  std::free(address);
  return true;
}

bool device_heap::contains(const void* address) {
  std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(const_cast<void*>(address));
  if (after == blocks_.begin()) return false;
  --after;
  return static_cast<const char*>(address) < static_cast<char*>(after->first) + after->second;
}

void device_heap::clear() {
  std::lock_guard lock(mutex_);
  for (const auto& [address, bytes] : blocks_) std::free(address);
  blocks_.clear();
  used_ = 0;
}

}  // namespace sb::engine
