// The file behind a pool that several processes use: the memory, and a last page that says whose.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/ids.hpp"

namespace sb::engine {

class shared_pool_file {
 public:
  shared_pool_file() = default;
  // Makes one.
  shared_pool_file(device_id device, std::size_t bytes);
  // The one behind a descriptor of the program, which stays the program's.
  explicit shared_pool_file(int descriptor);
  ~shared_pool_file();
  shared_pool_file(const shared_pool_file& other);
  shared_pool_file& operator=(const shared_pool_file&) = delete;

  [[nodiscard]] bool valid() const { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] int duplicate() const;
  [[nodiscard]] device_id device() const { return device_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t inode() const;

 private:
  int descriptor_ = -1;
  device_id device_;
  std::size_t bytes_ = 0;
};

}  // namespace sb::engine
