// The packed parameters of a launch. Most kernels have few, and those need no memory of their own;
// more than param_memory::block_bytes come from the heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "engine/param_memory.hpp"

namespace sb::engine {

// The bytes lie as a kernel wants them (16 bytes apart) where the block itself does.
class param_block {
 public:
  param_block() = default;
  param_block(const param_block& other) {
    resize(other.size());
    std::memcpy(data(), other.data(), bytes_);
  }
  param_block(param_block&& other) noexcept { take(other); }
  param_block& operator=(const param_block& other) {
    if (this != &other) *this = param_block(other);
    return *this;
  }
  param_block& operator=(param_block&& other) noexcept {
    release();
    take(other);
    return *this;
  }
  ~param_block() { release(); }

  // What the bytes hold is lost.
  void resize(std::size_t bytes) {
    release();
    bytes_ = 0;  // as long as there is no memory for them
    if (bytes > inline_bytes) far_ = allocate(bytes);
    bytes_ = static_cast<std::uint32_t>(bytes);
  }

  [[nodiscard]] char* data() { return far() ? far_ : near_; }
  [[nodiscard]] const char* data() const { return far() ? far_ : near_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  static constexpr std::size_t inline_bytes = 40;
  static constexpr std::align_val_t alignment{param_memory::alignment};

  [[nodiscard]] bool far() const { return bytes_ > inline_bytes; }
  [[nodiscard]] static bool pooled(std::size_t bytes) { return bytes <= param_memory::block_bytes; }
  [[nodiscard]] static char* allocate(std::size_t bytes) {
    return pooled(bytes) ? param_memory::take()
                         : static_cast<char*>(::operator new(bytes, alignment));
  }
  void release() {
    if (!far()) return;
    if (pooled(bytes_)) {
      param_memory::give(far_);
    } else {
      ::operator delete(far_, alignment);
    }
  }
  void take(param_block& other) {
    bytes_ = std::exchange(other.bytes_, 0);
    if (far())
      far_ = other.far_;
    else
      std::memcpy(near_, other.near_, bytes_);
  }

  union {
    char near_[inline_bytes];
    char* far_;
  };
  std::uint32_t bytes_ = 0;
};

}  // namespace sb::engine
