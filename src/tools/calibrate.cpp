// The measuring is done by share/calibrate.cu, which prints lines of a profile. Here it is compiled
// with the CUDA toolkit of the machine and run, and what it printed becomes a profile, checked like
// any.
#include "calibrate.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/profile.hpp"
#include "output_file.hpp"
#include "process.hpp"
#include "toolkit.hpp"
#include "whole_output.hpp"

namespace sb::tools {

namespace {

namespace fs = std::filesystem;

int failed(int status, const std::string& why) {
  fmt::print(stderr, "streambed device calibrate: {}\n", why);
  return status;
}

// The compiler to use; empty when there is none, with the reason in `why`.
std::string compiler(const calibration_options& options, std::string& why) {
  if (!options.nvcc.empty()) {
    const std::string found = find_program(options.nvcc);
    if (found.empty()) why = fmt::format("there is no program '{}'", options.nvcc);
    return found;
  }
  const std::string found = find_program("nvcc");
  if (found.empty()) {
    why =
        "there is no nvcc on PATH. A GPU is measured with NVIDIA's toolkit: put its bin folder on "
        "PATH, or name its nvcc with --nvcc.";
    return {};
  }
  if (same_file(found, own_toolkit().nvcc().string())) {
    why =
        "the nvcc on PATH is Streambed's own, whose programs run on no GPU. Put NVIDIA's in front "
        "of "
        "it, or name it with --nvcc.";
    return {};
  }
  return found;
}

}  // namespace

int calibrate(const calibration_options& options) {
  std::error_code error;
  if (const std::string kept = why_not_replaced(options.output, {".profile"}); !kept.empty())
    return failed(2, kept);
  if (!options.force && takes_the_place_of_a_file(options.output))
    return failed(2, fmt::format("{} is there already; --force writes over it", options.output));
  std::string why;
  const std::string nvcc = compiler(options, why);
  if (nvcc.empty()) return failed(1, why);
  const fs::path source = own_toolkit().calibration_program();
  if (!fs::exists(source, error)) return failed(1, fmt::format("{} is missing", source.string()));

  temporary_directory scratch;
  const std::string program = (fs::path(scratch.path()) / "calibrate").string();
  const std::string printed = (fs::path(scratch.path()) / "lines").string();
  fmt::print(stderr, "Compiling with {} ...\n", nvcc);
  if (run_process({nvcc, "-std=c++17", "-O2", "-o", program, source.string()}) != 0)
    return failed(1, "the measuring program did not compile");
  fmt::print(stderr, "Measuring, for half a minute. Nothing else should use the GPU meanwhile.\n");
  std::vector<std::string> command = {program};
  if (options.quick) command.emplace_back("quick");
  spawn_options how;
  how.output = printed;
  const int status = run_process(command, how);
  if (status == 4) return failed(1, "there is no GPU on this machine that CUDA can use");
  if (status != 0) return failed(1, fmt::format("measuring ended with status {}", status));

  std::ifstream in(printed);
  const std::string lines{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::string text =
      "base = h200\norigin = measured with streambed device calibrate\n" + lines;
  const std::optional<profile> measured = parse_profile(text, "measured", why);
  if (!measured) return failed(1, "what was measured makes no profile: " + why);
  const std::string result = fmt::format(
      "# {}, measured with `streambed device calibrate`. What is not here was not measured and is "
      "as "
      "on the H200.\n\n{}",
      measured->device.name, print_profile(*measured, h200()));
  if (options.output.empty()) {
    fmt::print("{}", result);
    return 0;
  }
  if (why = write_whole(options.output, result); !why.empty())
    return failed(1, fmt::format("{} cannot be written: {}", options.output, why));
  fmt::print(
      stderr, "{}: use it with STREAMBED_DEVICE={}\n", options.output,
      options.output.find('/') == std::string::npos ? "./" + options.output : options.output);
  return 0;
}

}  // namespace sb::tools
