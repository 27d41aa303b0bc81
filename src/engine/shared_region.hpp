// Memory that another process of the machine can map.
//
// Device memory is private until it is exported: then its pages move into a file in memory that is
// mapped at the same addresses, and another process opens that file through ours (/proc/<pid>/fd).
// What never is exported costs nothing. A mapping outlives the process that exported it.
//
// Thread safety: all functions.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sb::engine {

// A file of another process, or of our own, as it can be told to others.
struct file_address {
  std::int32_t process = 0;
  std::int32_t descriptor = 0;
  std::uint64_t inode = 0;  // tells a descriptor that was used again
  std::uint64_t bytes = 0;
};

// Opens it; less than 0 when it is not there any more.
int open_file(const file_address& address);
file_address address_of_file(int descriptor, std::uint64_t bytes);
// A file in memory without a name; less than 0 when the system refuses.
int make_file(std::uint64_t bytes);

class shared_region {
 public:
  // Moves whole accessible pages, with what they hold, into a file. Threads that write to them
  // meanwhile wait. Nothing, and the pages as they were, when the system refuses.
  static std::optional<shared_region> take_over(char* begin, std::size_t bytes);

  shared_region(shared_region&& other) noexcept;
  shared_region& operator=(shared_region&& other) noexcept;
  shared_region(const shared_region&) = delete;
  // Gives up the file; the mapping stays until the owner of the addresses maps something else.
  ~shared_region();

  [[nodiscard]] char* begin() const { return begin_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] file_address address() const { return address_of_file(descriptor_, bytes_); }

 private:
  shared_region() = default;
  char* begin_ = nullptr;
  std::size_t bytes_ = 0;
  int descriptor_ = -1;
  int place_ = -1;  // among the ranges that the fault handler knows
};

// For the fault handler, callable in a signal: whether the address lies in a region that was or is
// being moved, where an access works when it is tried again.
[[nodiscard]] bool in_shared_region(const void* address);

}  // namespace sb::engine
