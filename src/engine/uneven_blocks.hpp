// Blocks of kernels whose blocks differ, while they are on a device. As long as more of them come,
// every multiprocessor is full. Then those that are left have it to themselves more and more, each
// on the multiprocessor where it is: which of them has many of the long ones is done last.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "model/shared_device.hpp"
#include "model/timing_profile.hpp"

namespace sb::engine {

class uneven_blocks {
 public:
  using piece_id = shared_device::piece_id;

  explicit uneven_blocks(std::uint32_t multiprocessors) : multiprocessors_(multiprocessors) {}

  // So many that do the same, of the kernel `of`, beside others of it: `together` in all.
  void add(piece_id id, const void* of, const block_work& work, std::uint64_t count,
           std::uint64_t together, bool first_wave);
  void add_blocks(piece_id id, std::uint64_t count);  // more that do the same
  void remove(piece_id id);

  struct faster {
    piece_id id;
    double times;  // what the rest of it takes, of what it would have
  };
  // No more of this kernel's blocks come.
  [[nodiscard]] std::vector<faster> last_ones(const void* of, const timing_profile& timing);

 private:
  struct piece {
    const void* of = nullptr;  // null: there is none
    block_work work;
    std::uint64_t together = 0;
    bool first_wave = false;
    std::vector<std::uint32_t> where;  // multiprocessors, by block
  };

  [[nodiscard]] std::vector<std::uint64_t> load_of(const void* of) const;

  std::uint32_t multiprocessors_;
  std::vector<piece> pieces_;  // by id
};

}  // namespace sb::engine
