// Macros that clang defines by its flags: instructions, optimisation, fast maths.
//
// Both passes must see one program, as those of NVIDIA's nvcc do, which preprocesses both with the
// same flags: what a header declares by `#ifdef __AVX2__`, say, has one layout.
#pragma once

#include "options.hpp"
#include "toolchain.hpp"

namespace sb::nvcc {

// Flags that give the device pass the macros of host code, which is compiled with `host_options`;
// `o` are those of nvcc.
[[nodiscard]] arguments host_macros(const toolchain& tools, const options& o,
                                    const arguments& host_options);

}  // namespace sb::nvcc
