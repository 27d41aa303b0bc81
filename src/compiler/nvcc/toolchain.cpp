#include "toolchain.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "gcc_options.hpp"
#include "process.hpp"

namespace sb::nvcc {
namespace {

namespace fs = std::filesystem;

std::string machine() {
  utsname name = {};
  uname(&name);
  return name.machine;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_version_19(const std::string& clang, scratch_directory& scratch) {
  const std::string file = scratch.file("version");
  child::settings how;
  how.standard_output = file;
  if (run({clang, "-dumpversion"}, how).status != 0) return false;
  return starts_with(read_file(file), "19.");
}

std::string find_clang() {
  if (const std::string given = environment("STREAMBED_CLANG"); !given.empty()) {
    const std::string found = find_program(given);
    if (found.empty())
      throw fatal_error("STREAMBED_CLANG names '" + given +
                        "', which is not a program. Set it to clang++ of version 19.");
    return found;
  }
  if (std::string found = find_program("clang++-19"); !found.empty()) return found;
  if (is_executable("/usr/lib/llvm-19/bin/clang++")) return "/usr/lib/llvm-19/bin/clang++";
  if (std::string found = find_program("clang++"); !found.empty()) {
    scratch_directory scratch;
    if (is_version_19(found, scratch)) return found;
  }
  throw fatal_error(
      "clang 19 was not found, and .cu files are compiled by it. Install it (Debian: clang-19, "
      "llvm-19, lld-19), or set STREAMBED_CLANG to its clang++.");
}

std::string find_lld(const std::string& clang) {
  std::error_code error;
  const fs::path real = fs::canonical(clang, error);
  if (!error)
    if (const fs::path beside = real.parent_path() / "ld.lld"; is_executable(beside.string()))
      return beside.string();
  for (const char* name : {"ld.lld-19", "/usr/lib/llvm-19/bin/ld.lld", "ld.lld"})
    if (std::string found = find_program(name); !found.empty()) return found;
  throw fatal_error(
      "ld.lld was not found, and device code is linked by it. Install lld (Debian: lld-19).");
}

}  // namespace

toolchain find_toolkit() {
  toolchain tools;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) throw fatal_error("Could not find my own place: /proc/self/exe is not readable");
  tools.root = self.parent_path().parent_path().string();
  tools.include = tools.root + "/include";
  tools.pass = tools.root + "/lib64/streambed/sb_pass.so";
  tools.host_pass = tools.root + "/lib64/streambed/sb_host_pass.so";
  tools.linker_of_bitcode = tools.root + "/lib64/streambed/sb-device-link";
  tools.host_link = tools.root + "/lib64/streambed/host-link";

  tools.triple = environment("STREAMBED_TARGET");
  tools.architecture =
      tools.triple.empty() ? machine() : tools.triple.substr(0, tools.triple.find('-'));
  if (tools.architecture == "arm64") tools.architecture = "aarch64";
  tools.this_machine = tools.architecture == machine();
  if (tools.architecture != "aarch64" && tools.architecture != "x86_64")
    throw fatal_error("The target '" + tools.architecture +
                      "' is not supported. Streambed knows aarch64 and x86_64.");

  tools.library = tools.root + "/lib64";
  if (!tools.this_machine)
    tools.library = tools.root + "/targets/" + tools.architecture + "-linux/lib";
  if (const std::string given = environment("STREAMBED_TARGET_LIBRARY_DIR"); !given.empty())
    tools.library = given;
  return tools;
}

void find_tools(toolchain& tools) {
  tools.clang = find_clang();
  tools.lld = find_lld(tools.clang);
}

arguments toolchain::device_libraries() const {
  const std::string multiarch = architecture + "-linux-gnu";
  const std::string directories[] = {"/lib/" + multiarch, "/usr/lib/" + multiarch,
                                     "/usr/" + multiarch + "/lib", "/lib64", "/usr/lib64"};
  arguments found;
  for (const char* name : {"libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libc.so.6"})
    for (const std::string& directory : directories) {
      if (!this_machine && directory.find(multiarch) == std::string::npos) continue;
      if (const std::string path = directory + "/" + name; file_exists(path)) {
        found.push_back(path);
        break;
      }
    }
  return found;
}

std::string host_compiler(const toolchain& tools, const options& o) {
  if (o.host_compiler.empty()) return tools.clang;
  std::error_code error;
  if (fs::is_directory(o.host_compiler, error)) {
    for (const char* name : {"g++", "clang++", "c++"})
      if (const std::string path = o.host_compiler + "/" + name; is_executable(path)) return path;
    throw fatal_error("Failed to find a host compiler in '" + o.host_compiler +
                      "' (given by -ccbin): it holds neither g++ nor clang++");
  }
  std::string found = find_program(o.host_compiler);
  if (found.empty())
    throw fatal_error("Failed to preprocess host compiler properties: '" + o.host_compiler +
                      "' (given by -ccbin) is not a program");
  return found;
}

std::string host_linker(const toolchain& tools, const options& o) {
  const std::string compiler = host_compiler(tools, o);
  const std::string name = fs::path(compiler).filename().string();
  const bool plain = name.find("g++") != std::string::npos ||
                     name.find("gcc") != std::string::npos ||
                     name.find("clang") != std::string::npos || name == "c++" || name == "cc";
  if (!plain) return compiler;
  return is_executable(tools.host_link) ? tools.host_link : tools.clang;
}

// Every toolkit of NVIDIA's has this header, and Streambed does not.
bool has_other_headers(const std::string& folder) {
  return file_exists(folder + "/crt/host_runtime.h");
}

namespace {

void leave_out_other_headers(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return;
  arguments folders = split(value, ':');
  if (std::erase_if(folders, has_other_headers) == 0) return;
  std::string kept;
  for (const std::string& folder : folders) kept += (kept.empty() ? "" : ":") + folder;
  if (kept.empty())
    unsetenv(variable);
  else
    setenv(variable, kept.c_str(), 1);
}

}  // namespace

void leave_out_other_headers() {
  for (const char* variable : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"})
    leave_out_other_headers(variable);
}

bool has_other_libraries(const std::string& folder) {
  fs::path place = fs::path(folder + "/.").parent_path();
  // Libraries to link with where there is no driver.
  if (place.filename() == "stubs") place = place.parent_path();
  return (file_exists((place / "libcudart.so").string()) ||
          file_exists((place / "libcudart_static.a").string())) &&
         !file_exists((place / "streambed").string());
}

arguments library_folders(const toolchain& tools) {
  return {"-L" + tools.library + "/stubs", "-L" + tools.library};
}

arguments run_path(const toolchain& tools) {
  return {"-Wl,--disable-new-dtags", "-Wl,-rpath," + tools.library};
}

void become_host_linker(const arguments& args) {
  toolchain tools = find_toolkit();
  find_tools(tools);
  arguments line = {tools.clang};
  if (!tools.triple.empty()) line.push_back("--target=" + tools.triple);
  bool links = true;
  for (const std::string& argument : args)
    if (argument == "-c" || argument == "-E" || argument == "-S" || argument == "-r" ||
        starts_with(argument, "--version") || starts_with(argument, "-print-"))
      links = false;
  if (links)
    for (const std::string& word : run_path(tools)) line.push_back(word);
  // CMake gives it what it would give gcc.
  for (const std::string& argument : known_to_clang(tools.clang, args).kept)
    line.push_back(argument);
  std::vector<char*> argv;
  for (std::string& word : line) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  throw fatal_error("Could not start '" + tools.clang + "': " + std::strerror(errno));
}

}  // namespace sb::nvcc
