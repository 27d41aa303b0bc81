// What the user asked for, and nvcc's command line grammar.
//
// An option has a long name (two dashes) and a short one (one dash). A value follows as the next
// argument or after `=`; one-letter options also take it joined (-Idir, -DX=1, -O3). Options that
// take lists split their value at commas and may be repeated. NVCC_PREPEND_FLAGS and
// NVCC_APPEND_FLAGS are read around the arguments, --options-file in their place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text.hpp"

namespace sb::nvcc {

// In their order.
enum class phase { dependencies, preprocess, compile, device_link, library, link };

enum class language { by_suffix, c, cxx, cuda };

enum class input_kind { cuda, c, cxx, preprocessed, object, archive, shared_library };

struct input {
  std::string path;
  input_kind kind;
};

enum class cudart_kind { shared, static_, none };

enum class dependency_mode { none, all, user };

struct options {
  phase stop_after = phase::link;
  bool run = false;
  arguments run_arguments;
  bool clean = false;

  std::vector<input> inputs;
  arguments unknown_inputs;  // names that nvcc does not know what to do with
  std::string output;
  std::string output_directory;
  language as = language::by_suffix;

  arguments include_paths, system_includes, defines, undefines, pre_includes;
  arguments library_paths, libraries;
  arguments host_options, linker_options, archive_options;

  std::string standard;       // c++17 and so on; empty: nvcc's default
  std::string host_level;     // of -O; empty: none given
  std::string host_compiler;  // -ccbin
  std::string archiver;
  bool debug_host = false, debug_device = false, line_info = false, profile = false;
  bool no_exceptions = false, no_warnings = false, shared = false, relocatable_link = false;
  bool relocatable_device_code = false, no_device_link = false;
  bool extended_lambda = false, relaxed_constexpr = false, restrict_pointers = false;
  bool per_thread_default_stream = false;
  bool fast_math = false, contract = true;
  bool resource_usage = false, syntax_only_device = false;
  arguments errors;                // kinds given to -Werror
  arguments warnings;              // -Wreorder and friends, as clang spells them
  std::vector<int> architectures;  // 75, 90 ...; in the order given, without repetitions
  std::string architecture;        // as given to -arch
  arguments code;                  // as given to -code
  cudart_kind cudart = cudart_kind::shared;
  std::string seed;

  dependency_mode dependencies = dependency_mode::none;  // beside the compilation, or instead of it
  std::string dependency_file, dependency_target;
  bool phony_targets = false;

  bool verbose = false, dry_run = false, keep = false;
  std::string keep_directory;
  bool show_help = false, show_version = false, list_code = false, list_architectures = false;
  std::string template_backtrace, template_depth;
  std::string time_file;
  int threads = 1;

  bool forward_to_compiler = false, forward_to_linker = false;
  arguments original;  // the arguments as given, for hashes
  arguments messages;  // `nvcc warning : ...` lines to print first
};

// What the driver does with an option; docs/nvcc.md lists them by this.
enum class treatment { honoured, ignored, refused };

struct option_spec {
  const char* long_name;   // with its dashes
  const char* short_name;  // with its dash; may equal the long one but for the dashes
  enum class shape { flag, value, list, boolean, number } takes;
  treatment how;
  void (*apply)(options&, const std::string& value);
  const char* help;
};

[[nodiscard]] const std::vector<option_spec>& option_table();

// Throws fatal_error with nvcc's own wording.
[[nodiscard]] options parse_command_line(const arguments& args);

// The kind of an input by its name, or nothing if nvcc would not know what to do with it.
[[nodiscard]] std::optional<input_kind> kind_of(std::string_view path, language as);

// The architecture whose code the device would load, of those that were asked for: the newest that
// an H200 (90) runs, else the oldest.
[[nodiscard]] int chosen_architecture(const options& given);

}  // namespace sb::nvcc
