#include "analysis/allocation_parts.hpp"

#include <algorithm>

#include "analysis/changes.hpp"

namespace sb::analysis {

std::size_t allocation_parts::hash::operator()(const use& u) const {
  constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;
  std::uint64_t h = u.name;
  for (const std::uint64_t word :
       {std::uint64_t{u.allocation}, std::uint64_t{u.at}, std::uint64_t{u.grid[0]},
        std::uint64_t{u.grid[1]}, std::uint64_t{u.grid[2]}, std::uint64_t{u.block[0]},
        std::uint64_t{u.block[1]}, std::uint64_t{u.block[2]}}) {
    h = (h ^ word) * spread;
    h ^= h >> 32;
  }
  return h;
}

bool allocation_parts::may_be_part(const trace::operation& o, std::size_t at) {
  const trace::byte_range& r = o.ranges[at];
  return o.kind == trace::operation_kind::kernel && !r.exact && r.allocation != trace::none;
}

allocation_parts::use allocation_parts::use_of(const trace::operation& o, std::size_t at) {
  return {.name = o.name,
          .allocation = o.ranges[at].allocation,
          .grid = {o.grid[0], o.grid[1], o.grid[2]},
          .block = {o.block[0], o.block[1], o.block[2]},
          .at = at};
}

allocation_parts::allocation_parts(const trace::trace& t) {
  for (const trace::operation& o : t.operations) {
    for (std::size_t i = 0; i < o.ranges.size(); ++i) {
      if (!may_be_part(o, i)) continue;
      std::vector<std::uint64_t>& known = offsets_[use_of(o, i)];
      const std::uint64_t offset = o.ranges[i].offset;
      if (known.empty() || known.back() != offset) known.push_back(offset);
    }
  }
  for (auto& [what, known] : offsets_) {
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
  }
}

trace::byte_range allocation_parts::range(const trace::operation& o, std::size_t at) const {
  trace::byte_range r = o.ranges[at];
  if (!may_be_part(o, at)) return r;
  const auto found = offsets_.find(use_of(o, at));
  if (found == offsets_.end() || found->second.size() < 2) return r;
  const std::vector<std::uint64_t>& known = found->second;
  const auto next = std::upper_bound(known.begin(), known.end(), r.offset);
  std::uint64_t bytes = 0;
  if (next != known.end()) {
    bytes = *next - r.offset;
  } else {  // the last is as long as the longest of the others
    for (std::size_t i = 0; i + 1 < known.size(); ++i)
      bytes = std::max(bytes, known[i + 1] - known[i]);
  }
  r.bytes = std::min(r.bytes, bytes);
  r.exact = true;
  return r;
}

bool allocation_parts::share_data(const trace::operation& a, const trace::operation& b) const {
  if (!analysis::share_data(a, b, data_view::careful)) return false;
  if (touches_anything(a) || touches_anything(b)) return true;
  for (std::size_t i = 0; i < a.ranges.size(); ++i) {
    for (std::size_t k = 0; k < b.ranges.size(); ++k) {
      if (a.ranges[i].allocation == b.ranges[k].allocation && meet(range(a, i), range(b, k)))
        return true;
    }
  }
  return false;
}

}  // namespace sb::analysis
