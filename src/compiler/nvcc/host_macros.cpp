#include "host_macros.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "cpu.hpp"
#include "process.hpp"

namespace sb::nvcc {
namespace {

void append(arguments& to, const arguments& more) { to.insert(to.end(), more.begin(), more.end()); }

// What the levels of x86-64 add, which host code is without unless it asks for it.
constexpr const char* of_levels[] = {
    "__AVX2__", "__AVX512BW__", "__AVX512CD__",  "__AVX512DQ__", "__AVX512F__", "__AVX512VL__",
    "__AVX__",  "__BMI2__",     "__BMI__",       "__CRC32__",    "__EVEX256__", "__EVEX512__",
    "__F16C__", "__FMA__",      "__LAHF_SAHF__", "__LZCNT__",    "__MOVBE__",   "__POPCNT__",
    "__SSE3__", "__SSE4_1__",   "__SSE4_2__",    "__SSSE3__",    "__XSAVE__"};

arguments about_instructions(const arguments& host_options) {
  arguments flags;
  for (const std::string& option : host_options)
    if (starts_with(option, "-m") && option != "-m64" && !starts_with(option, "-mtune=") &&
        !starts_with(option, "-mcmodel="))
      flags.push_back(option);
  return flags;
}

// With their values; nothing where clang does not take the flags.
std::optional<std::map<std::string, std::string>> macros_with(const toolchain& tools,
                                                              const arguments& flags) {
  arguments question = {tools.clang};
  if (!tools.triple.empty()) question.push_back("--target=" + tools.triple);
  append(question, flags);
  append(question, {"-Qunused-arguments", "-dM", "-E", "-x", "c++", "/dev/null"});
  scratch_directory scratch;
  child::settings how;
  how.capture_errors = true;
  how.standard_output = scratch.file("macros");
  if (run(question, how).status != 0) return std::nullopt;
  std::map<std::string, std::string> macros;
  for (const std::string& line : split(read_file(how.standard_output), '\n')) {
    const std::size_t name = line.find(' ') + 1, value = line.find(' ', name);
    if (name == 0 || value == std::string::npos) continue;
    macros[line.substr(name, value - name)] = line.substr(value + 1);
  }
  return macros;
}

arguments of_instructions(const toolchain& tools, const arguments& host_options) {
  arguments flags;
  if (tools.architecture != "x86_64") return flags;
  const arguments asked = about_instructions(host_options);
  if (asked.empty()) {
    for (const char* name : of_levels) flags.push_back(std::string("-U") + name);
    return flags;
  }
  const auto host = macros_with(tools, asked);
  const auto device = macros_with(tools, cpu_flags(tools.architecture, tools.this_machine));
  if (!host || !device) return flags;  // the passes say what is wrong
  for (const auto& [name, value] : *device)
    if (const auto same = host->find(name); same == host->end() || same->second != value)
      flags.push_back("-U" + name);
  for (const auto& [name, value] : *host)
    if (const auto same = device->find(name); same == device->end() || same->second != value)
      flags.push_back("-D" + name + "=" + value);
  return flags;
}

// Device code is always optimised.
arguments of_optimisation(const options& o, const arguments& host_options) {
  std::string level = o.host_level;
  bool fast = false, finite = false;
  for (const std::string& option : host_options) {
    if (starts_with(option, "-O")) level = option.size() == 2 ? "1" : option.substr(2);
    fast |= option == "-ffast-math" || option == "-Ofast";
    finite |= option == "-ffinite-math-only";
  }
  arguments flags;
  if (level.empty() || level == "0") append(flags, {"-U__OPTIMIZE__", "-D__NO_INLINE__=1"});
  if (level == "s" || level == "z") flags.push_back("-D__OPTIMIZE_SIZE__=1");
  if (fast) flags.push_back("-D__FAST_MATH__=1");
  if (fast || finite) append(flags, {"-U__FINITE_MATH_ONLY__", "-D__FINITE_MATH_ONLY__=1"});
  return flags;
}

}  // namespace

arguments host_macros(const toolchain& tools, const options& o, const arguments& host_options) {
  arguments flags = of_instructions(tools, host_options);
  append(flags, of_optimisation(o, host_options));
  // What the program says itself stays.
  const auto defines = [&](const std::string& name) {
    return std::any_of(o.defines.begin(), o.defines.end(), [&](const std::string& define) {
      return define.substr(0, define.find('=')) == name;
    });
  };
  std::erase_if(
      flags, [&](const std::string& flag) { return defines(flag.substr(2, flag.find('=') - 2)); });
  return flags;
}

}  // namespace sb::nvcc
