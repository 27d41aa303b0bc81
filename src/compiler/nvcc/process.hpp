// Child processes and temporary files of the driver.
//
// Both die with it: SIGINT, SIGTERM and SIGHUP are passed on to the children, and the temporary
// directory is removed on every way out.
#pragma once

#include <sys/types.h>

#include <string>

#include "text.hpp"

namespace sb::nvcc {

struct finished {
  int status = 0;      // exit status; 128 + n after signal n
  std::string errors;  // what it wrote to standard error, when captured
};

// A started process. Not copyable: it must be waited for.
class child {
 public:
  struct settings {
    bool capture_errors = false;
    int inherit_as_3 = -1;        // a descriptor of ours that the child sees as number 3
    std::string standard_output;  // a file; empty: ours
    arguments environment;        // additional NAME=value
  };

  child(const arguments& command, const settings& how);
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child();

  // Waits for the end. `feed` is written to `feed_descriptor` meanwhile, which is then closed.
  finished wait(int feed_descriptor = -1, const std::string& feed = {});
  void stop();  // ends it now; wait() still has to be called

 private:
  pid_t pid_ = -1;
  int errors_ = -1;
};

// Runs to the end. Throws fatal_error if the program cannot be started.
finished run(const arguments& command, const child::settings& how = {});

void install_signal_handlers();
[[nodiscard]] int pending_signal();  // 0, or the signal that asks us to end

// A directory that is removed with everything in it, unless it is the user's.
class scratch_directory {
 public:
  scratch_directory() = default;
  void keep_in(const std::string& directory);  // one of the user's, which is not removed
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;
  ~scratch_directory();

  // A path in the directory, which is created with the first call.
  [[nodiscard]] std::string file(const std::string& name);

 private:
  std::string path_;
  bool keep_ = false;
};

[[nodiscard]] std::string find_program(const std::string& name);  // on PATH; empty if not there
[[nodiscard]] bool is_executable(const std::string& path);
[[nodiscard]] bool file_exists(const std::string& path);
// A result that is not to stay. Devices and pipes do: `-o /dev/null` must not take that away.
void remove_output(const std::string& path);

}  // namespace sb::nvcc
