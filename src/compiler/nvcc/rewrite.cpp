#include "rewrite.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "lexer.hpp"
#include "process.hpp"

namespace sb::nvcc {
namespace {

struct edit {
  std::size_t begin, end;
  std::string text;
};

class rewriter {
 public:
  rewriter(std::string_view source, char floating)
      : source_(source), tokens_(tokens_of(source)), floating_(floating) {}

  std::string run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is_launch_open(i))
        launch(i);
      else if (is(i, "asm") || is(i, "__asm__") || is(i, "__asm"))
        assembly(i);
      else if (is_memory_space(i) && is(i + 1, "alignas") && is(i + 2, "("))
        alignment(i);
    }
    if (edits_.empty()) return {};
    std::sort(edits_.begin(), edits_.end(),
              [](const edit& a, const edit& b) { return a.begin < b.begin; });
    std::string out;
    std::size_t at = 0;
    for (const edit& each : edits_) {
      if (each.begin < at) continue;  // inside another one
      out.append(source_.substr(at, each.begin - at));
      out.append(each.text);
      at = each.end;
    }
    out.append(source_.substr(at));
    return out;
  }

 private:
  [[nodiscard]] std::string_view text(std::size_t i) const {
    return source_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
  }
  [[nodiscard]] bool is(std::size_t i, std::string_view wanted) const {
    return i < tokens_.size() && text(i) == wanted && tokens_[i].kind != token_kind::string;
  }
  [[nodiscard]] bool triple(std::size_t i, std::string_view what) const {
    return is(i, what) && is(i + 1, what) && is(i + 2, what);
  }

  // Three `<` in a row begin a launch, whatever blanks are between them: in C++ nothing else does,
  // but operator<< <T>.
  [[nodiscard]] bool is_launch_open(std::size_t i) const {
    if (!triple(i, "<") || i == 0 || is(i - 1, "operator") || is(i - 1, "<")) return false;
    return tokens_[i - 1].kind == token_kind::word || is(i - 1, ">") || is(i - 1, ")");
  }

  [[nodiscard]] bool is_memory_space(std::size_t i) const {
    return is(i, "__shared__") || is(i, "__device__") || is(i, "__constant__") ||
           is(i, "__managed__");
  }

  // For clang the space is a GNU attribute, which no standard one may follow.
  void alignment(std::size_t space) {
    int depth = 0;
    std::size_t end = space + 2;
    for (; end < tokens_.size(); ++end) {
      depth += is(end, "(") ? 1 : is(end, ")") ? -1 : 0;
      if (depth == 0) break;
    }
    if (end == tokens_.size()) return;
    const token &first = tokens_[space], &alignas_word = tokens_[space + 1], &last = tokens_[end];
    std::string swapped(source_.substr(alignas_word.begin, last.end - alignas_word.begin));
    swapped += source_.substr(first.end, alignas_word.begin - first.end);
    swapped += text(space);
    edits_.push_back({first.begin, last.end, std::move(swapped)});
  }

  void replace_keeping_lines(std::size_t begin, std::size_t end, std::string replacement) {
    const std::string_view old = source_.substr(begin, end - begin);
    if (old == replacement) return;
    for (char c : old)
      if (c == '\n') replacement += '\n';
    edits_.push_back({begin, end, std::move(replacement)});
  }

  void launch(std::size_t open) {
    int depth = 0, argument = 0;
    bool starts_argument = true;
    std::size_t brace = 0;  // of the current argument, if it begins with one
    std::vector<std::pair<std::size_t, std::size_t>> lists;
    for (std::size_t i = open + 3; i < tokens_.size(); ++i) {
      if (depth == 0 && triple(i, ">") && is(i + 3, "(") && !is(i - 1, "-")) {
        replace_keeping_lines(tokens_[open].begin, tokens_[open + 2].end, "<<<");
        replace_keeping_lines(tokens_[i].begin, tokens_[i + 2].end, ">>>");
        for (const auto& [first, last] : lists) {
          edits_.push_back({tokens_[first].begin, tokens_[first].end, "dim3("});
          edits_.push_back({tokens_[last].begin, tokens_[last].end, ")"});
        }
        return;
      }
      if (depth == 0 && is(i, "{") && starts_argument && argument < 2) brace = i;
      starts_argument = false;
      if (is(i, "(") || is(i, "[") || is(i, "{")) ++depth;
      if (is(i, ")") || is(i, "]") || is(i, "}")) --depth;
      if (depth < 0 || is(i, ";")) return;  // not a launch after all
      if (depth == 0 && is(i, "}") && brace != 0) {
        lists.emplace_back(brace, i);
        brace = 0;
      }
      if (depth == 0 && is(i, ",")) {
        ++argument;
        starts_argument = true;
      }
    }
  }

  // PTX is told from the host's assembly by its instructions: known names with a type behind a dot.
  [[nodiscard]] static bool is_ptx(std::string_view code) {
    static const std::set<std::string_view> names = {"abs",
                                                     "activemask",
                                                     "add",
                                                     "addc",
                                                     "and",
                                                     "applypriority",
                                                     "atom",
                                                     "bar",
                                                     "barrier",
                                                     "bfe",
                                                     "bfi",
                                                     "bfind",
                                                     "bmsk",
                                                     "brev",
                                                     "call",
                                                     "clusterlaunchcontrol",
                                                     "clz",
                                                     "cnot",
                                                     "copysign",
                                                     "cos",
                                                     "cp",
                                                     "createpolicy",
                                                     "cvt",
                                                     "cvta",
                                                     "discard",
                                                     "div",
                                                     "dp2a",
                                                     "dp4a",
                                                     "elect",
                                                     "ex2",
                                                     "fence",
                                                     "fma",
                                                     "fns",
                                                     "getctarank",
                                                     "griddepcontrol",
                                                     "isspacep",
                                                     "ld",
                                                     "ldmatrix",
                                                     "ldu",
                                                     "lg2",
                                                     "lop3",
                                                     "mad",
                                                     "mad24",
                                                     "madc",
                                                     "mapa",
                                                     "match",
                                                     "max",
                                                     "mbarrier",
                                                     "membar",
                                                     "min",
                                                     "mma",
                                                     "mov",
                                                     "movmatrix",
                                                     "mul",
                                                     "mul24",
                                                     "multimem",
                                                     "nanosleep",
                                                     "neg",
                                                     "not",
                                                     "or",
                                                     "pmevent",
                                                     "popc",
                                                     "prefetch",
                                                     "prefetchu",
                                                     "prmt",
                                                     "rcp",
                                                     "red",
                                                     "redux",
                                                     "rem",
                                                     "rsqrt",
                                                     "sad",
                                                     "selp",
                                                     "set",
                                                     "setmaxnreg",
                                                     "setp",
                                                     "shf",
                                                     "shfl",
                                                     "shl",
                                                     "shr",
                                                     "sin",
                                                     "slct",
                                                     "sqrt",
                                                     "st",
                                                     "stmatrix",
                                                     "sub",
                                                     "subc",
                                                     "suld",
                                                     "sured",
                                                     "sust",
                                                     "szext",
                                                     "tanh",
                                                     "testp",
                                                     "tex",
                                                     "tld4",
                                                     "txq",
                                                     "vote",
                                                     "wgmma",
                                                     "wmma",
                                                     "xor",
                                                     "vadd",
                                                     "vsub",
                                                     "vabsdiff",
                                                     "vmin",
                                                     "vmax",
                                                     "vshl",
                                                     "vshr",
                                                     "vmad",
                                                     "vset",
                                                     "vadd2",
                                                     "vadd4"};
    static const std::set<std::string_view> alone = {"trap", "exit", "brkpt", "activemask"};
    std::size_t at = 0;
    while (at < code.size()) {
      // To the beginning of the next statement.
      while (at < code.size()) {
        if (code[at] == '\\' && at + 1 < code.size())
          at += 2;
        else if (std::string_view(" \t\n\r{};\"").find(code[at]) != std::string_view::npos)
          ++at;
        else
          break;
      }
      if (at < code.size() && code[at] == '@') {  // a predicate
        while (at < code.size() && code[at] != ' ' && code[at] != '\t') ++at;
        continue;
      }
      std::size_t end = at;
      while (end < code.size() && (std::isalnum(static_cast<unsigned char>(code[end])) ||
                                   code[end] == '_' || code[end] == '.' || code[end] == ':'))
        ++end;
      const std::string_view word = code.substr(at, end - at);
      const std::string_view name = word.substr(0, word.find('.'));
      if (starts_with(word, ".reg") || (name.size() < word.size() && names.contains(name)) ||
          alone.contains(word))
        return true;
      at = std::min(code.find(';', end), code.size());
    }
    return false;
  }

  void assembly(std::size_t at) {
    std::size_t i = at + 1;
    while (is(i, "volatile") || is(i, "__volatile__") || is(i, "__volatile")) ++i;
    if (!is(i, "(")) return;
    ++i;
    const std::size_t first = i;
    std::string code;
    while (i < tokens_.size() && tokens_[i].kind == token_kind::string) {
      code.append(text(i).substr(1, text(i).size() - 2));
      ++i;
    }
    // One without code keeps the compiler from seeing through its operands, in kernels as
    // elsewhere.
    const bool empty = code.find_first_not_of(" \t") == std::string::npos;
    if (i == first || !is(i, ":") || !(empty || is_ptx(code))) return;
    for (std::size_t s = first; s < i; ++s) escape_template(s);
    int depth = 1, section = 0;
    for (; i < tokens_.size() && depth > 0; ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{"))
        ++depth;
      else if (is(i, ")") || is(i, "]") || is(i, "}"))
        --depth;
      else if (depth == 1 && is(i, ":"))
        ++section;
      else if (depth == 1 && section <= 2 && tokens_[i].kind == token_kind::string)
        constraint(i);
    }
  }

  void escape_template(std::size_t i) {
    const std::string_view old = text(i);
    const bool variants = floating_ == 'x';  // on x86-64 { | } choose between dialects
    std::string out;
    for (std::size_t k = 0; k < old.size(); ++k) {
      const char next = k + 1 < old.size() ? old[k + 1] : '\0';
      if (old[k] == '%' && next == '%') {
        out += "%%";
        ++k;
      } else if (old[k] == '%' && (std::isalpha(static_cast<unsigned char>(next)) || next == '_')) {
        out += "%%";
      } else if (variants && (old[k] == '{' || old[k] == '}' || old[k] == '|')) {
        out += '%';
        out += old[k];
      } else {
        out += old[k];
      }
    }
    if (out != old) edits_.push_back({tokens_[i].begin, tokens_[i].end, std::move(out)});
  }

  void constraint(std::size_t i) {
    std::string out(text(i));
    for (char& c : out) {
      if (c == 'l' || c == 'h')
        c = 'r';
      else if (c == 'f' || c == 'd')
        c = floating_;
    }
    if (out != text(i)) edits_.push_back({tokens_[i].begin, tokens_[i].end, std::move(out)});
  }

  std::string_view source_;
  std::vector<token> tokens_;
  char floating_;
  std::vector<edit> edits_;
};

