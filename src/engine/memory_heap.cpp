#include "engine/memory_heap.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

namespace sb::engine {

namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

reserved_range::reserved_range(std::size_t bytes, std::size_t least) {
  bool limited = false;
  for (; bytes >= least && bytes >= granule_bytes; bytes /= 2) {
    if (!reserve(bytes)) {
      limited = true;
      continue;
    }
    // Under a limit of the process the rest of it needs addresses too.
    if (limited && bytes / 4 >= least) {
      release();
      if (!reserve(bytes / 4)) continue;
    }
    return;
  }
}

bool reserved_range::reserve(std::size_t bytes) {
  const std::size_t with_slack = bytes + granule_bytes;
  void* mapping =
      ::mmap(nullptr, with_slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return false;
  mapping_ = static_cast<char*>(mapping);
  mapping_bytes_ = with_slack;
  const auto at = reinterpret_cast<std::uintptr_t>(mapping);
  begin_ = mapping_ + (round_up(at, granule_bytes) - at);
  bytes_ = bytes;
  return true;
}

void reserved_range::release() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapping_bytes_);
  mapping_ = begin_ = nullptr;
  mapping_bytes_ = bytes_ = 0;
}

reserved_range::~reserved_range() { release(); }

reserved_range::reserved_range(reserved_range&& other) noexcept { *this = std::move(other); }

reserved_range& reserved_range::operator=(reserved_range&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(begin_, other.begin_);
  std::swap(bytes_, other.bytes_);
  std::swap(file_, other.file_);
  return *this;
}

bool reserved_range::back_with(int file) {
  void* mapping =
      ::mmap(begin_, bytes_, PROT_NONE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, 0);
  if (mapping == MAP_FAILED) return false;
  file_ = file;
  return true;
}

reserved_range reserved_range::of_file(int file, std::size_t bytes) {
  reserved_range range;
  void* mapping =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (mapping == MAP_FAILED) return range;
  range.mapping_ = range.begin_ = static_cast<char*>(mapping);
  range.mapping_bytes_ = range.bytes_ = bytes;
  return range;
}

bool reserved_range::open(std::size_t offset, std::size_t bytes) {
  if (::mprotect(begin_ + offset, bytes, PROT_READ | PROT_WRITE) != 0) return false;
  // Fewer faults at the first touch of large buffers; refusal does no harm.
  if (bytes > granule_bytes) ::madvise(begin_ + offset, bytes, MADV_HUGEPAGE);
  return true;
}

void reserved_range::close(std::size_t offset, std::size_t bytes) {
  if (file_ >= 0) {
    ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(bytes));
    ::mprotect(begin_ + offset, bytes, PROT_NONE);
    return;
  }
  // A fresh mapping over the old one drops its pages and its rights in one step.
  void* mapping = ::mmap(begin_ + offset, bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  // With too many mappings it is refused; the pages can still go.
  if (mapping == MAP_FAILED) ::madvise(begin_ + offset, bytes, MADV_DONTNEED);
}

memory_heap::memory_heap(heap_options options)
    : options_(options),
      page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
      range_(options.reserve, std::size_t{64} << 20) {
  reset_ranges();
}

void memory_heap::reset_ranges() {
  granules_ = free_ranges();
  units_ = free_ranges(granule_bytes / options_.alignment);
  const std::uint64_t unit = options_.check == heap_check::guard_pages ? page_ : granule_bytes;
  if (range_.bytes() != 0) granules_.add(0, range_.bytes() / unit);
}

result<void*> memory_heap::allocate(std::size_t bytes) {
  if (bytes > options_.capacity || bytes > range_.bytes()) return status::memory_allocation;
  const std::lock_guard lock(mutex_);
  if (options_.check == heap_check::guard_pages) return allocate_guarded(bytes);
  return bytes < granule_bytes ? allocate_small(bytes) : allocate_granules(bytes);
}

result<std::uint64_t> memory_heap::open_granules(std::uint64_t count) {
  const std::uint64_t bytes = count * granule_bytes;
  if (used_ + bytes > options_.capacity) return status::memory_allocation;
  const auto first = granules_.take(count);
  if (!first) return status::memory_allocation;
  if (!range_.open(*first * granule_bytes, bytes)) {
    granules_.add(*first, count);
    return status::memory_allocation;
  }
  used_ += bytes;
  return *first;
}

void memory_heap::close_granules(std::uint64_t first, std::uint64_t count) {
  close(first * granule_bytes, count * granule_bytes);
  granules_.add(first, count);
  used_ -= count * granule_bytes;
}

