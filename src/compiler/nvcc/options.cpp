#include "options.hpp"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "architectures.hpp"

namespace sb::nvcc {
namespace {

using shape = option_spec::shape;

const std::unordered_map<std::string_view, const option_spec*>& by_name() {
  static const auto names = [] {
    std::unordered_map<std::string_view, const option_spec*> map;
    for (const option_spec& spec : option_table()) {
      map.emplace(spec.long_name, &spec);
      map.emplace(spec.short_name, &spec);
    }
    return map;
  }();
  return names;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

void give(options& o, const option_spec& spec, const std::string& value) {
  if (spec.takes == shape::boolean && value != "true" && value != "false")
    throw fatal_error("'" + value + "': expected true or false");
  if (spec.takes == shape::number && !is_number(value))
    throw fatal_error("'" + value + "': expected a number");
  spec.apply(o, value);
}

// Options that may have their value joined: those whose short name is one letter.
const option_spec* joined(std::string_view argument) {
  if (argument.size() < 3 || argument[0] != '-' || argument[1] == '-') return nullptr;
  const auto found = by_name().find(argument.substr(0, 2));
  if (found == by_name().end() || found->second->takes == shape::flag) return nullptr;
  // Not -o, -x, -e, -m: nvcc does not join those either, and -openmp or -x86 deserve an error.
  if (std::string_view("oxem").find(argument[1]) != std::string_view::npos) return nullptr;
  return found->second;
}

void expand(const arguments& args, arguments& out, int depth) {
  if (depth > 16) throw fatal_error("--options-file includes itself");
  for (std::size_t i = 0; i < args.size(); ++i) {
    std::string list;
    if (args[i] == "--options-file" || args[i] == "-optf") {
      if (++i == args.size()) throw fatal_error("argument expected after '" + args[i - 1] + "'");
      list = args[i];
    } else if (starts_with(args[i], "--options-file=") || starts_with(args[i], "-optf=")) {
      list = args[i].substr(args[i].find('=') + 1);
    } else {
      out.push_back(args[i]);
      continue;
    }
    for (const std::string& file : split_list(list))
      expand(split_words(read_file(file)), out, depth + 1);
  }
}

void parse(options& o, const arguments& args, std::vector<std::string>& files) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& argument = args[i];
    if (argument.size() < 2 || argument[0] != '-') {
      if (!argument.empty()) files.push_back(argument);
      continue;
    }
    if (const auto found = by_name().find(argument); found != by_name().end()) {
      const option_spec& spec = *found->second;
      if (spec.takes == shape::flag) {
        spec.apply(o, {});
        continue;
      }
      if (i + 1 == args.size()) throw fatal_error("argument expected after '" + argument + "'");
      give(o, spec, args[++i]);
      continue;
    }
    const std::size_t equals = argument.find('=');
    if (equals != std::string::npos) {
      const auto found = by_name().find(std::string_view(argument).substr(0, equals));
      if (found != by_name().end()) {
        if (found->second->takes == shape::flag)
          throw fatal_error("no argument expected after '" + argument.substr(0, equals) + "'");
        give(o, *found->second, argument.substr(equals + 1));
        continue;
      }
    }
    if (const option_spec* spec = joined(argument)) {
      give(o, *spec, argument.substr(2));
      continue;
    }
    if (!o.forward_to_compiler && !o.forward_to_linker)
      throw fatal_error("Unknown option '" + argument + "'");
    if (o.forward_to_compiler)
      o.host_options.push_back(argument);
    else
      o.linker_options.push_back(argument);
  }
}

// These may come after the unknown option that they forward, so they are looked for first.
void find_forwarding(options& o, const arguments& args) {
  for (const std::string& argument : args) {
    const auto found = by_name().find(argument);
    if (found != by_name().end() && std::string_view(argument).find("forward-unknown") < 3)
      found->second->apply(o, {});
  }
}

}  // namespace

std::optional<input_kind> kind_of(std::string_view path, language as) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  const std::size_t dot = name.rfind('.');
  const std::string_view suffix = dot == std::string_view::npos ? "" : name.substr(dot);
  if (suffix == ".o" || suffix == ".obj") return input_kind::object;
  if (suffix == ".a" || suffix == ".lib") return input_kind::archive;
  if (suffix == ".so" || name.find(".so.") != std::string_view::npos)
    return input_kind::shared_library;
  if (as == language::c) return input_kind::c;
  if (as == language::cxx) return input_kind::cxx;
  if (as == language::cuda) return input_kind::cuda;
  if (suffix == ".cu") return input_kind::cuda;
  if (suffix == ".c") return input_kind::c;
  if (suffix == ".cc" || suffix == ".cpp" || suffix == ".cxx" || suffix == ".C" || suffix == ".c++")
    return input_kind::cxx;
  if (suffix == ".i" || suffix == ".ii") return input_kind::preprocessed;
  if (suffix == ".ptx" || suffix == ".cubin" || suffix == ".fatbin" || suffix == ".gpu")
    throw fatal_error("'" + std::string(path) + "': " + std::string(suffix) +
                      " files hold code of NVIDIA's processors, which Streambed does not execute. "
                      "Give the CUDA source instead.");
  return std::nullopt;
}

int chosen_architecture(const options& given) {
  constexpr int newest = 90;
  if (given.architectures.empty()) return 75;
  int best = 0;
  for (int architecture : given.architectures)
    if (architecture <= newest) best = std::max(best, architecture);
  if (best != 0) return best;
  return *std::min_element(given.architectures.begin(), given.architectures.end());
}

options parse_command_line(const arguments& args) {
  arguments all;
  if (const char* flags = std::getenv("NVCC_PREPEND_FLAGS"))
    for (std::string& word : split_words(flags)) all.push_back(std::move(word));
  all.insert(all.end(), args.begin(), args.end());
  if (const char* flags = std::getenv("NVCC_APPEND_FLAGS"))
    for (std::string& word : split_words(flags)) all.push_back(std::move(word));

  options o;
  expand(all, o.original, 0);
  find_forwarding(o, o.original);
  std::vector<std::string> files;
  parse(o, o.original, files);
  for (const std::string& define : o.defines)
    if (define.substr(0, define.find('=')) == "CUDA_API_PER_THREAD_DEFAULT_STREAM")
      o.per_thread_default_stream = true;
  check_architectures(o);
  // -x may come after the files that it is for.
  for (std::string& file : files) {
    const auto kind = kind_of(file, o.as);
    // The message waits until the -v lines are out: build systems ask for them with a false file.
    if (kind)
      o.inputs.push_back({std::move(file), *kind});
    else
      o.unknown_inputs.push_back(std::move(file));
  }
  return o;
}

}  // namespace sb::nvcc
