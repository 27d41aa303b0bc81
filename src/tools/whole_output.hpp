// What a subcommand writes: all of it, or what was there before.
//
// A regular file is written beside its place, and takes it when it is whole: nobody ever sees half
// of it, and when it cannot be written, the one that was there stays. What is no regular file (a
// pipe, a terminal, a device such as /dev/null) is written to and never taken away. Disks and
// folders are refused.
#pragma once

#include <string>
#include <string_view>

namespace sb::tools {

// Whether writing there takes the place of a file.
[[nodiscard]] bool takes_the_place_of_a_file(const std::string& path);

class whole_output {
 public:
  // An empty path is the standard output.
  explicit whole_output(const std::string& path);
  whole_output(const whole_output&) = delete;
  whole_output& operator=(const whole_output&) = delete;
  ~whole_output();

  void add(std::string_view part);
  // Everything is written, and in its place. If not, `problem` says why.
  [[nodiscard]] bool finish();
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void open_beside(const std::string& path);
  void open_itself(const std::string& path);
  void flush();
  void fail();

  static constexpr std::size_t piece = 1 << 20;
  std::string place_, beside_;  // empty: it is written where it is
  std::string waiting_, problem_;
  int descriptor_ = -1;
  bool owned_ = false;
};

// Why a file could not be written as a whole; nothing when it is.
[[nodiscard]] std::string write_whole(const std::string& path, std::string_view contents);

}  // namespace sb::tools
