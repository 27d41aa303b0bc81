#include "cpu.hpp"

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <set>
#include <utility>

namespace sb::nvcc {
namespace {

std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  for (std::string& word : split_words(text)) words.insert(std::move(word));
  return words;
}

// The features of the first processor: "Features : ..." on aarch64, "flags : ..." on x86-64.
std::string reported_features() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (starts_with(line, "Features") || starts_with(line, "flags"))
      if (const std::size_t colon = line.find(':'); colon != std::string::npos)
        return line.substr(colon + 1);
  return {};
}

}  // namespace

std::string aarch64_march(const std::string& features) {
  const std::set<std::string> has = words_of(features);
  std::string march = "armv8-a";
  // SVE is left out on purpose: the vectoriser is tuned for fixed-width vectors.
  constexpr std::pair<const char*, const char*> extensions[] = {
      {"atomics", "+lse"}, {"crc32", "+crc"},       {"asimdrdm", "+rdm"}, {"asimdhp", "+fp16"},
      {"lrcpc", "+rcpc"},  {"asimddp", "+dotprod"}, {"bf16", "+bf16"},    {"i8mm", "+i8mm"},
  };
  for (const auto& [feature, extension] : extensions)
    if (has.contains(feature)) march += extension;
  return march;
}

std::string x86_64_march(const std::string& flags) {
  const std::set<std::string> has = words_of(flags);
  const auto all = [&](std::initializer_list<const char*> wanted) {
    for (const char* flag : wanted)
      if (!has.contains(flag)) return false;
    return true;
  };
  if (!all({"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"})) return "x86-64";
  if (!all({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}))
    return "x86-64-v2";
  if (!all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) return "x86-64-v3";
  return "x86-64-v4";  // for some kernels: pass/mask_registers.hpp
}

arguments cpu_flags(const std::string& architecture, bool this_machine) {
  const bool arm = architecture == "aarch64";
  arguments flags;
  if (arm) flags.push_back("-mno-outline-atomics");  // their helpers live in a static library
  if (const char* cpu = std::getenv("STREAMBED_CPU"); cpu != nullptr && *cpu != '\0') {
    flags.push_back((arm ? "-mcpu=" : "-march=") + std::string(cpu));
    return flags;
  }
  // v3 for other machines: without its fused multiply-add, a*b+c would round differently than on
  // the device.
  if (arm)
    flags.push_back("-march=" + (this_machine ? aarch64_march(reported_features()) : "armv8-a"));
  else
    flags.push_back("-march=" + (this_machine ? x86_64_march(reported_features()) : "x86-64-v3"));
  return flags;
}

}  // namespace sb::nvcc
