// The toolkit that this executable belongs to. It is found from the executable, so it can be moved
// as a whole.
#pragma once

#include <filesystem>

namespace sb::tools {

struct toolkit {
  std::filesystem::path root;

  [[nodiscard]] std::filesystem::path nvcc() const { return root / "bin" / "nvcc"; }
  [[nodiscard]] std::filesystem::path headers() const { return root / "include"; }
  [[nodiscard]] std::filesystem::path libraries() const { return root / "lib64"; }
  [[nodiscard]] std::filesystem::path calibration_program() const {
    return root / "share" / "streambed" / "calibrate.cu";
  }
  [[nodiscard]] std::filesystem::path timeline_page() const {
    return root / "share" / "streambed" / "timeline.html";
  }
};

[[nodiscard]] toolkit own_toolkit();

}  // namespace sb::tools
