// streambed run: compiles a program (if it is source) and runs it on the embedded device. With a
// device or a trace named it records the run and then says what happened.
// Exit status: the program's own; nvcc's when it does not compile; 128 + n after signal n; 124 when
// it hung or ran out of the time it was given; 2 for a wrong command line.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "commands.hpp"
#include "model/profile.hpp"
#include "model/stream_rules.hpp"
#include "output_file.hpp"
#include "process.hpp"
#include "run_report.hpp"
#include "toolkit.hpp"
#include "trace/block_file.hpp"
#include "whole_output.hpp"

namespace sb::tools {
namespace {

namespace fs = std::filesystem;

constexpr int most_devices = 64;  // the engine takes more for as many

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
        {"--device",
         "in modelled time, on this device: h200, or a profile; `streambed device list`", &device_},
        {"--trace",
         "write the recorded run here (with --device by default PROGRAM.sbt in this folder, named "
         "as the first input; PROGRAM-2.sbt if that is there)",
         &trace_},
        {"--timeline",
         "write the timeline page here (with --device by default as the trace, with .html)",
         &page_},
        {"--force", "write over files that are there", &force_},
        {"--quiet", "write the files, but say nothing about the run", &quiet_},
        {"--host-time", "modelled time: the program's own code takes the time that it takes here",
         &host_time_},
        {"--timeout", "end the program after this many seconds of real time", &timeout_},
        {.names = "--devices",
         .description = "number of virtual devices (STREAMBED_DEVICES)",
         .target = &devices_,
         .most = most_devices},
        {.names = "--connections",
         .description = "hardware queues (CUDA_DEVICE_MAX_CONNECTIONS)",
         .target = &connections_,
         .most = static_cast<int>(most_connections)},
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
    if (host_time_ && device_.empty()) {
      complain("--host-time is for modelled time: name a --device, such as h200");
      return 2;
    }
    if (!nvcc_flags_.empty() && !is_compiler_input(inputs_[0])) {
      complain(fmt::format("--nvcc is for sources, and '{}' is compiled already", inputs_[0]));
      return 2;
    }
    std::string why;
    if (!device_.empty() && !load_profile(device_, why)) {
      complain(why);
      return 2;
    }
    if (!name_outputs()) return 2;
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
    // What the compiler says comes behind our words.
    spawn_options how;
    how.errors = program + ".errors";
    const int status = run_process(command, how);
    if (status != 0) {
      fmt::print(stderr, "streambed run: {} does not compile. What the compiler says:\n",
                 fmt::join(inputs_, " "));
    }
    std::ifstream said(how.errors);
    const std::string text{std::istreambuf_iterator<char>(said), {}};
    std::fwrite(text.data(), 1, text.size(), stderr);
    return status;
  }

  static bool complain(const std::string& words) {
    fmt::print(stderr, "streambed run: {}\n", words);
    return false;
  }

  // Names of files that the run writes; false when they cannot be written, which is said.
  bool name_outputs() {
    const std::string stem = fs::path(inputs_[0]).stem().string();
    for (const std::string& given : {trace_, page_}) {
      if (given.empty() || force_ || !takes_the_place_of_a_file(given)) continue;
      if (!why_not_output(given).empty()) continue;  // --force would not help
      return complain(fmt::format("'{}' is there already; --force writes over it", given));
    }
    asked_ = !trace_.empty() || !page_.empty();
    page_asked_ = !page_.empty();
    recorded_ = asked_ || !device_.empty();
    if (!recorded_) return true;
    if (trace_.empty())
      trace_ = force_ && !device_.empty() ? stem + ".sbt" : free_name(stem, ".sbt");
    if (page_.empty() && !device_.empty()) {
      const std::string name = fs::path(trace_).replace_extension().string();
      page_ = force_ ? name + ".html" : free_name(name, ".html");
    }
    return outputs_are_writable();
  }

  [[nodiscard]] bool is_input(const std::string& output) const {
    for (const std::string& input : inputs_) {
      if (same_file(output, input)) return true;
    }
    return !device_.empty() && same_file(output, device_);
  }

  // Why a file stays as it is, whatever is asked for.
  [[nodiscard]] std::string why_not_output(const std::string& output) const {
    if (is_input(output))
      return fmt::format("'{}' is read by this run and cannot be written", output);
    return output == trace_ ? why_not_replaced(output, {".sbt"})
                            : why_not_replaced(output, {".html", ".htm"});
  }

