// The texts of --help, --version and the architecture lists.
#pragma once

#include "options.hpp"

namespace sb::nvcc {

void print_help();
void print_version();
void print_architectures(const options& o);

}  // namespace sb::nvcc
