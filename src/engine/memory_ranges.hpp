// Free ranges of an address space, in units that the owner chooses: best fit, lowest address first,
// neighbours merge. Not thread-safe.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sb::engine {

class free_ranges {
 public:
  // Ranges never merge over a multiple of `boundary` (0: everything merges).
  explicit free_ranges(std::uint64_t boundary = 0) : boundary_(boundary) {}

  struct range {
    std::uint64_t offset, length;
  };

  // Gives a range back; answers the free range that it is part of now.
  range add(std::uint64_t offset, std::uint64_t length) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + length && joins(next->first)) {
      length += next->second;
      next = erase(next);
    }
    if (next != by_offset_.begin()) {
      const auto previous = std::prev(next);
      if (previous->first + previous->second == offset && joins(offset)) {
        offset = previous->first;
        length += previous->second;
        erase(previous);
      }
    }
    insert(offset, length);
    return {offset, length};
  }

  // The smallest range that fits, cut to the length asked for.
  std::optional<std::uint64_t> take(std::uint64_t length) {
    const auto found = by_length_.lower_bound({length, 0});
    if (found == by_length_.end()) return std::nullopt;
    return cut(by_offset_.find(found->second), length);
  }

  // The first place at or after `cursor`, so that what was given back lately rests.
  std::optional<std::uint64_t> take_after(std::uint64_t cursor, std::uint64_t length) {
    auto at = by_offset_.upper_bound(cursor);
    if (at != by_offset_.begin()) {
      const auto [offset, whole] = *std::prev(at);
      if (cursor < offset + whole && offset + whole - cursor >= length) {
        erase(std::prev(at));
        if (cursor > offset) insert(offset, cursor - offset);
        if (offset + whole > cursor + length) {
          insert(cursor + length, offset + whole - cursor - length);
        }
        return cursor;
      }
    }
    for (; at != by_offset_.end(); ++at) {
      if (at->second >= length) return cut(at, length);
    }
    return take(length);
  }

  // Removes a range that is free as a whole.
  void remove(std::uint64_t offset) { erase(by_offset_.find(offset)); }

 private:
  using offsets = std::map<std::uint64_t, std::uint64_t>;

  [[nodiscard]] bool joins(std::uint64_t at) const { return boundary_ == 0 || at % boundary_ != 0; }

  void insert(std::uint64_t offset, std::uint64_t length) {
    by_offset_.emplace(offset, length);
    by_length_.emplace(length, offset);
  }

  offsets::iterator erase(offsets::iterator at) {
    by_length_.erase({at->second, at->first});
    return by_offset_.erase(at);
  }

  std::uint64_t cut(offsets::iterator at, std::uint64_t length) {
    const auto [offset, whole] = *at;
    erase(at);
    if (whole > length) insert(offset + length, whole - length);
    return offset;
  }

  std::uint64_t boundary_;
  offsets by_offset_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_length_;
};

}  // namespace sb::engine
