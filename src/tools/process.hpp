// Child processes of the `streambed` command.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sb::tools {

struct spawn_options {
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours
  bool silent = false;                                           // its output is thrown away
  int seconds = 0;  // it is ended after this time; 0: never
  // Asks it to end by itself when the time is over, before it is killed. False: it does not listen.
  std::function<bool()> ask_to_end;
  int kept = -1;  // an open file that it gets, under the same number
  mutable bool timed_out = false;
  mutable int signal = 0;  // the one that ended it; a program may also return 128 + n by itself
  std::string output;      // its standard output goes into this file
  std::string errors;      // and its standard error into this one
};

// Runs a program to its end, with our standard streams, and answers its exit status; 128 + n after
// signal n, 127 when it could not be started (errno then says why). Signals that ask us to end are
// passed on to it.
int run_process(const std::vector<std::string>& command, const spawn_options& options = {});

// A way to ask a program for its end, which its runtime follows (engine/end_request.hpp).
class end_request {
 public:
  end_request();  // throws std::system_error
  end_request(const end_request&) = delete;
  end_request& operator=(const end_request&) = delete;
  ~end_request();

  void give(spawn_options& how) const;  // to the program
  [[nodiscard]] bool send() const;

 private:
  int ends_[2] = {-1, -1};
};

// The full path of a program on PATH; empty when there is none.
[[nodiscard]] std::string find_program(const std::string& name);
// The same for Chromium, under any of its names.
[[nodiscard]] std::string find_browser();

// A directory that is removed, with everything in it, at the end of the scope.
class temporary_directory {
 public:
  temporary_directory();  // throws std::system_error
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  ~temporary_directory();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sb::tools
