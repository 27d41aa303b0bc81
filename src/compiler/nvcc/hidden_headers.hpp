// Headers that would hide others, if they were there.
//
// A precompiled header keeps what each #include has found. clang notices when one of these files
// changes, but not when a folder that it looks into earlier gets a file of that name. So the names
// are kept beside the precompiled header, and the folders of the command line are asked for them.
#pragma once

#include <string>

#include "text.hpp"

namespace sb::nvcc {

// The folders that `line` (clang and its flags) and the environment name for headers.
[[nodiscard]] arguments header_folders(const arguments& line);

// What is kept: the names that the files of a make rule include, and those that `folders` have now.
[[nodiscard]] std::string hidable_headers(const std::string& rule, const arguments& folders);

// Whether `folders` have none of the names in `kept` but those that they had then.
[[nodiscard]] bool hides_nothing_new(const std::string& kept, const arguments& folders);

}  // namespace sb::nvcc