namespace fs = std::filesystem;

// The file and the user's headers that it includes, each once.
void collect(const fs::path& file, const arguments& directories, std::set<fs::path>& seen) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return;
  if (seen.size() > 1000 || !seen.insert(file.lexically_normal()).second) return;
  const std::string text = read_file(file.string());
  for (std::string_view include : includes_of(text)) {
    const fs::path name(include.substr(1, include.size() - 2));
    if (include[0] == '"')
      if (const fs::path beside = file.parent_path() / name; file_exists(beside.string())) {
        collect(beside, directories, seen);
        continue;
      }
    for (const std::string& directory : directories)
      if (const fs::path there = fs::absolute(directory) / name; file_exists(there.string())) {
        collect(there, directories, seen);
        break;
      }
  }
}

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string rewritten(std::string_view source, char floating) {
  return rewriter(source, floating).run();
}

std::string rewrite_sources(const std::string& source, const options& o, char floating,
                            const std::function<std::string(const std::string&)>& file) {
  std::set<fs::path> files;
  collect(fs::absolute(source), o.include_paths, files);
  std::string entries;
  // clang takes the current directory from PWD where that is the same place.
  const fs::path here = fs::current_path();
  const char* variable = std::getenv("PWD");
  const fs::path shell = variable ? fs::path(variable) : here;
  const auto entry = [&](const fs::path& name, const std::string& contents) {
    entries += std::string(entries.empty() ? "" : ",") +
               "\n  {\"name\": " + json_string(name.string()) +
               ", \"type\": \"file\", \"external-contents\": " + json_string(contents) + "}";
  };
  for (const fs::path& each : files) {
    const std::string changed = rewritten(read_file(each.string()), floating);
    if (changed.empty()) continue;
    const std::string place = fs::absolute(file(each.extension().string() + ".txt")).string();
    write_file(place, changed);
    entry(each, place);
    if (const fs::path relative = each.lexically_relative(here); shell != here && !relative.empty())
      entry((shell / relative).lexically_normal(), place);
  }
  if (entries.empty()) return {};
  const std::string overlay = file(".overlay.yaml");
  write_file(overlay,
             "{\"version\": 0, \"case-sensitive\": \"true\", \"use-external-names\": \"false\",\n"
             " \"roots\": [" +
                 entries + "]}\n");
  return overlay;
}

}  // namespace sb::nvcc
