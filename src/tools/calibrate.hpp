// streambed device calibrate: measures the GPU of this machine.
#pragma once

#include <string>

namespace sb::tools {

struct calibration_options {
  std::string nvcc;    // empty: the one on PATH, which must not be our own
  std::string output;  // empty: standard output
  bool quick = false;
  bool force = false;
};

// The exit status: 0, 1 when there is nothing to measure or measuring failed, 2 for wrong
// arguments.
[[nodiscard]] int calibrate(const calibration_options& options);

}  // namespace sb::tools
