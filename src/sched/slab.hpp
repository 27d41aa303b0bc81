// Objects in chunks, named by a 32-bit index. References stay valid, freed places are used again,
// and nothing is allocated once the high-water mark is reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sb::sched {

using index = std::uint32_t;
inline constexpr index none = 0xffffffffU;

// T needs a member `index link` that is free while the object is not in use.
template <class T, unsigned ChunkBits = 10>
class slab {
 public:
  [[nodiscard]] T& operator[](index i) { return chunks_[i >> ChunkBits][i & mask]; }
  [[nodiscard]] const T& operator[](index i) const { return chunks_[i >> ChunkBits][i & mask]; }

  // The contents are those of the last use: the caller sets every field.
  [[nodiscard]] index take() {
    if (free_ != none) {
      const index i = free_;
      free_ = (*this)[i].link;
      return i;
    }
    if ((size_ & mask) == 0) {
      chunks_.push_back(std::make_unique<T[]>(std::size_t{1} << ChunkBits));
    }
    return size_++;
  }

  void give_back(index i) {
    (*this)[i].link = free_;
    free_ = i;
  }

  [[nodiscard]] index size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const {
    return chunks_.size() * (sizeof(T) << ChunkBits) + chunks_.capacity() * sizeof(void*);
  }

 private:
  static constexpr index mask = (index{1} << ChunkBits) - 1;

  std::vector<std::unique_ptr<T[]>> chunks_;
  index free_ = none;
  index size_ = 0;
};

}  // namespace sb::sched