result<void*> memory_heap::allocate_small(std::size_t bytes) {
  const std::uint64_t unit = options_.alignment;
  const std::uint64_t units_per_granule = granule_bytes / unit;
  const std::uint64_t units = round_up(bytes, unit) / unit;
  auto at = units_.take(units);
  if (!at) {
    const auto granule = open_granules(1);
    if (!granule) return granule.error();
    units_.add(*granule * units_per_granule, units_per_granule);
    at = units_.take(units);
  }
  const std::uint64_t offset = *at * unit;
  blocks_.emplace(offset, block{offset, units * unit, block::where::shared_granule});
  return static_cast<void*>(range_.begin() + offset);
}

result<void*> memory_heap::allocate_granules(std::size_t bytes) {
  const std::uint64_t count = round_up(bytes, granule_bytes) / granule_bytes;
  const auto first = open_granules(count);
  if (!first) return first.error();
  const std::uint64_t offset = *first * granule_bytes;
  blocks_.emplace(offset, block{offset, count * granule_bytes, block::where::own_granules});
  return static_cast<void*>(range_.begin() + offset);
}

result<void*> memory_heap::allocate_guarded(std::size_t bytes) {
  const std::uint64_t pages = round_up(bytes, page_) / page_;
  if (used_ + pages * page_ > options_.capacity) return status::memory_allocation;
  const auto first = granules_.take_after(cursor_, pages + 1);  // the guard page stays closed
  if (!first) return status::memory_allocation;
  const std::uint64_t offset = *first * page_;
  if (!range_.open(offset, pages * page_)) {
    granules_.add(*first, pages + 1);
    return status::memory_allocation;
  }
  cursor_ = *first + pages + 1;
  used_ += pages * page_;
  const std::uint64_t natural = std::uint64_t{1} << std::countr_zero(bytes);
  const std::uint64_t alignment = std::clamp<std::uint64_t>(natural, 16, 256);
  const std::uint64_t base = offset + pages * page_ - round_up(bytes, alignment);
  blocks_.emplace(base, block{offset, pages * page_, block::where::guarded});
  return static_cast<void*>(range_.begin() + base);
}

// Nobody else can map the memory any more; who has mapped it keeps it.
void memory_heap::close(std::uint64_t offset, std::uint64_t length) {
  shared_.erase(shared_.lower_bound(offset), shared_.lower_bound(offset + length));
  range_.close(offset, length);
}

result<memory_heap::shared_place> memory_heap::share(void* base) {
  const std::lock_guard lock(mutex_);
  const auto found =
      blocks_.find(static_cast<std::uint64_t>(static_cast<char*>(base) - range_.begin()));
  if (found == blocks_.end()) return status::invalid_value;
  const block& b = found->second;
  std::uint64_t begin = b.offset, length = b.length;
  if (b.place == block::where::shared_granule) {
    begin = b.offset / granule_bytes * granule_bytes;
    length = granule_bytes;
  }
  auto region = shared_.find(begin);
  if (region == shared_.end()) {
    auto made = shared_region::take_over(range_.begin() + begin, length);
    if (!made) return status::map_buffer_object_failed;
    region = shared_.emplace(begin, std::move(*made)).first;
  }
  return shared_place{region->second.address(), found->first - begin};
}

void memory_heap::release(void* base) {
  const std::lock_guard lock(mutex_);
  const auto found =
      blocks_.find(static_cast<std::uint64_t>(static_cast<char*>(base) - range_.begin()));
  if (found == blocks_.end()) return;
  const block gone = found->second;
  blocks_.erase(found);
  switch (gone.place) {
    case block::where::own_granules:
      close_granules(gone.offset / granule_bytes, gone.length / granule_bytes);
      break;
    case block::where::shared_granule: {
      const std::uint64_t units_per_granule = granule_bytes / options_.alignment;
      const auto free =
          units_.add(gone.offset / options_.alignment, gone.length / options_.alignment);
      if (free.length == units_per_granule) {
        units_.remove(free.offset);
        close_granules(free.offset / units_per_granule, 1);
      }
      break;
    }
    case block::where::guarded:
      close(gone.offset, gone.length);
      granules_.add(gone.offset / page_, gone.length / page_ + 1);
      used_ -= gone.length;
      break;
  }
}

bool memory_heap::charge(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (used_ + bytes > options_.capacity) return false;
  used_ += bytes;
  return true;
}

void memory_heap::discharge(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
}

void memory_heap::clear() {
  const std::lock_guard lock(mutex_);
  std::set<std::uint64_t> shared;
  for (const auto& [base, gone] : blocks_) {
    if (gone.place == block::where::shared_granule) {
      shared.insert(gone.offset / granule_bytes);
      continue;
    }
    close(gone.offset, gone.length);
    used_ -= gone.length;
  }
  for (const std::uint64_t granule : shared) {
    close(granule * granule_bytes, granule_bytes);
    used_ -= granule_bytes;
  }
  blocks_.clear();
  reset_ranges();
}

std::uint64_t memory_heap::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace sb::engine
