// Options of gcc that clang does not know.
//
// NVIDIA's nvcc hands -Xcompiler to gcc, and Makefiles say there what only gcc understands. clang
// is asked, in a run that compiles nothing, which of them it does not know; usual options are not
// worth the question.
#pragma once

#include <string>

#include "text.hpp"

namespace sb::nvcc {

struct options_for_clang {
  arguments kept;      // what clang takes, in the same order
  arguments messages;  // about those left out that may change what a program does
};

// `options` without what the driver at `clang` answers with an error.
[[nodiscard]] options_for_clang known_to_clang(const std::string& clang, const arguments& options);

// Keeps clang from speaking about those that it knows by name and does nothing with.
[[nodiscard]] arguments silence_about_gcc_options();

// Whether an option of gcc concerns warnings, debugging or the speed of code, and nothing else.
[[nodiscard]] bool is_without_meaning(const std::string& option);

}  // namespace sb::nvcc
