// Which instructions device code may use.
#pragma once

#include <string>

#include "text.hpp"

namespace sb::nvcc {

// Flags for clang that select the processor of device code.
//
// `architecture` is the first part of the target triple. Code for the machine we run on uses what
// it reports (not -mcpu=native, which assumes features by the model's name that a virtual machine
// may hide); code for another architecture uses a baseline. STREAMBED_CPU overrides: its value
// becomes -mcpu (aarch64) or -march (x86-64).
[[nodiscard]] arguments cpu_flags(const std::string& architecture, bool this_machine);

// The pure rules, from the words that /proc/cpuinfo lists.
[[nodiscard]] std::string aarch64_march(const std::string& features);
[[nodiscard]] std::string x86_64_march(const std::string& flags);

}  // namespace sb::nvcc
