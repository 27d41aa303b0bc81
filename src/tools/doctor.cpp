// streambed doctor: is everything here that compiling and running a program needs?
#include <fmt/format.h>
#include <sys/utsname.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "commands.hpp"
#include "process.hpp"
#include "toolkit.hpp"

namespace sb::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* trial_program = R"(#include <cstdio>
__global__ void answer(int* x) { *x = 42; }
int main() {
  int *device = nullptr, host = 0;
  cudaMalloc(&device, sizeof(int));
  answer<<<1, 1>>>(device);
  cudaMemcpy(&host, device, sizeof(int), cudaMemcpyDeviceToHost);
  return host == 42 ? 0 : 1;
}
)";

class doctor_command final : public subcommand {
 public:
  std::string_view name() const override { return "doctor"; }
  std::string_view description() const override {
    return "Check that everything is here, and say how to install what is not";
  }
  std::vector<option> options() override { return {}; }

  int run() override {
    check_machine();
    check_tools();
    check_toolkit();
    check_timeline();
    if (missing_ == 0) try_a_program();
    if (missing_ == 0) {
      fmt::print("\nEverything is here.\n");
      return 0;
    }
    fmt::print("\n{} thing{} missing or wrong.\n", missing_, missing_ == 1 ? " is" : "s are");
    if (!packages_.empty()) {
      fmt::print("To install what is missing on Debian:\n  sudo apt-get install -y{}\n", packages_);
    }
    return 1;
  }

 private:
  void good(std::string_view what, std::string_view found) {
    fmt::print("  ok       {:<22} {}\n", what, found);
  }
  void bad(std::string_view what, std::string_view why) {
    fmt::print("  MISSING  {:<22} {}\n", what, why);
    ++missing_;
  }

  void check_machine() {
    utsname machine = {};
    uname(&machine);
    const std::string architecture = machine.machine;
    const std::string found =
        fmt::format("{}, {} core{}", architecture, std::thread::hardware_concurrency(),
                    std::thread::hardware_concurrency() == 1 ? "" : "s");
    if (architecture == "aarch64" || architecture == "x86_64") {
      good("processor", found);
    } else {
      bad("processor", found + "; Streambed runs on aarch64 and x86_64");
    }
  }

  void check_program(std::string_view what, const std::vector<std::string>& names,
                     const std::string& package) {
    for (const std::string& name : names) {
      const std::string found = find_program(name);
      if (!found.empty()) return good(what, found);
    }
    bad(what, fmt::format("{} is not on the PATH; Debian's package is {}", names[0], package));
    packages_ += " " + package;
  }

  void check_tools() {
    // The same places that nvcc looks at.
    const char* chosen = std::getenv("STREAMBED_CLANG");
    if (chosen && *chosen) {
      check_program("clang (STREAMBED_CLANG)", {chosen}, "clang-19");
    } else {
      check_program("clang 19", {"clang++-19", "/usr/lib/llvm-19/bin/clang++"}, "clang-19");
    }
    check_program("lld", {"ld.lld-19", "/usr/lib/llvm-19/bin/ld.lld", "ld.lld"}, "lld-19");
    if (!fs::exists("/usr/include/c++") && find_program("g++").empty()) {
      bad("C++ standard library", "no headers in /usr/include/c++; Debian's package is g++");
      packages_ += " g++";
    } else {
      good("C++ standard library", "headers found");
    }
  }

  void check_file(std::string_view what, const fs::path& path) {
    if (fs::exists(path)) return good(what, path.string());
    bad(what, path.string() + " is not there; build the toolkit again (make build)");
  }

  void check_toolkit() {
    const toolkit kit = own_toolkit();
    check_file("nvcc", kit.nvcc());
    check_file("device compiler pass", kit.libraries() / "streambed" / "sb_pass.so");
    check_file("host compiler pass", kit.libraries() / "streambed" / "sb_host_pass.so");
    check_file("headers", kit.headers() / "cuda_runtime.h");
    check_file("runtime library", kit.libraries() / "libcudart.so.13");
    const std::string first = find_program("nvcc");
    if (!first.empty() && !fs::equivalent(first, kit.nvcc())) {
      note("nvcc on the PATH",
           fmt::format("{} comes first; put {} in front", first, (kit.root / "bin").string()));
    }
  }

  void note(std::string_view what, std::string_view words) {
    fmt::print("  note     {:<22} {}\n", what, words);
  }

  // Programs run without these; only a kind of picture is missing.
  void check_timeline() {
    const fs::path page = own_toolkit().timeline_page();
    if (fs::exists(page)) {
      good("timeline page", page.string());
    } else {
      note("timeline page",
           "not built: `streambed timeline -o x.html` needs nodejs and npm, and a build after");
    }
    if (const std::string found = find_browser(); !found.empty()) {
      good("chromium", found);
    } else {
      note("chromium", "not on the PATH: `streambed timeline -o x.png` needs it");
    }
  }

  void try_a_program() {
    temporary_directory scratch;
    const std::string source = scratch.path() + "/trial.cu";
    const std::string program = scratch.path() + "/trial";
    std::ofstream(source) << trial_program;
    if (run_process({own_toolkit().nvcc().string(), "-o", program, source}) != 0) {
      return bad("a trial program", "it did not compile; nvcc's message is above");
    }
    if (const int status = run_process({program}); status != 0) {
      return bad("a trial program", fmt::format("it ended with status {}", status));
    }
    good("a trial program", "compiled, ran, and gave the right result");
  }

  int missing_ = 0;
  std::string packages_;
};

}  // namespace

subcommand& doctor_subcommand() {
  static doctor_command command;
  return command;
}

}  // namespace sb::tools
