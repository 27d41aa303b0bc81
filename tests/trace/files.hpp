// Files of a test, in a folder that goes away with it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace sb::trace::testing {

using bytes = std::vector<std::uint8_t>;

class TraceFiles : public ::testing::Test {
 protected:
  TraceFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "trace-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~TraceFiles() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  static bytes contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void put(const std::string& path, const bytes& what) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(what.data()),
               static_cast<std::streamsize>(what.size()));
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace sb::trace::testing
