// A heap in a reserved range of addresses: the range is inaccessible, 2 MiB granules of it become
// accessible when an allocation needs them and inaccessible again, their pages dropped, when they
// are wholly free.
//
// As measured on an H200: requests below 2 MiB share granules at multiples of 512 bytes; larger
// ones get whole granules of their own. An access outside the granules faults, one between two
// allocations of a granule does not.
//
// Thread safety: all members. The heap's mutex is a leaf: nothing is called under it but the
// kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

#include "base/status.hpp"
#include "engine/memory_ranges.hpp"
#include "engine/shared_region.hpp"

namespace sb::engine {

inline constexpr std::size_t granule_bytes = std::size_t{2} << 20;
inline constexpr std::size_t allocation_alignment = 512;

enum class heap_check : std::uint8_t {
  none,
  // Every allocation ends at an inaccessible page, and its addresses rest after the free. Bases are
  // aligned to the largest power of two that divides the size, between 16 and 256 bytes.
  guard_pages,
};

// A range of inaccessible addresses, given back at the end. Empty when the system refused even the
// least length.
class reserved_range {
 public:
  reserved_range() = default;
  // Shorter, down to `least`, where a limit of the process refuses the length.
  reserved_range(std::size_t bytes, std::size_t least);
  ~reserved_range();
  reserved_range(reserved_range&& other) noexcept;
  reserved_range& operator=(reserved_range&& other) noexcept;

  [[nodiscard]] char* begin() const { return begin_; }  // aligned to a granule
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] bool contains(const void* address) const {
    const auto* at = static_cast<const char*>(address);
    return at >= begin_ && at < begin_ + bytes_;
  }

  // Puts the pages of a file behind the addresses: what is opened from here on, other processes
  // can map too. The file has the length of the range.
  bool back_with(int file);
  // All of a file, accessible. Empty when the system refuses.
  static reserved_range of_file(int file, std::size_t bytes);

  // Whole pages only. False when the system has no room for the mapping.
  bool open(std::size_t offset, std::size_t bytes);
  void close(std::size_t offset, std::size_t bytes);

 private:
  bool reserve(std::size_t bytes);
  void release();

  char* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  char* begin_ = nullptr;
  std::size_t bytes_ = 0;
  int file_ = -1;  // the owner's
};

struct heap_options {
  std::uint64_t capacity = 0;  // bytes that may be accessible at once
  std::size_t reserve = std::size_t{512} << 30;
  heap_check check = heap_check::none;
  std::size_t alignment = allocation_alignment;  // of allocations that share granules
};

class memory_heap {
 public:
  explicit memory_heap(heap_options options);

  result<void*> allocate(std::size_t bytes);  // bytes > 0
  void release(void* base);                   // of a live allocation
  // Takes capacity without addresses: what a pool holds counts against its device.
  bool charge(std::uint64_t bytes);
  void discharge(std::uint64_t bytes);
  void clear();

  // Makes the memory of a live allocation one that other processes can map, with what lies in the
  // same granules.
  struct shared_place {
    file_address file;
    std::uint64_t offset;  // of the allocation in the file
  };
  result<shared_place> share(void* base);

  [[nodiscard]] std::uint64_t used() const;
  [[nodiscard]] const reserved_range& range() const { return range_; }

 private:
  struct block {
    std::uint64_t offset, length;  // in bytes, what is given back
    enum class where : std::uint8_t { shared_granule, own_granules, guarded } place;
  };

  result<void*> allocate_small(std::size_t bytes);
  result<void*> allocate_granules(std::size_t bytes);
  result<void*> allocate_guarded(std::size_t bytes);
  result<std::uint64_t> open_granules(std::uint64_t count);
  void close_granules(std::uint64_t first, std::uint64_t count);
  void close(std::uint64_t offset, std::uint64_t length);
  void reset_ranges();

  // Constant after construction.
  heap_options options_;
  std::size_t page_;
  reserved_range range_;

  mutable std::mutex mutex_;  // guards the rest
  std::uint64_t used_ = 0;
  free_ranges granules_;                             // in granules; pages with guard pages
  free_ranges units_;                                // in units of the alignment
  std::uint64_t cursor_ = 0;                         // guard pages: where to look next
  std::unordered_map<std::uint64_t, block> blocks_;  // by the offset of their base
  std::map<std::uint64_t, shared_region> shared_;    // by their offset
};

}  // namespace sb::engine
