#include "model/occupancy.hpp"

#include <algorithm>

namespace sb {

namespace {

constexpr std::uint32_t warp = 32;
constexpr std::uint32_t register_unit = 256;  // registers are given to a warp in these portions
constexpr std::uint32_t shared_unit = 128;    // bytes

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

multiprocessor_limits multiprocessor_of(const device_profile& profile) {
  return {
      .threads = static_cast<std::uint32_t>(profile.threads_per_multiprocessor),
      .blocks = static_cast<std::uint32_t>(profile.blocks_per_multiprocessor),
      .shared_bytes = profile.shared_per_multiprocessor,
      .registers = profile.registers_per_multiprocessor,
      .reserved_shared_bytes = profile.reserved_shared_per_block,
  };
}

block_footprint footprint_of(const multiprocessor_limits& limits, std::uint32_t threads_per_block,
                             std::uint32_t shared_bytes, std::uint32_t registers) {
  const std::uint32_t warps = std::max(1U, round_up(threads_per_block, warp) / warp);
  return {
      .threads = warps * warp,
      .shared_bytes = round_up(shared_bytes + limits.reserved_shared_bytes, shared_unit),
      .registers = warps * round_up(std::max(1U, registers) * warp, register_unit),
  };
}

std::uint32_t blocks_per_multiprocessor(const multiprocessor_limits& limits,
                                        const block_footprint& block) {
  std::uint32_t fit = std::min(limits.blocks, limits.threads / block.threads);
  if (block.shared_bytes != 0) {
    fit = std::min(fit, limits.shared_bytes / block.shared_bytes);
  }
  return std::min(fit, limits.registers / block.registers);
}

}  // namespace sb
