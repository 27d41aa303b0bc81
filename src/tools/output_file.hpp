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

// A file that was there is out of the way of what is written in its place, and gone when this is.
class set_aside {
 public:
  explicit set_aside(const std::string& path);
  ~set_aside();
  set_aside(const set_aside&) = delete;
  set_aside& operator=(const set_aside&) = delete;

  // It stays: a program is writing its trace there. It has the file mapped, and its next store
  // would be behind the end.
  [[nodiscard]] bool is_in_use() const { return in_use_; }
  void put_back();  // nothing was written

 private:
  std::string place_, beside_;  // empty: there was nothing, or it could only be emptied
  bool in_use_ = false;
};

}  // namespace sb::tools
