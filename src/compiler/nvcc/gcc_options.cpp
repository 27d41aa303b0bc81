#include "gcc_options.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "process.hpp"

namespace sb::nvcc {
namespace {

bool begins_with_one_of(std::string_view text, const auto& prefixes) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return starts_with(text, prefix); });
}

// The word behind these is no option, whatever it begins with.
bool takes_next(const std::string& option) {
  static const std::set<std::string_view> names = {
      "-D",       "-U",       "-I",        "-L",       "-l",       "-o",          "-x",
      "-T",       "-u",       "-z",        "-B",       "-isystem", "-iquote",     "-idirafter",
      "-include", "-imacros", "-isysroot", "-Xlinker", "-Xclang",  "-Xassembler", "-Xpreprocessor",
      "-mllvm",   "--param",  "-MF",       "-MT",      "-MQ",      "-target"};
  return names.contains(option);
}

// Options that clang has as well, or answers with no error.
bool is_usual(const std::string& option) {
  static constexpr std::string_view whole[] = {
      "-fPIC",           "-fpic",       "-fPIE",       "-fpie",   "-pie",  "-no-pie",
      "-pthread",        "-m64",        "-shared",     "-static", "-pipe", "-rdynamic",
      "-fopenmp",        "-ffast-math", "-c",          "-w",      "-s",    "-v",
      "-fno-exceptions", "-fno-rtti",   "-fpermissive"};
  static constexpr std::string_view prefixes[] = {
      "-D",         "-U",      "-I",      "-L",           "-l",
      "-O",         "-W",      "-i",      "-X",           "-std=",
      "-fsanitize", "-march=", "-mtune=", "-fvisibility", "-fno-strict-aliasing"};
  if (option.size() < 2 || option[0] != '-' || takes_next(option)) return true;
  if (option == "-g" || starts_with(option, "-ggdb") || starts_with(option, "-gdwarf")) return true;
  return std::find(std::begin(whole), std::end(whole), option) != std::end(whole) ||
         begins_with_one_of(option, prefixes);
}

// What stands between the first pair of quotes.
std::string quoted(const std::string& line) {
  const std::size_t open = line.find('\'');
  const std::size_t close = line.find('\'', open + 1);
  return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

}  // namespace

arguments silence_about_gcc_options() {
  return {"-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument",
          "-Qunused-arguments"};
}

// gcc has hundreds of these and gets more with every version; their names are made of few words.
bool is_without_meaning(const std::string& option) {
  static const std::set<std::string_view> words = {
      // how code is made fast
      "aggressive", "align", "avx256", "branch", "bit", "code", "combine", "conserve", "cost",
      "cprop", "crossjumping", "cse", "dce", "dse", "elim", "gcse", "graphite", "hoist", "if",
      "inc", "inline", "inlining", "ipa", "ira", "isolate", "lifetime", "live", "loop", "loops",
      "lra", "lto", "merging", "modulo", "move", "partial", "peephole", "peephole2", "predictive",
      "prefetch", "probability", "profile", "propagate", "races", "ree", "reorder", "rerun",
      "reschedule", "reuse", "sched", "sched2", "schedule", "scheduling", "sel", "selective",
      "shrink", "simd", "split", "ssa", "store", "strategy", "stringops", "strlen", "thread",
      "tree", "tune", "unroll", "vect", "vpt",
      // what is said about it, and to debuggers; how names meet in libraries, which clang's do not
      "callgraph", "debug", "depth", "diagnostics", "diags", "dump", "elide", "errors",
      "gnu-unique", "info", "limit", "macro", "mem", "pretty", "printf", "report", "stats",
      "tracking", "usage"};
  if (starts_with(option, "-W") || starts_with(option, "-g") || starts_with(option, "-d"))
    return true;
  if (!starts_with(option, "-f") && !starts_with(option, "-m")) return false;
  std::string name = option.substr(2, option.find('=') - 2);
  if (starts_with(name, "no-")) name.erase(0, 3);
  const arguments parts = split(name, '-');
  return words.contains(name) ||
         std::any_of(parts.begin(), parts.end(),
                     [](const std::string& part) { return words.contains(part); });
}

options_for_clang known_to_clang(const std::string& clang, const arguments& options) {
  options_for_clang result{options, {}};
  arguments question = {clang, "-###", "-fno-color-diagnostics", "-x", "c++", "-c", "/dev/null"};
  const std::size_t before = question.size();
  for (std::size_t i = 0; i < options.size(); ++i)
    if (takes_next(options[i]))
      ++i;
    else if (!is_usual(options[i]))
      question.push_back(options[i]);
  if (question.size() == before) return result;

  child::settings how;
  how.capture_errors = true;
  std::set<std::string> unknown, of_link_time;
  for (const std::string& line : split(run(question, how).errors, '\n')) {
    const std::string name = quoted(line);
    if (line.find("error: unknown argument") != std::string::npos) unknown.insert(name);
    // gcc's is the number of processes.
    else if (line.find("error: unsupported argument") != std::string::npos &&
             line.find("'-flto='") != std::string::npos)
      of_link_time.insert("-flto=" + name);
  }

  result.kept.clear();
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& option = options[i];
    if (of_link_time.contains(option)) {
      result.kept.push_back("-flto");
    } else if (!unknown.contains(option)) {
      result.kept.push_back(option);
      if (takes_next(option) && i + 1 < options.size()) result.kept.push_back(options[++i]);
    } else if (!is_without_meaning(option)) {
      result.messages.push_back("clang 19, the host compiler here, does not know the option '" +
                                option + "', and does without it");
    }
  }
  return result;
}

}  // namespace sb::nvcc
