// The blocks of a trace file in the order in which they were written; block_file.hpp says how they
// lie in it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/outcome.hpp"
#include "trace/encoding.hpp"

namespace sb::trace {

// Up to the first that is not there. Only the last may have less than its full size.
outcome<std::vector<std::span<const byte>>> blocks_of(std::span<const byte> file,
                                                      const std::string& name);
// The slot of block 1. All from there on hold blocks, up to the first that does not.
inline constexpr std::size_t first_slot = 3;
[[nodiscard]] bool is_block_of(std::span<const byte> bytes, std::size_t slot);
// Which block the window holds; 0: none, or it was just being changed.
std::uint32_t window_block(std::span<const byte> file);
// What is not among the records yet (pending_calls.hpp); of a closed file, nothing that counts.
std::span<const byte> pending_of(std::span<const byte> file);

}  // namespace sb::trace
