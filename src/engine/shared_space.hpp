// The shared memory of one block, in a range of addresses that nothing else uses: an index that
// runs far out of it faults, and the fault is known as one of shared memory.
#pragma once

#include <cstddef>

namespace sb::engine {

class shared_space {
 public:
  shared_space() = default;
  ~shared_space();
  shared_space(const shared_space&) = delete;
  shared_space& operator=(const shared_space&) = delete;

  // At least this many bytes, aligned to a page; what was there may be gone. Null: no memory.
  char* hold(std::size_t bytes);
  // Whether the address is out of bounds of the shared memory and not of anything else.
  [[nodiscard]] bool beyond(const void* address) const;

 private:
  void give_back();

  char* range_ = nullptr;  // with both margins
  char* data_ = nullptr;
  std::size_t capacity_ = 0;
  bool has_margins_ = false;  // where addresses are scarce there are none
};

}  // namespace sb::engine
