// Relocatable device code inside host objects.
//
//   section .llvm.offloading := { unit }          excluded from linked programs by the host linker
//   unit                     := "SBDEVBC1" size:u64 bitcode zero*    padded to 8
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb::nvcc {

struct device_unit {
  std::string origin;  // a.o, or liba.a(b.o)
  std::string bitcode;
};

[[nodiscard]] std::string wrap_device_code(std::string_view bitcode);

// The units in an object or in the members of an archive; nothing for other files. Throws
// fatal_error for a file that cannot be read.
[[nodiscard]] std::vector<device_unit> read_device_units(const std::string& path);

}  // namespace sb::nvcc