  // What would only fail after the run is said before it.
  [[nodiscard]] bool outputs_are_writable() const {
    if (!page_.empty() && same_file(trace_, page_))
      return complain(fmt::format("the trace and the timeline would both be '{}'", trace_));
    for (const std::string* output : {&trace_, &page_}) {
      if (output->empty()) continue;
      if (const std::string why = why_not_output(*output); !why.empty()) return complain(why);
      const auto kind = output == &trace_ ? output_kind::storage : output_kind::stream;
      if (const std::string why = why_not_writable(*output, kind); !why.empty())
        return complain(fmt::format("'{}' cannot be written: {}", *output, why));
    }
    for (const char* other : {".svg", ".png", ".txt", ".pdf"}) {
      if (fs::path(page_).extension() == other)
        return complain(
            fmt::format("--timeline writes a page (.html), and '{}' is none; `streambed "
                        "timeline` draws .svg, .png and .txt of the trace",
                        page_));
    }
    if (page_asked_ && !fs::exists(own_toolkit().timeline_page())) {
      return complain(
          fmt::format("no timeline page can be made: {} is missing; it is built where node and npm "
                      "are. `streambed timeline` draws pictures (.svg) and text without it.",
                      own_toolkit().timeline_page().string()));
    }
    return true;
  }

  void add_recording(spawn_options& how) const {
    if (!device_.empty()) {
      how.environment.emplace_back("STREAMBED_DEVICE", device_);
      const fs::path before = own_toolkit().libraries() / "streambed" / "libstreambed_interpose.so";
      const char* others = std::getenv("LD_PRELOAD");
      how.environment.emplace_back(
          "LD_PRELOAD", others && *others ? before.string() + ":" + others : before.string());
      if (host_time_) how.environment.emplace_back("STREAMBED_HOST_TIME", "1");
    }
    if (!recorded_) return;
    how.environment.emplace_back("STREAMBED_TRACE", fs::absolute(trace_).string());
    how.environment.emplace_back("STREAMBED_TRACE_BESIDE", "1");
  }

  int execute(const std::string& program) {
    // A run that records nothing must not leave the trace of another one.
    std::optional<set_aside> old;
    if (recorded_ && old.emplace(trace_).is_in_use()) {
      complain(fmt::format(
          "another program is writing '{}' now. Wait for its end, or name another file (--trace).",
          trace_));
      return 2;
    }
    const std::set<std::string> before = numbered_traces();
    spawn_options how;
    how.seconds = timeout_;
    add_recording(how);
    // A program that records can say what it was waiting for when its time was over.
    std::optional<end_request> request;
    if (recorded_ && timeout_ > 0) {
      request.emplace().give(how);
      how.ask_to_end = [&] {
        std::error_code failed;
        const auto bytes = fs::file_size(trace_, failed);
        return !failed && bytes > 0 && request->send();
      };
    }
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
    const bool started = status != 127 || errno == 0;
    if (!started) {
      fmt::print(stderr, "streambed run: cannot run {}: {}\n", program, std::strerror(errno));
      if (old) old->put_back();
    } else if (how.signal != 0 && !how.timed_out) {
      fmt::print(stderr, "streambed run: the program was ended by signal {} ({})\n", how.signal,
                 strsignal(how.signal));
    }
    if (how.timed_out) {
      fmt::print(stderr, "streambed run: the program was ended after {} s (--timeout)\n", timeout_);
    }
    if (recorded_ && started && !report() && status == 0) return 1;
    if (recorded_ && !quiet_) tell_of_others(before);
    return how.timed_out ? 124 : status;
  }

  // Further processes of the program write traces with numbers.
  // They may have gaps where somebody has removed some, and those are filled first.
  [[nodiscard]] std::set<std::string> numbered_traces() const {
    std::set<std::string> found;
    if (!recorded_) return found;
    std::error_code failed;
    const fs::path trace = fs::absolute(trace_);
    fs::directory_iterator file(trace.parent_path(), failed);
    for (; !failed && file != fs::directory_iterator(); file.increment(failed)) {
      std::error_code no_size;
      const std::string name = file->path().filename();
      if (name.starts_with(trace.stem().string() + ".") && file->file_size(no_size) != 0)
        found.insert(name);
    }
    return found;
  }
  void tell_of_others(const std::set<std::string>& before) const {
    for (unsigned number = 1;; ++number) {
      const std::string name = trace::numbered_name(trace_, number);
      if (!fs::exists(name)) return;
      if (!before.contains(fs::path(name).filename()))
        fmt::print(stderr, "trace     {} (of another process that the program started)\n", name);
    }
  }

  // Says what happened, and writes the page. False when something that was asked for is missing.
  [[nodiscard]] bool report() const {
    std::error_code failed;
    if (const auto bytes = fs::file_size(trace_, failed); !failed && bytes > 0)
      return tell({trace_, page_, quiet_ ? report_words::none : report_words::all});
    fs::remove(trace_, failed);
    if (asked_ || !quiet_)
      complain(fmt::format(
          "there is no trace '{}': the program called nothing of CUDA, or could not write it",
          trace_));
    return !asked_;
  }

  std::vector<std::string> inputs_, nvcc_flags_, program_arguments_;
  std::string device_, trace_, page_;
  int devices_ = 0, connections_ = 0;  // 0: as the environment says
  int timeout_ = 0;                    // seconds; 0: none
  bool force_ = false, quiet_ = false, host_time_ = false, recorded_ = false;
  bool launch_blocking_ = false;
  bool asked_ = false, page_asked_ = false;  // files were named on the command line
};

}  // namespace

subcommand& run_subcommand() {
  static run_command command;
  return command;
}

}  // namespace sb::tools
