#include "architectures.hpp"

#include <algorithm>

namespace sb::nvcc {
namespace {

constexpr int known_architectures[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

void add_architecture(options& o, int number) {
  if (std::find(o.architectures.begin(), o.architectures.end(), number) == o.architectures.end())
    o.architectures.push_back(number);
}

// sm_90, sm_90a, compute_100f, lto_80
int architecture_number(const std::string& name) {
  for (std::string_view prefix : {"sm_", "compute_", "lto_"}) {
    if (!starts_with(name, prefix)) continue;
    std::string digits = name.substr(prefix.size());
    if (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f')) digits.pop_back();
    for (int known : known_architectures)
      if (digits == std::to_string(known)) return known;
  }
  throw fatal_error("Unsupported gpu architecture '" + name + "'");
}

bool is_virtual(const std::string& name) { return starts_with(name, "compute_"); }

// Code is for the architecture itself or, if it is real, for a newer one. What is special to one
// processor (90a) runs on that one only.
void check_pair(const std::string& architecture, const std::string& code) {
  if (!is_virtual(architecture))
    throw fatal_error("Value of -arch option ('" + architecture +
                      "') must be a virtual code architecture");
  const int from = architecture_number(architecture);
  const int to = architecture_number(code);
  const bool special = architecture.back() == 'a';
  const bool fits = is_virtual(code) ? architecture == code
                    : special        ? from == to && code.back() == 'a'
                                     : from <= to;
  if (!fits)
    throw fatal_error("Incompatible code generation requested: arch='" + architecture +
                      "', code='" + code + "'");
}

}  // namespace

void set_architecture(options& o, const std::string& value) {
  o.architecture = value;
  if (value == "native") return add_architecture(o, 90);
  if (value == "all" || value == "all-major") {
    for (int known : known_architectures)
      if (value == "all" || known % 10 == 0 || known == 75) add_architecture(o, known);
    return;
  }
  add_architecture(o, architecture_number(value));
}

// arch=compute_90,code=sm_90 or code=[sm_90,compute_90] or code="sm_90,compute_90"
void generate_code(options& o, const std::string& value) {
  std::string plain;
  for (char c : value)
    if (c != '[' && c != ']' && c != '"' && c != '\'') plain += c;
  std::string architecture;
  arguments code;
  bool in_code = false;
  for (const std::string& item : split(plain, ',')) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) {
      if (!in_code) throw fatal_error("'" + item + "' is not in 'keyword=value' format");
      code.push_back(item);
      continue;
    }
    const std::string keyword = item.substr(0, equals);
    if (keyword != "arch" && keyword != "code")
      throw fatal_error("Illegal keyword '" + keyword + "' for option 'generate-code'");
    in_code = keyword == "code";
    if (in_code)
      code.push_back(item.substr(equals + 1));
    else
      architecture = item.substr(equals + 1);
  }
  const auto missing = [&](const char* what) {
    return fatal_error("Option '--generate-code " + value + "', missing " + what);
  };
  if (architecture.empty()) throw missing("architecture");
  if (code.empty()) throw missing("code");
  add_architecture(o, architecture_number(architecture));
  for (const std::string& name : code) check_pair(architecture, name);
}

void check_architectures(const options& o) {
  if (o.code.empty()) return;
  if (o.architecture.empty()) throw fatal_error("-arch option not specified");
  for (const char* several : {"native", "all", "all-major"})
    if (o.architecture == several)
      throw fatal_error("Cannot use '-arch=" + o.architecture + "' with '--gpu-code (-code)'");
  for (const std::string& name : o.code) check_pair(o.architecture, name);
}

}  // namespace sb::nvcc
