#include "help.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace sb::nvcc {

// The first and fourth line are what CMake and configure scripts look for.
void print_version() {
  std::cout << "nvcc: NVIDIA (R) Cuda compiler driver\n"
               "compatible; this is Streambed's, which compiles for the processor of this machine\n"
               "Built with clang 19 in mind\n"
               "Cuda compilation tools, release 13.0, V13.0.88\n"
               "Build streambed_13.0\n";
}

void print_architectures(const options& o) {
  for (int number : {75, 80, 86, 87, 88, 89, 90, 100, 110, 103, 120, 121}) {
    if (o.list_code && o.list_architectures)
      std::cout << "arch=compute_" << number << ",code=sm_" << number << "\n";
    else
      std::cout << (o.list_code ? "sm_" : "compute_") << number << "\n";
  }
}

void print_help() {
  std::cout
      << "\nUsage  : nvcc [options] <inputfile>\n\n"
         "Compiles CUDA C++ so that it runs without a GPU. Options are those of NVIDIA's nvcc\n"
         "13.0; where the meaning differs, the text says so.\n"
         "Differences that matter: the runtime is linked shared by default and found through\n"
         "an rpath to this toolkit; device code is compiled for this machine's processor\n"
         "(STREAMBED_CPU overrides) with clang 19 (STREAMBED_CLANG says which).\n\n";
  const auto list = [](const char* title, treatment how) {
    std::cout << title << "\n" << std::string(std::string_view(title).size(), '=') << "\n";
    for (const option_spec& spec : option_table()) {
      if (spec.how != how) continue;
      std::string names = std::string(spec.long_name) + " (" + spec.short_name + ")";
      switch (spec.takes) {
        case option_spec::shape::flag:
          break;
        case option_spec::shape::value:
          names += " <value>";
          break;
        case option_spec::shape::list:
          names += " <value>,...";
          break;
        case option_spec::shape::boolean:
          names += " {true|false}";
          break;
        case option_spec::shape::number:
          names += " <number>";
          break;
      }
      std::cout << names << "\n";
      if (*spec.help != '\0') std::cout << "        " << spec.help << "\n";
    }
    std::cout << "\n";
  };
  list("Options", treatment::honoured);
  list("Options that are accepted and have no effect", treatment::ignored);
  list("Options that are refused", treatment::refused);
}

}  // namespace sb::nvcc
