#include "model/profile.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <type_traits>
#include <vector>

#include "model/built_in_profiles.hpp"
#include "model/profile_fields.hpp"

namespace sb {

namespace {

constexpr std::string_view call_prefix = "call.";
// Of a file; those that are built in have up to 16 thousand.
constexpr std::size_t most_bytes = 1 << 20;

std::string_view trimmed(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

// Of a time, which a run adds up in whole nanoseconds, 1000 seconds; no rate comes near it.
constexpr double most_of_any = 1e12;
constexpr std::int32_t most_multiprocessors = 10'000;

// --- values. Each answers what is wrong, or nothing.

std::string read_value(std::string_view text, std::string& to, double) {
  to = text;
  return {};
}

std::string read_value(std::string_view text, bool& to, double) {
  if (text != "yes" && text != "no") return "it is 'yes' or 'no', not '" + std::string(text) + "'";
  to = text == "yes";
  return {};
}

std::string print_number(double value) {
  char text[32];
  const auto [end, ok] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

template <class Number>
  requires std::is_arithmetic_v<Number>
std::string read_value(std::string_view text, Number& to, double least) {
  const std::string was(text);
  Number value{};
  std::from_chars_result read{};
  if constexpr (std::is_integral_v<Number>) {
    const bool hex = text.starts_with("0x");
    if (hex) text.remove_prefix(2);
    read = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  } else {
    read = std::from_chars(text.data(), text.data() + text.size(), value);
  }
  if (read.ec == std::errc::result_out_of_range) return "'" + was + "' is too large";
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size())
    return "'" + was + "' is not a number" +
           (std::is_integral_v<Number> ? " without a fraction" : "");
  // Also what is not a number at all.
  if (!(static_cast<double>(value) >= least))
    return "'" + was + "' is out of range: the least is " + print_number(least);
  if (std::is_floating_point_v<Number> && static_cast<double>(value) > most_of_any)
    return "'" + was + "' is out of range: the most is " + print_number(most_of_any);
  to = value;
  return {};
}

template <std::size_t n>
std::string read_value(std::string_view text, std::array<std::int32_t, n>& to, double least) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end == 0) return "it takes " + std::to_string(n) + " numbers";
    if (std::string wrong = read_value(text.substr(0, end), to[i], least); !wrong.empty())
      return wrong;
    text = trimmed(text.substr(end));
  }
  return text.empty() ? std::string{} : "it takes " + std::to_string(n) + " numbers";
}

std::string print_value(const std::string& v) { return v; }
std::string print_value(bool v) { return v ? "yes" : "no"; }
std::string print_value(double v) { return print_number(v); }
template <class Integer>
  requires std::is_integral_v<Integer>
std::string print_value(Integer v) {
  return std::to_string(v);
}
template <std::size_t n>
std::string print_value(const std::array<std::int32_t, n>& v) {
  std::string text;
  for (const std::int32_t number : v) {
    if (!text.empty()) text += " ";
    text += std::to_string(number);
  }
  return text;
}

// --- files

struct entry {
  std::string value;
  unsigned line;
  bool known = false;
};

using entries = std::map<std::string, entry, std::less<>>;

std::string at(const std::string& file, unsigned line, std::string_view key) {
  return file + ":" + std::to_string(line) + ": " + std::string(key) + ": ";
}

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\r') || c == '\x7f';
}

bool read_lines(std::string_view text, const std::string& file, entries& found,
                std::string& error) {
  for (unsigned line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    // A terminal would obey some of it.
    if (std::any_of(rest.begin(), rest.end(), is_control)) {
      error = file + ":" + std::to_string(line) + ": this is not text";
      return false;
    }
    rest = trimmed(rest.substr(0, rest.find('#')));
    if (rest.empty()) continue;
    const std::size_t equals = rest.find('=');
    const std::string_view key = trimmed(rest.substr(0, equals));
    if (equals == std::string_view::npos || key.empty()) {
      error = at(file, line, rest.substr(0, 40)) + "a line is `key = value` or a comment";
      return false;
    }
    const std::string_view value = trimmed(rest.substr(equals + 1));
    if (value.empty()) {
      error = at(file, line, key) + "it has no value";
      return false;
    }
    const auto [place, is_new] = found.insert({std::string(key), {std::string(value), line}});
    if (!is_new) {
      error = at(file, line, key) + "it stands in line " + std::to_string(place->second.line) +
              " already";
      return false;
    }
  }
  return true;
}

bool check_together(const profile& p, const std::string& file, const entries& found,
                    std::string& error) {
  const auto wrong = [&](const char* key, const std::string& why) {
    const auto place = found.find(key);
    error = at(file, place == found.end() ? 1 : place->second.line, key) + why;
    return false;
  };
  const device_profile& d = p.device;
  if (d.greatest_priority > d.least_priority || d.least_priority > 0)
    return wrong("greatest_priority",
                 "priorities go from least_priority, at most 0, down to greatest_priority");
  if (d.multiprocessors > most_multiprocessors)
    return wrong("multiprocessors", "there are " + std::to_string(most_multiprocessors) +
                                        " at most: each one is looked after on its own");
  if (d.hardware_queues < d.default_connections)
    return wrong("connections",
                 "there are only " + std::to_string(d.hardware_queues) + " hardware_queues");
  if (d.shared_per_block > d.shared_per_multiprocessor)
    return wrong("shared_per_block", "it is more than shared_per_multiprocessor");
  if (d.max_threads_per_block > d.threads_per_multiprocessor)
    return wrong("max_threads_per_block", "it is more than threads_per_multiprocessor");
  if (p.timing.both_directions > 1)
    return wrong("both_directions", "it is a part of the rate, at most 1");
  return true;
}

}  // namespace

