// streambed run: compiles a program (if it is source) and runs it on the embedded device.
// Exit status: the program's own; nvcc's when it does not compile; 128 + n after signal n.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "commands.hpp"
#include "process.hpp"
#include "toolkit.hpp"

namespace sb::tools {
namespace {

namespace fs = std::filesystem;

bool is_compiler_input(const fs::path& path) {
  static const std::vector<std::string> endings = {".cu", ".cpp", ".cc", ".cxx", ".c", ".o", ".a"};
  for (const std::string& ending : endings) {
    if (path.extension() == ending) return true;
  }
  return false;
}

class run_command final : public subcommand {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view description() const override {
    return "Compile a .cu program and run it, or run one that is compiled already";
  }
  std::vector<option> options() override {
    return {
        {"inputs", "sources and objects of one program, or one executable", &inputs_,
         option_use::required},
        {"--devices", "number of virtual devices (STREAMBED_DEVICES)", &devices_},
        {"--connections", "hardware queues (CUDA_DEVICE_MAX_CONNECTIONS)", &connections_},
        {"--launch-blocking", "every launch waits for its kernel (CUDA_LAUNCH_BLOCKING=1)",
         &launch_blocking_},
        {"--nvcc", "a flag for nvcc, such as --nvcc=-O0; may be repeated", &nvcc_flags_},
    };
  }
  std::vector<std::string>* rest() override { return &program_arguments_; }

  int run() override {
    if (!is_compiler_input(inputs_[0]) && inputs_.size() > 1) {
      fmt::print(
          stderr,
          "streambed run: '{0}' is taken for an executable, so '{1}' is one argument too many.\n"
          "Arguments of the program go after --: streambed run {0} -- {1}\n",
          inputs_[0], inputs_[1]);
      return 2;
    }
    for (const std::string& input : inputs_) {
      if (!fs::exists(input)) {
        fmt::print(stderr, "streambed run: there is no file '{}'\n", input);
        return 2;
      }
    }
    if (is_compiler_input(inputs_[0])) {
      temporary_directory scratch;
      const std::string program = (fs::path(scratch.path()) / fs::path(inputs_[0]).stem()).string();
      const int compiled = compile(program);
      return compiled == 0 ? execute(program) : compiled;
    }
    return execute(fs::absolute(inputs_[0]).string());
  }

 private:
  int compile(const std::string& program) const {
    const std::string nvcc = own_toolkit().nvcc().string();
    if (find_program(nvcc).empty()) {
      fmt::print(
          stderr,
          "streambed run: {} is missing, so sources cannot be compiled. Build the toolkit with "
          "LLVM 19 there (`streambed doctor` says what is missing).\n",
          nvcc);
      return 1;
    }
    std::vector<std::string> command = {nvcc, "-o", program};
    command.insert(command.end(), nvcc_flags_.begin(), nvcc_flags_.end());
    command.insert(command.end(), inputs_.begin(), inputs_.end());
    return run_process(command);
  }

  int execute(const std::string& program) const {
    spawn_options how;
    if (devices_ > 0) how.environment.emplace_back("STREAMBED_DEVICES", std::to_string(devices_));
    if (connections_ > 0) {
      how.environment.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(connections_));
    }
    if (launch_blocking_) how.environment.emplace_back("CUDA_LAUNCH_BLOCKING", "1");
    // An executable that was linked elsewhere finds our libcudart.so by name.
    const char* paths = std::getenv("LD_LIBRARY_PATH");
    const std::string ours = own_toolkit().libraries().string();
    how.environment.emplace_back("LD_LIBRARY_PATH", paths && *paths ? ours + ":" + paths : ours);

    std::vector<std::string> command = {program};
    command.insert(command.end(), program_arguments_.begin(), program_arguments_.end());
    std::fflush(nullptr);
    const int status = run_process(command, how);
    if (status == 127 && errno != 0) {
      fmt::print(stderr, "streambed run: cannot run {}: {}\n", program, std::strerror(errno));
    } else if (status > 128) {
      fmt::print(stderr, "streambed run: the program was ended by signal {} ({})\n", status - 128,
                 strsignal(status - 128));
    }
    return status;
  }

  std::vector<std::string> inputs_, nvcc_flags_, program_arguments_;
  int devices_ = 0, connections_ = 0;  // 0: as the environment says
  bool launch_blocking_ = false;
};

}  // namespace

subcommand& run_subcommand() {
  static run_command command;
  return command;
}

}  // namespace sb::tools
