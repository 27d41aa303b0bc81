// Changes to the source text where clang's parser is narrower than nvcc's.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "options.hpp"

namespace sb::nvcc {

// The text with these changes, line numbers kept:
//   k<<<g, {x, y, 1}>>>      braces in the first two launch arguments become dim3(x, y, 1)
//   k << <1, 1>> >()         blanks inside the launch brackets go
//   asm("mov.u64 %0, %clock64;" : "=l"(t))
//                            constraints of PTX become the processor's: l and h r, f and d
//                            `floating` (w on aarch64, x on x86-64); %name becomes %%name
//   __shared__ alignas(16) int x[4];
//                            alignas(16) __shared__ int x[4];
// Comments, strings and raw strings are left alone. Empty if nothing has to change.
[[nodiscard]] std::string rewritten(std::string_view source, char floating);

// Applies it to a source and to the headers that it includes with quotes, and returns the name of a
// file system overlay for clang's -ivfsoverlay that shows the changed texts under the files' own
// names; empty if nothing has to change. `file` makes the name of a temporary file from a suffix.
[[nodiscard]] std::string rewrite_sources(
    const std::string& source, const options& o, char floating,
    const std::function<std::string(const std::string&)>& file);

}  // namespace sb::nvcc
