// One invocation of nvcc: from options to commands.
//
//   .cu   device pass (clang, with the pass plugin)   -> object -> ld.lld -> device image
//         host pass (clang)                           -> object, which gets the image
//         with -rdc=true: device pass writes bitcode, which the host object carries; linking merges
//         the bitcode of all inputs, makes one image, and an object that registers it
//   .cpp  host compiler                               -> object
//   all   host linker, with libcudart
//
// Both passes of a .cu run at the same time. Bitcode reaches the host pass through a pipe, when its
// front end is done; so does the image where the object cannot get it afterwards (host_object.hpp).
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "header_cache.hpp"
#include "options.hpp"
#include "process.hpp"
#include "toolchain.hpp"

namespace sb::nvcc {

class driver {
 public:
  driver(const options& given, const toolchain& tools);

  int run();  // the exit status

  void print_variables() const;  // the `#$ NAME=value` lines that build systems read

 private:
  void take_standard_input();
  void take_host_options();

  // compile.cpp
  void compile_all();
  void compile_one(const input& source, const std::string& object);
  void compile_cuda(const input& source, const std::string& object);
  void compile_host(const input& source, const std::string& object);
  void preprocess(const input& source);
  [[nodiscard]] std::string object_for(const input& source, bool temporary);

  // cuda_compile.cpp
  struct passes;
  [[nodiscard]] passes passes_for(const input& source, const std::string& object);
  void run_passes(const passes& lines);
  finished compile_device(const passes& lines, const arguments& including);
  finished make_image(const passes& lines, const arguments& including);
  void report(const finished& device, const finished& host);

  // flags.cpp
  [[nodiscard]] arguments preprocessor_flags(input_kind kind) const;
  [[nodiscard]] arguments include_flags() const;
  [[nodiscard]] arguments cuda_flags() const;
  // Whether the image says which line of the source its code is from.
  [[nodiscard]] bool keeps_device_lines() const;
  [[nodiscard]] arguments device_flags() const;
  [[nodiscard]] arguments device_code_flags() const;
  [[nodiscard]] arguments host_flags(bool by_clang) const;
  [[nodiscard]] arguments call_place_flags() const;
  [[nodiscard]] arguments dependency_flags(const input& source, const std::string& object) const;
  [[nodiscard]] std::string dependency_file(const input& source) const;
  [[nodiscard]] arguments sanitizer_flags() const;
  [[nodiscard]] std::string unit_id(const input& source, const std::string& object) const;

  // link.cpp
  void link();
  void make_library();
  [[nodiscard]] arguments image_link(const arguments& objects, const std::string& image) const;
  // The object that registers the device code of all relocatable inputs; empty if there is none.
  [[nodiscard]] std::string device_link(const std::string& object);
  void check_libraries() const;
  void execute(const std::string& program);
  void clean();

  // Prints for -v and -dryrun, runs unless -dryrun, throws tool_failed. `how` says what is
  // captured.
  finished command(const arguments& line, const child::settings& how = {});
  void show(const arguments& line) const;
  [[nodiscard]] std::string temporary(const input& source, const std::string& suffix);

  options o_;
  arguments host_options_;  // those of o_ that clang knows
  arguments host_macros_;   // flags that give the device pass the host's
  const toolchain& tools_;
  scratch_directory scratch_;
  header_cache headers_;
  std::vector<std::string> objects_;  // what is linked, in the order of the inputs
  int counter_ = 0;
  mutable std::mutex mutex_;  // guards counter_, scratch_ and standard error with -t
};

}  // namespace sb::nvcc
