#include "compiler/pass/maths_bitcode.hpp"

#include <cstddef>

__asm__(
    ".pushsection .rodata\n"
    ".balign 16\n"
    ".globl sb_maths_bitcode_begin, sb_maths_bitcode_end\n"
    ".hidden sb_maths_bitcode_begin, sb_maths_bitcode_end\n"
    "sb_maths_bitcode_begin:\n"
    ".incbin \"" SB_MATHS_BITCODE
    "\"\n"
    "sb_maths_bitcode_end:\n"
    ".popsection\n");

extern "C" {
extern __attribute__((visibility("hidden"))) const char sb_maths_bitcode_begin[];
extern __attribute__((visibility("hidden"))) const char sb_maths_bitcode_end[];
}

namespace sb::pass {

llvm::StringRef maths_bitcode() {
  return {sb_maths_bitcode_begin,
          static_cast<std::size_t>(sb_maths_bitcode_end - sb_maths_bitcode_begin)};
}

}  // namespace sb::pass
