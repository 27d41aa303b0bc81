// The architectures of devices that a command line asks for: -arch, -code, -gencode.
#pragma once

#include <string>

#include "options.hpp"

namespace sb::nvcc {

void set_architecture(options& o, const std::string& value);  // -arch
void generate_code(options& o, const std::string& value);     // -gencode
// What can be said only when all options are known: -code goes with a virtual -arch.
void check_architectures(const options& o);

}  // namespace sb::nvcc
