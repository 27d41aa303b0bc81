// Which part of an allocation a kernel uses. A trace has where its pointers point, not how far the
// kernel goes from there; but launches of one kernel in one shape with pointers to different places
// of an allocation (d, d + n, d + 2 * n) use pieces of it, each up to the next place.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/trace.hpp"

namespace sb::analysis {

class allocation_parts {
 public:
  allocation_parts() = default;  // knows of none: a kernel may touch all of an allocation
  explicit allocation_parts(const trace::trace& t);

  // A range of the operation, by its place in the list: as it is, or the part that it is taken for,
  // which is then exact.
  [[nodiscard]] trace::byte_range range(const trace::operation& o, std::size_t at) const;
  // Whether two operations have to keep their order because of their data.
  [[nodiscard]] bool share_data(const trace::operation& a, const trace::operation& b) const;

 private:
  struct use {
    trace::number name = trace::none, allocation = trace::none;
    std::uint32_t grid[3], block[3];
    std::size_t at;  // of the range among the operation's

    friend bool operator==(const use&, const use&) = default;
  };
  struct hash {
    std::size_t operator()(const use& u) const;
  };
  static bool may_be_part(const trace::operation& o, std::size_t at);
  static use use_of(const trace::operation& o, std::size_t at);

  std::unordered_map<use, std::vector<std::uint64_t>, hash> offsets_;  // in their order, each once
};

}  // namespace sb::analysis
