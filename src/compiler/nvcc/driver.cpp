#include "driver.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "diagnostics.hpp"
#include "gcc_options.hpp"
#include "host_macros.hpp"

namespace sb::nvcc {
namespace {

std::string joined(const arguments& line) {
  std::string out;
  for (const std::string& word : line) {
    if (!out.empty()) out += ' ';
    out += shell_quoted(word);
  }
  return out;
}

bool is_source(input_kind kind) {
  return kind == input_kind::cuda || kind == input_kind::c || kind == input_kind::cxx ||
         kind == input_kind::preprocessed;
}

// What is read is never written, whatever name or link it is given by.
void refuse_outputs_that_are_inputs(const options& o) {
  for (const std::string& output : {o.output, o.dependency_file, o.time_file}) {
    for (const input& each : o.inputs) {
      std::error_code none_there;
      if (!output.empty() && std::filesystem::equivalent(each.path, output, none_there))
        throw fatal_error("The output file '" + output + "' is the input file '" + each.path + "'");
    }
  }
}

}  // namespace

driver::driver(const options& given, const toolchain& tools) : o_(given), tools_(tools) {
  std::erase_if(o_.include_paths, has_other_headers);
  std::erase_if(o_.system_includes, has_other_headers);
  if (o_.keep && !o_.dry_run) scratch_.keep_in(o_.keep_directory.empty() ? "." : o_.keep_directory);
}

// CMake takes TOP, PATH, INCLUDES and LIBRARIES from here, the architectures from "-arch
// compute_NN", and the link line as the one that holds the text of LIBRARIES.
void driver::print_variables() const {
  const char* path = std::getenv("PATH");
  std::cerr << "#$ _HERE_=" << tools_.root << "/bin\n"
            << "#$ _THERE_=" << tools_.root << "/bin\n"
            << "#$ TOP=" << tools_.root << "\n"
            << "#$ NVVMIR_LIBRARY_DIR=" << tools_.root << "/nvvm/libdevice\n"
            << "#$ LD_LIBRARY_PATH=" << tools_.library << "\n"
            << "#$ PATH=" << tools_.root << "/bin:" << (path ? path : "") << "\n"
            << "#$ INCLUDES=\"-I" << tools_.include << "\"  \n"
            << "#$ LIBRARIES=  " << shell_quoted("-L" + tools_.library + "/stubs") << " "
            << shell_quoted("-L" + tools_.library) << "\n"
            << "#$ DEVICE_ARCHITECTURES=";
  for (int architecture : o_.architectures.empty() ? std::vector<int>{75} : o_.architectures)
    std::cerr << " -arch compute_" << architecture;
  std::cerr << "\n" << std::flush;
}

void driver::show(const arguments& line) const {
  if (!o_.verbose && !o_.dry_run) return;
  const std::lock_guard lock(mutex_);
  std::cerr << "#$ " << joined(line) << "\n" << std::flush;
}

finished driver::command(const arguments& line, const child::settings& how) {
  show(line);
  if (o_.dry_run) return {};
  if (const int signal = pending_signal()) throw tool_failed{128 + signal};
  const auto start = std::chrono::steady_clock::now();
  const finished end = nvcc::run(line, how);
  if (!o_.time_file.empty()) {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    const std::string row = line[0] + "," + std::to_string(took.count()) + ",ms\n";
    if (o_.time_file == "-")
      std::cout << row << std::flush;
    else
      std::ofstream(o_.time_file, std::ios::app) << row;
  }
  if (const std::string said = limits_exceeded(end.errors, "nvlink"); !said.empty()) {
    std::cerr << said << std::flush;
    throw tool_failed{limits_failed};
  }
  std::cerr << end.errors << std::flush;
  if (end.status != 0) throw tool_failed{end.status};
  return end;
}

// The input `-`: both passes read it, so it becomes a file.
void driver::take_standard_input() {
  for (input& each : o_.inputs) {
    if (each.path != "-" || o_.dry_run) continue;
    each.path = scratch_.file("stdin");
    write_file(each.path, std::string(std::istreambuf_iterator<char>(std::cin), {}));
  }
}

namespace {

// -I and the folder, in one word or in two.
void leave_out_other_headers(arguments& flags) {
  arguments kept;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const bool in_two = flags[i] == "-I" && i + 1 < flags.size();
    const std::string folder = in_two                        ? flags[i + 1]
                               : starts_with(flags[i], "-I") ? flags[i].substr(2)
                                                             : "";
    if (folder.empty() || !has_other_headers(folder))
      kept.push_back(flags[i]);
    else if (in_two)
      ++i;
  }
  flags = std::move(kept);
}

}  // namespace

void driver::take_host_options() {
  const options_for_clang known = known_to_clang(tools_.clang, o_.host_options);
  host_options_ = known.kept;
  leave_out_other_headers(host_options_);
  host_macros_ = host_macros(tools_, o_, host_options_);
  if (o_.no_warnings) return;
  for (const std::string& message : known.messages)
    std::cerr << "nvcc warning : " << message << "\n" << std::flush;
}

int driver::run() {
  if (o_.verbose || o_.dry_run) print_variables();
  if (!o_.unknown_inputs.empty())
    throw fatal_error("Don't know what to do with '" + o_.unknown_inputs[0] + "'");
  if (o_.inputs.empty())
    throw fatal_error("No input files specified; use option --help for more information");
  if (o_.clean) return clean(), 0;
  take_standard_input();

  int sources = 0;
  for (const input& each : o_.inputs) {
    if (each.path != "-" && !file_exists(each.path))
      throw fatal_error("Could not open input file '" + each.path + "': No such file or directory");
    if (is_source(each.kind)) ++sources;
  }
  const bool linking = o_.stop_after == phase::link || o_.stop_after == phase::library ||
                       o_.stop_after == phase::device_link;
  if (!linking && !o_.output.empty() && sources > 1)
    throw fatal_error(
        "A single input file is required for a non-link phase when an outputfile is specified");

  refuse_outputs_that_are_inputs(o_);
  take_host_options();

  if (o_.stop_after == phase::preprocess || o_.stop_after == phase::dependencies) {
    for (const input& source : o_.inputs)
      if (is_source(source.kind)) preprocess(source);
    return 0;
  }
  if (o_.stop_after == phase::link) check_libraries();
  if (!o_.dry_run)
    for (const input& each : o_.inputs)
      if (each.kind == input_kind::cuda) {
        headers_ = header_cache(tools_);
        break;
      }
  compile_all();
  switch (o_.stop_after) {
    case phase::link:
      link();
      break;
    case phase::library:
      make_library();
      break;
    case phase::device_link:
      (void)device_link(o_.output.empty() ? "a_dlink.o" : o_.output);
      break;
    default:
      break;
  }
  return 0;
}

}  // namespace sb::nvcc
