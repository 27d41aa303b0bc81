// Files that a subcommand is about to write.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace sb::tools {

// Whether two names stand for one file; also of files that are not there yet.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

enum class output_kind {
  stream,   // anything that can be written: a file, a pipe, a terminal
  storage,  // written in any order: a regular file
};

// Why a file cannot be written, or nothing when it can. Leaves what is there as it is.
[[nodiscard]] std::string why_not_writable(const std::string& path, output_kind kind);

// Why a file that is there is not written over, even when that is asked for, or nothing when it may
// be: it is empty, its name has one of these endings, or it begins as what our commands write does.
// Everything else is somebody's own, such as a source in the place of an output.
[[nodiscard]] std::string why_not_replaced(const std::string& path,
                                           std::initializer_list<std::string_view> endings);

// Takes out what is in a file. False, and the file stays, when a program is writing its trace
// there: it has the file mapped, and its next store would be behind the end.
[[nodiscard]] bool emptied(const std::string& path);

}  // namespace sb::tools
