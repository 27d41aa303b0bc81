// Which memory an x86-64 instruction accesses.
//
// A fault at an address that is not canonical comes without the address, and marked ones (see
// abi::misaligned_shift) are of that kind: only the instruction and the registers tell it.
#pragma once

#include <cstdint>

namespace sb::engine {

// By the numbers that instructions have for them: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ...
using x86_registers = std::uint64_t[16];

struct x86_accesses {
  std::uint64_t address[2] = {};
  unsigned count = 0;  // 2 for those that copy from memory to memory
};

// Reads no byte behind the instruction. Of some nothing is known: operands relative to the
// instruction or to a thread's own memory, and those that gather by a vector of indices.
x86_accesses accesses_of(const unsigned char* instruction, const x86_registers& registers);

}  // namespace sb::engine
