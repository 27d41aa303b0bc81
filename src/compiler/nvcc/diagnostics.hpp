// Messages of the two passes over one source, each said once.
#pragma once

#include <string>

namespace sb::nvcc {

// The device pass's messages, then those of the host pass that the device pass did not print.
// A message is what starts at `file:line:column: error|warning|...`, with the include stack before
// it and the notes and source lines after it. Counts ("1 error generated ...") are left out.
[[nodiscard]] std::string merge_diagnostics(const std::string& device, const std::string& host);

// What the pass says about too much memory, as `tool` (ptxas or nvlink) says it; other lines as
// they are, but for clang's counts. Nothing if there is no such line.
[[nodiscard]] std::string limits_exceeded(const std::string& errors, const std::string& tool);
inline constexpr int limits_failed = 255;  // what nvcc exits with then

// What nvcc exits with for a source that did not compile: 1 if the preprocessor gave up (#error, a
// missing header) or device code does nothing wrong but calling the host's, 2 if the program is
// wrong.
[[nodiscard]] int exit_status(const std::string& errors);

}  // namespace sb::nvcc