std::optional<profile> parse_profile(std::string_view text, const std::string& file,
                                     std::string& error) {
  entries found;
  if (!read_lines(text, file, found, error)) return std::nullopt;

  profile p{};
  const auto base = found.find("base");
  if (base != found.end()) {
    const profile* of = find_profile(base->second.value);
    if (of == nullptr) {
      error = at(file, base->second.line, "base") + "there is no built-in device '" +
              base->second.value + "'";
      return std::nullopt;
    }
    p = *of;
  }
  p.key = file;
  const auto origin = found.find("origin");
  if (origin == found.end()) {
    error = at(file, 1, "origin") + "it is missing: say where the numbers come from";
    return std::nullopt;
  }
  p.origin = origin->second.value;

  error.clear();
  visit_fields(p, [&](std::string_view key, auto& member, double least) {
    if (!error.empty()) return;
    const auto place = found.find(key);
    if (place == found.end()) {
      if (base == found.end())
        error = at(file, 1, key) + "it is missing; a profile without `base` has every key";
      return;
    }
    if (std::string why = read_value(place->second.value, member, least); !why.empty())
      error = at(file, place->second.line, key) + why;
    place->second.known = true;
  });
  if (!error.empty()) return std::nullopt;
  for (const auto& [key, e] : found) {
    if (e.known || key == "base" || key == "origin") continue;
    if (!key.starts_with(call_prefix)) {
      error = at(file, e.line, key) + "there is no such key";
      return std::nullopt;
    }
    double& ns = p.timing.calls[key.substr(call_prefix.size())];
    if (const std::string why = read_value(e.value, ns, 0); !why.empty()) {
      error = at(file, e.line, key) + why;
      return std::nullopt;
    }
  }
  if (!check_together(p, file, found, error)) return std::nullopt;
  return p;
}

std::string print_profile(const profile& p, const profile& base) {
  std::string text = "base = " + base.key + "\norigin = " + p.origin + "\n";
  std::vector<std::string> values;
  visit_fields(base, [&](std::string_view, const auto& member, double) {
    values.push_back(print_value(member));
  });
  std::size_t i = 0;
  visit_fields(p, [&](std::string_view key, const auto& member, double) {
    const std::string value = print_value(member);
    if (value != values[i++]) text += std::string(key) + " = " + value + "\n";
  });
  for (const auto& [name, ns] : p.timing.calls) {
    const auto same = base.timing.calls.find(name);
    if (same == base.timing.calls.end() || same->second != ns)
      text += std::string(call_prefix) + name + " = " + print_number(ns) + "\n";
  }
  return text;
}

std::optional<profile> load_profile(const std::string& name_or_path, std::string& error) {
  if (const profile* known = find_profile(name_or_path); known != nullptr) return *known;
  if (name_or_path.find('/') == std::string::npos && !name_or_path.ends_with(".profile")) {
    error = "there is no device '" + name_or_path + "'. There are:";
    for (const profile& p : built_in_profiles()) error += " " + p.key;
    error += ", or the path of a profile file (with a '/', or ending in .profile)";
    return std::nullopt;
  }
  // Reading one would throw.
  struct stat found{};
  if (stat(name_or_path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) {
    error = name_or_path + ": it is a folder, not a profile";
    return std::nullopt;
  }
  std::ifstream in(name_or_path, std::ios::binary);
  std::string text(most_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (!in.is_open() || in.bad()) {
    error = name_or_path + ": the profile cannot be read";
    return std::nullopt;
  }
  if (text.size() > most_bytes) {
    error = name_or_path + ": it is too long for a profile";
    return std::nullopt;
  }
  return parse_profile(text, name_or_path, error);
}

namespace {

profile parse_built_in(const built_in_profile& b) {
  std::string error;
  std::optional<profile> p = parse_profile(b.text, std::string(b.key), error);
  if (!p) {
    std::fprintf(stderr, "streambed: a built-in profile is broken: %s\n", error.c_str());
    std::abort();
  }
  return std::move(*p);
}

}  // namespace

const profile& h200() {
  static const profile one = parse_built_in(built_in_profile_texts().front());
  return one;
}

const device_profile& h200_profile() { return h200().device; }
const timing_profile& h200_timing() { return h200().timing; }

// The others are based on the H200 and on no other, so that reading them asks only for that.
std::span<const profile> built_in_profiles() {
  static const std::vector<profile> all = [] {
    std::vector<profile> list{h200()};
    for (const built_in_profile& b : built_in_profile_texts().subspan(1))
      list.push_back(parse_built_in(b));
    return list;
  }();
  return all;
}

const profile* find_profile(std::string_view key) {
  if (key == h200().key) return &h200();
  for (const profile& p : built_in_profiles())
    if (p.key == key) return &p;
  return nullptr;
}

std::string_view built_in_text(std::string_view key) {
  for (const built_in_profile& b : built_in_profile_texts())
    if (b.key == key) return b.text;
  return {};
}

}  // namespace sb
