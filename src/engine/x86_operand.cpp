#include "engine/x86_operand.hpp"

#include <cstring>
#include <optional>

namespace sb::engine {

namespace {

enum { rsp = 4, rbp = 5, rsi = 6, rdi = 7 };

// What is before the byte of the operand, gathered over prefixes and opcode.
struct form {
  bool own_segment = false;    // relative to fs or gs
  bool narrow = false;         // addresses of 32 bits
  unsigned index_high = 0;     // 8, if the index is one of the upper registers
  unsigned base_high = 0;      // 8, if the base is
  unsigned opcode = 0;         // the last byte of it
  unsigned map = 0;            // 0: one byte, 1: after 0f, 2: after 0f 38, 3: after 0f 3a
  bool vector = false;         // VEX or EVEX
  unsigned scale_of_byte = 1;  // of a displacement of one byte
};

bool is_gather(const form& f) {
  return f.vector && f.map == 2 &&
         ((f.opcode >= 0x90 && f.opcode <= 0x93) || (f.opcode >= 0xa0 && f.opcode <= 0xa3) ||
          f.opcode == 0xc6 || f.opcode == 0xc7);
}

bool has_operand_byte(const form& f) {
  const unsigned op = f.opcode;
  if (f.map >= 2) return !is_gather(f);
  if (f.map == 1) {
    if (f.vector) return op != 0x77;
    return !(op == 0x05 || op == 0x06 || op == 0x08 || op == 0x09 || op == 0x0b || op == 0x0e ||
             (op >= 0x30 && op <= 0x37) || op == 0x77 || (op >= 0x80 && op <= 0x8f) ||
             (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) || op >= 0xff ||
             (op >= 0xc8 && op <= 0xcf));
  }
  if (op < 0x40) return (op & 7) < 4;
  return op == 0x63 || op == 0x69 || op == 0x6b || (op >= 0x80 && op <= 0x8f) || op == 0xc0 ||
         op == 0xc1 || op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3) ||
         (op >= 0xd8 && op <= 0xdf) || op == 0xf6 || op == 0xf7 || op == 0xfe || op == 0xff;
}

template <class Number>
std::uint64_t extended(const unsigned char* at) {
  Number value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

// EVEX counts a displacement of one byte in operands: whole vectors, elements that are repeated for
// all of one, or single elements. Here only moves have the last; of others a vector's length is
// taken.
unsigned evex_scale(unsigned map, unsigned opcode, unsigned second, unsigned third) {
  const unsigned element = (second & 0x80) != 0 ? 8 : 4;
  const unsigned prefix = second & 3;
  if ((third & 0x10) != 0) return element;
  if (map == 1 && (opcode == 0x10 || opcode == 0x11) && prefix >= 2) return prefix == 2 ? 4 : 8;
  if (map == 1 && (opcode == 0x6e || opcode == 0x7e)) return element;
  return 16u << (third >> 5 & 3);
}

// Reads prefixes and opcode; `at` is behind them then.
form form_at(const unsigned char*& at) {
  form f;
  for (;; ++at) {
    if (*at == 0x64 || *at == 0x65) {
      f.own_segment = true;
    } else if (*at == 0x67) {
      f.narrow = true;
    } else if (*at != 0x66 && *at != 0xf0 && *at != 0xf2 && *at != 0xf3 && *at != 0x2e &&
               *at != 0x36 && *at != 0x3e && *at != 0x26) {
      break;
    }
  }
  if (*at == 0xc5) {
    f.vector = true;
    f.map = 1;
    f.opcode = at[2];
    at += 3;
  } else if (*at == 0xc4 || *at == 0x62) {
    const bool evex = *at == 0x62;
    f.vector = true;
    f.index_high = (at[1] & 0x40) != 0 ? 0 : 8;
    f.base_high = (at[1] & 0x20) != 0 ? 0 : 8;
    f.map = at[1] & (evex ? 7 : 31);
    f.opcode = at[evex ? 4 : 3];
    if (evex) f.scale_of_byte = evex_scale(f.map, f.opcode, at[2], at[3]);
    at += evex ? 5 : 4;
  } else {
    if ((*at & 0xf0) == 0x40) {
      f.index_high = (*at & 2) != 0 ? 8 : 0;
      f.base_high = (*at & 1) != 0 ? 8 : 0;
      ++at;
    }
    f.opcode = *at++;
    if (f.opcode == 0x0f) {
      f.map = 1;
      f.opcode = *at++;
      if (f.opcode == 0x38 || f.opcode == 0x3a) {
        f.map = f.opcode == 0x38 ? 2 : 3;
        f.opcode = *at++;
      }
    }
  }
  return f;
}

std::optional<std::uint64_t> operand_at(const unsigned char* at, const form& f,
                                        const x86_registers& registers) {
  const unsigned mod = *at >> 6, rm = *at & 7;
  ++at;
  if (mod == 3) return std::nullopt;             // a register
  if (mod == 0 && rm == 5) return std::nullopt;  // relative to the instruction
  std::uint64_t address = 0;
  unsigned base = rm;
  if (rm == rsp) {
    const unsigned scale = *at >> 6, index = (*at >> 3 & 7) | f.index_high;
    base = *at & 7;
    ++at;
    if (index != rsp) address = registers[index] << scale;
  }
  if (mod == 0 && base == rbp) return address + extended<std::int32_t>(at);
  address += registers[base | f.base_high];
  if (mod == 1) address += extended<std::int8_t>(at) * f.scale_of_byte;
  if (mod == 2) address += extended<std::int32_t>(at);
  return address;
}

}  // namespace

x86_accesses accesses_of(const unsigned char* instruction, const x86_registers& registers) {
  const form f = form_at(instruction);
  if (f.own_segment || f.narrow) return {};
  if (!f.vector && f.map == 0) {
    switch (f.opcode) {
      case 0xa0:
      case 0xa1:
      case 0xa2:
      case 0xa3:
        return {{extended<std::int64_t>(instruction)}, 1};
      case 0xa4:
      case 0xa5:
      case 0xa6:
      case 0xa7:
        return {{registers[rsi], registers[rdi]}, 2};
      case 0xaa:
      case 0xab:
      case 0xae:
      case 0xaf:
        return {{registers[rdi]}, 1};
      case 0xac:
      case 0xad:
        return {{registers[rsi]}, 1};
      default:
        break;
    }
  }
  if (!has_operand_byte(f)) return {};
  if (const auto address = operand_at(instruction, f, registers)) return {{*address}, 1};
  return {};
}

}  // namespace sb::engine
