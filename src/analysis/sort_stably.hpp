// std::stable_sort of libstdc++ 12 warns with clang 19: it uses something deprecated inside.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sb::analysis {

template <class T, class Less>
void sort_stably(std::vector<T>& values, Less less) {
  std::vector<std::pair<T, std::size_t>> numbered;
  numbered.reserve(values.size());
  for (T& value : values) numbered.emplace_back(std::move(value), numbered.size());
  std::sort(numbered.begin(), numbered.end(), [&](const auto& a, const auto& b) {
    if (less(a.first, b.first)) return true;
    return !less(b.first, a.first) && a.second < b.second;
  });
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::move(numbered[i].first);
}

}  // namespace sb::analysis
