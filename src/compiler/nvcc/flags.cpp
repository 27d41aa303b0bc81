// Which flags clang and the host compiler get.
#include <algorithm>
#include <filesystem>

#include "cpu.hpp"
#include "driver.hpp"
#include "gcc_options.hpp"

namespace sb::nvcc {
namespace {

// Options for the host compiler that change what the source means; the device pass must see the
// same program. Everything else (warnings, optimisation, visibility) concerns host code only.
bool changes_meaning(const std::string& flag) {
  for (const char* prefix : {"-D",
                             "-U",
                             "-I",
                             "-isystem",
                             "-iquote",
                             "-idirafter",
                             "-std=",
                             "-fsanitize",
                             "-fno-sanitize",
                             "-fsigned-char",
                             "-funsigned-char",
                             "-fshort-enums",
                             "-fno-exceptions",
                             "-fexceptions",
                             "-fno-rtti",
                             "-frtti",
                             "-fms-extensions",
                             "-fpermissive",
                             "-fchar8_t",
                             "-fno-char8_t",
                             "-pthread",
                             "--sysroot",
                             "-stdlib=",
                             "--gcc-toolchain",
                             "-ftemplate-depth",
                             "-fconstexpr"})
    if (starts_with(flag, prefix)) return true;
  return false;
}

bool takes_next(const std::string& flag) {
  return flag == "-D" || flag == "-U" || flag == "-I" || flag == "-isystem" || flag == "-iquote" ||
         flag == "-idirafter" || flag == "-include";
}

void add(arguments& to, const arguments& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

arguments driver::preprocessor_flags(input_kind kind) const {
  arguments flags;
  if (!tools_.triple.empty()) flags.push_back("--target=" + tools_.triple);
  for (const std::string& define : o_.defines) flags.push_back("-D" + define);
  for (const std::string& undefine : o_.undefines) flags.push_back("-U" + undefine);
  for (const std::string& path : o_.include_paths) flags.push_back("-I" + path);
  for (const std::string& path : o_.system_includes) add(flags, {"-isystem", path});
  add(flags, {"-isystem", tools_.include});

  add(flags, {"-D__NVCC__", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0",
              "-D__CUDACC_VER_BUILD__=88", "-D__CUDA_API_VER_MAJOR__=13",
              "-D__CUDA_API_VER_MINOR__=0", "-D__NVCC_DIAG_PRAGMA_SUPPORT__=1"});
  std::vector<int> list = o_.architectures.empty() ? std::vector<int>{75} : o_.architectures;
  std::sort(list.begin(), list.end());
  std::string architectures;
  for (int architecture : list) {
    if (!architectures.empty()) architectures += ',';
    architectures += std::to_string(architecture * 10);
  }
  flags.push_back("-D__CUDA_ARCH_LIST__=" + architectures);
  if (kind == input_kind::cuda) {
    flags.push_back("-D__CUDACC__");
    if (o_.relocatable_device_code) flags.push_back("-D__CUDACC_RDC__");
    if (o_.extended_lambda) flags.push_back("-D__CUDACC_EXTENDED_LAMBDA__");
    if (o_.relaxed_constexpr) flags.push_back("-D__CUDACC_RELAXED_CONSTEXPR__");
    if (o_.debug_device) flags.push_back("-D__CUDACC_DEBUG__");
    if (o_.fast_math) flags.push_back("-D__USE_FAST_MATH__");
  }
  if (o_.per_thread_default_stream) flags.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
  return flags;
}

arguments driver::include_flags() const {
  arguments flags;
  for (const std::string& header : o_.pre_includes) add(flags, {"-include", header});
  return flags;
}

// Both passes of a .cu.
arguments driver::cuda_flags() const {
  arguments flags = {
      "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib",
      // No CUDA of the machine may shine through; the version makes <<<>>> call
      // __cudaPushCallConfiguration.
      "--cuda-path=" + tools_.library + "/streambed", "-Xclang", "-target-sdk-version=12.3",
      "-Wno-unknown-cuda-version", "-fdeclspec", "-Xclang", "-fcuda-allow-variadic-functions",
      // What nvcc does not say either.
      "-Wno-empty-body", "-Wno-unknown-pragmas", "-Wno-pass-failed", "-Wno-asm-operand-widths"};
  add(flags, silence_about_gcc_options());
  if (tools_.architecture == "x86_64") flags.push_back("-mcx16");  // 128-bit atomicCAS
  // nvcc's default is the GNU dialect of C++17; the headers need C++11.
  flags.push_back("-std=" + (o_.standard.empty()      ? std::string("gnu++17")
                             : o_.standard == "c++03" ? std::string("c++11")
                                                      : o_.standard));
  // nvcc has no C++20 modules. Where clang has them it merges what it reads from a parsed header
  // with what it has, and takes the host's and the device's operator new for one function.
  add(flags, {"-Xclang", "-fno-cxx-modules"});
  if (o_.relocatable_device_code) add(flags, {"-Xclang", "-fgpu-rdc"});
  if (!o_.template_depth.empty()) flags.push_back("-ftemplate-depth=" + o_.template_depth);
  if (!o_.template_backtrace.empty())
    flags.push_back("-ftemplate-backtrace-limit=" + o_.template_backtrace);
  if (o_.no_warnings) flags.push_back("-w");
  add(flags, o_.warnings);
  for (const std::string& kind : o_.errors) {
    if (kind == "all-warnings") flags.push_back("-Werror");
    if (kind == "reorder" || kind == "deprecated-declarations") flags.push_back("-Werror=" + kind);
  }
  return flags;
}

bool driver::keeps_device_lines() const {
  return o_.debug_device || o_.line_info || !sanitizer_flags().empty();
}

// What the device pass adds for the front end.
arguments driver::device_flags() const {
  arguments flags = {
      "-Xclang", "-fcuda-is-device",
      // clang has defined it with another value
      "-U__CUDA_ARCH__", "-D__CUDA_ARCH__=" + std::to_string(chosen_architecture(o_) * 10),
      "-Xclang", "-ffake-address-space-map",
      // nvcc goes on behind the end of a function that returns nothing there.
      "-fno-strict-return",
      // An access of it is an error on the device, and no place that nobody comes to.
      "-fno-delete-null-pointer-checks",
      // The pass reads the layout of kernel parameters from the debug information.
      "-g"};
  add(flags, host_macros_);
  if (o_.no_exceptions) flags.push_back("-fno-exceptions");
  if (!keeps_device_lines())
    add(flags, {"-Xclang", "-dwarf-debug-flags", "-Xclang", "layout-only"});
  for (std::size_t i = 0; i < host_options_.size(); ++i) {
    const std::string& flag = host_options_[i];
    if (flag == "-fopenmp") {
      // Host loops only; but the source may ask whether OpenMP is there. Not the newest version:
      // from 5.0 on, omp.h needs the pragmas to be understood.
      flags.push_back("-D_OPENMP=201511");
    } else if (changes_meaning(flag) || takes_next(flag)) {
      flags.push_back(flag);
      if (takes_next(flag) && i + 1 < host_options_.size()) flags.push_back(host_options_[++i]);
    }
  }
  return flags;
}

// How device code is generated, from the source or from merged bitcode.
arguments driver::device_code_flags() const {
  arguments flags = {"-fPIC", o_.debug_device ? "-O1" : "-O3", "-fno-math-errno",
                     "-fno-stack-protector",
                     // It would hide the storage of parameters from the pass.
                     "-Xclang", "-fexperimental-assignment-tracking=disabled",
                     // It compares all shuffles of a block with each other: a scan that is written
                     // out has a thousand, and nothing for it to find.
                     "-mllvm", "-disable-interleaved-load-combine"};
  // -fmad: as on the device, within an expression and across statements, but not across __fmul_rn.
  // Debug code (-G) has none.
  const bool contracts = !o_.debug_device && (o_.contract || o_.fast_math);
  flags.push_back(contracts ? "-ffp-contract=fast-honor-pragmas" : "-ffp-contract=off");
  add(flags, cpu_flags(tools_.architecture, tools_.this_machine));
  // ThreadSanitizer leaves out accesses of more than 16 bytes.
  const arguments sanitizers = sanitizer_flags();
  const bool watches_threads =
      std::any_of(sanitizers.begin(), sanitizers.end(), [](const std::string& option) {
        return option.find("thread") != std::string::npos && starts_with(option, "-fsanitize=");
      });
  if (watches_threads && tools_.architecture != "aarch64")
    flags.push_back("-mprefer-vector-width=128");
  return flags;
}

arguments driver::host_flags(bool by_clang) const {
  arguments flags;
  if (!o_.host_level.empty())
    flags.push_back("-O" + (o_.host_level.size() > 1 || o_.host_level[0] > '3' ? std::string("3")
                                                                               : o_.host_level));
  if (o_.debug_host) flags.push_back("-g");
  if (o_.profile) flags.push_back("-pg");
  if (o_.no_exceptions) flags.push_back("-fno-exceptions");
  // As on an x86-64 host, where nvcc's compiler has no fused multiply-add to use; the same on all
  // machines.
  if (by_clang) flags.push_back("-ffp-contract=off");
  add(flags, by_clang ? host_options_ : o_.host_options);
  return flags;
}

// The plugin tells the runtime the lines of calls, and takes them out of the object again, unless
// somebody asked for them.
arguments driver::call_place_flags() const {
  arguments flags = {"-fpass-plugin=" + tools_.host_pass};
  const bool has_lines =
      o_.debug_host ||
      std::any_of(o_.host_options.begin(), o_.host_options.end(), [](const std::string& option) {
        return option.starts_with("-g") && option != "-g0";
      });
  if (!has_lines) flags.push_back("-gline-tables-only");
  return flags;
}

std::string driver::dependency_file(const input& source) const {
  if (!o_.dependency_file.empty()) return o_.dependency_file;
  if (o_.stop_after == phase::dependencies) return o_.output;  // empty: standard output
  std::filesystem::path name = !o_.output.empty() ? std::filesystem::path(o_.output)
                                                  : std::filesystem::path(source.path).filename();
  return name.replace_extension(".d").string();
}

arguments driver::dependency_flags(const input& source, const std::string& object) const {
  if (o_.dependencies == dependency_mode::none) return {};
  const bool only = o_.stop_after == phase::dependencies;
  arguments flags;
  if (only)
    flags.push_back(o_.dependencies == dependency_mode::all ? "-M" : "-MM");
  else
    flags.push_back(o_.dependencies == dependency_mode::all ? "-MD" : "-MMD");
  const std::string file = dependency_file(source);
  if (!file.empty()) add(flags, {"-MF", file});
  std::string target = o_.dependency_target;
  if (target.empty()) {
    target = only || o_.stop_after != phase::compile
                 ? std::filesystem::path(source.path).filename().replace_extension(".o").string()
                 : object;
    if (only && !o_.output_directory.empty()) target = o_.output_directory + "/" + target;
  }
  add(flags, {"-MT", target});
  if (o_.phony_targets) flags.push_back("-MP");
  return flags;
}

arguments driver::sanitizer_flags() const {
  arguments flags;
  for (const std::string& flag : o_.host_options)
    if (starts_with(flag, "-fsanitize=") || starts_with(flag, "-fno-sanitize"))
      flags.push_back(flag);
  return flags;
}

// Distinguishes the static device symbols of this file from those of others: the same for both
// passes and for the next build, different for the same source compiled with other options.
std::string driver::unit_id(const input& source, const std::string& object) const {
  if (!o_.seed.empty()) return hexadecimal_hash(o_.seed);
  std::error_code error;
  std::string all = std::filesystem::absolute(source.path, error).string();
  if (o_.stop_after == phase::compile) all += '\n' + object;
  for (const std::string& argument : o_.original) all += '\n' + argument;
  return hexadecimal_hash(all);
}

}  // namespace sb::nvcc
