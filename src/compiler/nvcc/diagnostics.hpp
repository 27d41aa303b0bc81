// Messages of the two passes over one source, each said once.
#pragma once

#include <string>

namespace sb::nvcc {

// The device pass's messages, then those of the host pass that the device pass did not print.
// A message is what starts at `file:line:column: error|warning|...`, with the include stack before
// it and the notes and source lines after it. Counts ("1 error generated ...") are left out.
[[nodiscard]] std::string merge_diagnostics(const std::string& device, const std::string& host);

// What nvcc exits with for a source that did not compile: 1 if the preprocessor gave up (#error, a
// missing header), 2 if the program is wrong.
[[nodiscard]] int exit_status(const std::string& errors);

}  // namespace sb::nvcc
