// How many blocks of a kernel are resident at once. One calculation for cudaOccupancy*, for the
// check of cooperative launches and for the scheduler's grants.
#pragma once

#include <cstdint>

#include "model/device_profile.hpp"

namespace sb {

struct multiprocessor_limits {
  std::uint32_t threads = 2048;
  std::uint32_t blocks = 32;
  std::uint32_t shared_bytes = 233472;
  std::uint32_t registers = 65536;
  std::uint32_t reserved_shared_bytes = 1024;  // taken from every block's share
};

// What one block takes of its multiprocessor, rounded as the device allocates.
struct block_footprint {
  std::uint32_t threads;
  std::uint32_t shared_bytes;
  std::uint32_t registers;
};

[[nodiscard]] multiprocessor_limits multiprocessor_of(const device_profile& profile);

[[nodiscard]] block_footprint footprint_of(const multiprocessor_limits& limits,
                                           std::uint32_t threads_per_block,
                                           std::uint32_t shared_bytes, std::uint32_t registers);

// Blocks of this footprint that one multiprocessor holds; 0 when a block never fits.
[[nodiscard]] std::uint32_t blocks_per_multiprocessor(const multiprocessor_limits& limits,
                                                      const block_footprint& block);

}  // namespace sb
