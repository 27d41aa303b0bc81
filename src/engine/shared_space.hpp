// The shared memory of one block, in a range of addresses that nothing else uses: an index that
// runs out of it faults, and the fault is known as one of shared memory.
//
// The memory ends where a page does. In front of it lies what CUDA keeps for itself, which a
// program may touch; h200/accesses.tsv access.shared.*
#pragma once

#include <cstddef>

namespace sb::engine {

class shared_space {
 public:
  shared_space() = default;
  ~shared_space();
  shared_space(const shared_space&) = delete;
  shared_space& operator=(const shared_space&) = delete;

  // So many bytes, a multiple of the alignment that they shall have; what was there may be gone.
  // Null: no memory.
  char* hold(std::size_t bytes);
  // For those who check for races: who was here before does not matter.
  void forget();

  // What an address that faulted has to do with it.
  enum class place {
    elsewhere,
    behind,   // past the end, where a multiprocessor with more memory would have some
    outside,  // nowhere in a multiprocessor's shared memory
  };
  [[nodiscard]] place place_of(const void* address) const;

 private:
  bool grow(std::size_t bytes);
  void give_back();

  char* range_ = nullptr;  // with both margins
  char* data_ = nullptr;
  std::size_t held_ = 0;
  std::size_t capacity_ = 0;
  bool has_margins_ = false;  // where addresses are scarce there are none
};

}  // namespace sb::engine
