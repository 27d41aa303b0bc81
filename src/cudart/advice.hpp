// What was said about the pages of a managed allocation: advice, and where they were prefetched to.
//
// Advice on a part of a page counts for the page; a query about several pages answers what all of
// them have in common (managed.tsv).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "cuda_runtime.h"

namespace sb::cudart {

// A place as the queries name it: a device, cudaCpuDeviceId or cudaInvalidDeviceId.
struct range_advice {
  bool read_mostly = false;
  int preferred = cudaInvalidDeviceId;
  int last_prefetch = cudaInvalidDeviceId;
  std::vector<int> accessed_by;  // devices in order, then the host

  void set_accessed_by(int place) {
    unset_accessed_by(place);
    // cudaCpuDeviceId is -1: the greatest of unsigned numbers.
    const auto before = [](int a, int b) { return unsigned(a) < unsigned(b); };
    accessed_by.insert(std::upper_bound(accessed_by.begin(), accessed_by.end(), place, before),
                       place);
  }
  void unset_accessed_by(int place) { std::erase(accessed_by, place); }

  void keep_common(const range_advice& other) {
    read_mostly &= other.read_mostly;
    if (preferred != other.preferred) preferred = cudaInvalidDeviceId;
    if (last_prefetch != other.last_prefetch) last_prefetch = cudaInvalidDeviceId;
    std::erase_if(accessed_by, [&](int place) {
      return std::ranges::find(other.accessed_by, place) == other.accessed_by.end();
    });
  }
};

class advised_pages {
 public:
  template <class Change>
  void change(const void* from, std::size_t bytes, Change&& change) {
    const auto [first, last] = pages(from, bytes);
    cut(first);
    cut(last);
    for (auto piece = pieces_.find(first); piece->first != last; ++piece) change(piece->second);
  }

  range_advice common(const void* from, std::size_t bytes) const {
    const auto [first, last] = pages(from, bytes);
    auto piece = std::prev(pieces_.upper_bound(first));
    range_advice found = piece->second;
    for (++piece; piece != pieces_.end() && piece->first < last; ++piece) {
      found.keep_common(piece->second);
    }
    return found;
  }

 private:
  static constexpr std::uintptr_t page = 4096;

  static std::pair<std::uintptr_t, std::uintptr_t> pages(const void* from, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(from);
    return {begin / page * page, (begin + bytes + page - 1) / page * page};
  }
  void cut(std::uintptr_t at) {
    pieces_.try_emplace(at, std::prev(pieces_.upper_bound(at))->second);
  }

  // Pieces that are alike from their beginning to the next one's.
  std::map<std::uintptr_t, range_advice> pieces_{{0, {}}};
};

}  // namespace sb::cudart
