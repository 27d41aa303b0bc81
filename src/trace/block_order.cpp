#include "trace/block_order.hpp"

#include <algorithm>

#include "trace/format.hpp"

namespace sb::trace {
namespace {

constexpr std::size_t pending_slot = 2;

struct slot {
  std::span<const byte> bytes;
  std::uint32_t block = 0;  // 0: none, or it was just being changed
  bool damaged = false;
};

slot slot_of(std::span<const byte> bytes) {
  slot found;
  found.bytes = bytes.first(std::min(block_bytes, bytes.size()));
  if (found.bytes.size() < block_header_bytes) return found;
  cursor in(found.bytes.data(), found.bytes.data() + block_header_bytes);
  const bool marked = std::equal(block_mark.begin(), block_mark.end(), in.at());
  (void)in.fixed<std::uint32_t>();
  found.block = in.fixed<std::uint32_t>();
  if (!marked) {  // a file whose end was not kept by the system has zeros there
    found.damaged =
        std::any_of(found.bytes.begin(), found.bytes.end(), [](byte value) { return value != 0; });
    found.block = 0;
  }
  return found;
}

slot slot_at(std::span<const byte> file, std::size_t index) {
  return slot_of(file.subspan(std::min(index * block_bytes, file.size())));
}

}  // namespace

outcome<std::vector<std::span<const byte>>> blocks_of(std::span<const byte> file,
                                                      const std::string& name) {
  const auto damaged = [&](std::size_t slot) {
    return failure{name + " is damaged at byte " + std::to_string(slot * block_bytes) +
                   ": there is no block of a trace."};
  };
  std::vector<std::span<const byte>> blocks = {file.first(std::min(file.size(), block_bytes))};
  const slot window = slot_at(file, 1);
  if (window.damaged) return damaged(1);
  for (std::size_t index = first_slot; index * block_bytes < file.size(); ++index) {
    const slot next = slot_at(file, index);
    if (next.damaged || (next.block != 0 && next.block != index - first_slot + 1))
      return damaged(index);
    // One that was just being copied is still in the window.
    if (next.block == 0 || (next.bytes.size() < block_bytes && window.block == next.block)) break;
    blocks.push_back(next.bytes);
    if (next.bytes.size() < block_bytes) return blocks;
  }
  if (window.block == blocks.size()) {
    blocks.push_back(window.bytes);
  } else if (window.block != 0 && window.block + 1 < blocks.size()) {
    return damaged(1);
  }
  return blocks;
}

bool is_block_of(std::span<const byte> bytes, std::size_t slot) {
  return slot_of(bytes).block == slot - first_slot + 1;
}

std::uint32_t window_block(std::span<const byte> file) { return slot_at(file, 1).block; }

std::span<const byte> pending_of(std::span<const byte> file) {
  const std::size_t begin = pending_slot * block_bytes;
  if (file.size() <= begin) return {};
  return file.subspan(begin, std::min(block_bytes, file.size() - begin));
}

}  // namespace sb::trace
