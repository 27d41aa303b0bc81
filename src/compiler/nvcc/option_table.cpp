// Every option of nvcc 13, and what this driver does with it.
#include <algorithm>
#include <cstdlib>

#include "architectures.hpp"
#include "options.hpp"

namespace sb::nvcc {
namespace {

using shape = option_spec::shape;
using enum treatment;

void append(arguments& to, const std::string& list) {
  for (std::string& item : split_list(list)) to.push_back(std::move(item));
}

void append_words(arguments& to, const std::string& list) {
  for (const std::string& item : split_list(list))
    for (std::string& word : split_words(item)) to.push_back(std::move(word));
}

bool truth(const std::string& value) { return value == "true"; }

void one_of(const char* option, const std::string& value,
            std::initializer_list<std::string_view> allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    throw fatal_error("Value '" + value + "' is not defined for option '" + option + "'");
}

// The earliest of several phases is the one to stop after: -E -c preprocesses.
void stop_after(options& o, phase which) { o.stop_after = std::min(o.stop_after, which); }

void set_errors(options& o, const std::string& value) {
  for (const std::string& kind : split_list(value)) {
    one_of("Werror", kind,
           {"all-warnings", "cross-execution-space-call", "default-stream-launch",
            "deprecated-declarations", "ext-lambda-captures-this", "missing-launch-bounds",
            "reorder"});
    o.errors.push_back(kind);
  }
}

void nothing(options&, const std::string&) {}

// There is no PTX, cubin or fatbin here: device code is compiled for the machine's own processor.
template <char Which>
void refuse_device_output(options&, const std::string&) {
  const char* name = Which == 'p'   ? "-ptx"
                     : Which == 'c' ? "-cubin"
                     : Which == 'f' ? "-fatbin"
                     : Which == 'o' ? "-optix-ir"
                     : Which == 'l' ? "-ltoir"
                                    : "-cuda";
  throw fatal_error(std::string("Option '") + name +
                    "' is not available: Streambed compiles device code for this machine's own "
                    "processor, so there is no such file to write. Use -c or link a program.");
}

std::vector<option_spec> make_table() {
  const auto flag = shape::flag;
  const auto value = shape::value;
  const auto list = shape::list;
  const auto boolean = shape::boolean;
  const auto number = shape::number;
// What an option does: statements about the options `o` and the value `v`.
#define SET(...)                         \
  [](options& o, const std::string& v) { \
    (void)o, (void)v;                    \
    __VA_ARGS__;                         \
  }
  return {
      // Phases
      {"--compile", "-c", flag, honoured, SET(stop_after(o, phase::compile)),
       "compile each source into an object"},
      {"--device-c", "-dc", flag, honoured,
       SET(stop_after(o, phase::compile), o.relocatable_device_code = true), "-c with -rdc=true"},
      {"--device-w", "-dw", flag, honoured,
       SET(stop_after(o, phase::compile), o.relocatable_device_code = false), "-c with -rdc=false"},
      {"--device-link", "-dlink", flag, honoured, SET(stop_after(o, phase::device_link)),
       "link relocatable device code into an object for the host linker"},
      {"--link", "-link", flag, honoured, SET(stop_after(o, phase::link)),
       "compile and link (the default)"},
      {"--lib", "-lib", flag, honoured, SET(stop_after(o, phase::library)),
       "compile and put the objects into a static library"},
      {"--run", "-run", flag, honoured, SET(o.run = true), "link, then run the program"},
      {"--preprocess", "-E", flag, honoured, SET(stop_after(o, phase::preprocess)),
       "preprocess to standard output (as the device pass sees it)"},
      {"--generate-dependencies", "-M", flag, honoured,
       SET(stop_after(o, phase::dependencies), o.dependencies = dependency_mode::all),
       "write a make rule instead of compiling"},
      {"--generate-nonsystem-dependencies", "-MM", flag, honoured,
       SET(stop_after(o, phase::dependencies), o.dependencies = dependency_mode::user),
       "-M without system headers"},
      {"--generate-dependencies-with-compile", "-MD", flag, honoured,
       SET(o.dependencies = dependency_mode::all), "write a make rule beside compiling"},
      {"--generate-nonsystem-dependencies-with-compile", "-MMD", flag, honoured,
       SET(o.dependencies = dependency_mode::user), "-MD without system headers"},
      {"--dependency-output", "-MF", value, honoured, SET(o.dependency_file = v),
       "file for the make rule"},
      {"--generate-dependency-targets", "-MP", flag, honoured, SET(o.phony_targets = true),
       "an empty rule for each header"},
      {"--dependency-target-name", "-MT", value, honoured, SET(o.dependency_target = v),
       "target of the make rule"},
      {"--cuda", "-cuda", flag, refused, refuse_device_output<'u'>, "no such intermediate file"},
      {"--cubin", "-cubin", flag, refused, refuse_device_output<'c'>, "no such device file"},
      {"--fatbin", "-fatbin", flag, refused, refuse_device_output<'f'>, "no such device file"},
      {"--ptx", "-ptx", flag, refused, refuse_device_output<'p'>, "no such device file"},
      {"--optix-ir", "-optix-ir", flag, refused, refuse_device_output<'o'>, "no such device file"},
      {"--ltoir", "-ltoir", flag, refused, refuse_device_output<'l'>, "no such device file"},

      // Files and paths
      {"--output-file", "-o", value, honoured, SET(o.output = v), "name of the output"},
      {"--pre-include", "-include", list, honoured, SET(append(o.pre_includes, v)),
       "header to include first"},
      {"--library", "-l", list, honoured, SET(append(o.libraries, v)), "library to link"},
      {"--define-macro", "-D", list, honoured, SET(append(o.defines, v)), "define a macro"},
      {"--undefine-macro", "-U", list, honoured, SET(append(o.undefines, v)), "undefine a macro"},
      {"--include-path", "-I", list, honoured, SET(append(o.include_paths, v)),
       "directory of headers"},
      {"--system-include", "-isystem", list, honoured, SET(append(o.system_includes, v)),
       "directory of system headers"},
      {"--library-path", "-L", list, honoured, SET(append(o.library_paths, v)),
       "directory of libraries"},
      {"--output-directory", "-odir", value, honoured, SET(o.output_directory = v),
       "directory of the output"},
      {"--compiler-bindir", "-ccbin", value, honoured, SET(o.host_compiler = v),
       "compiler for .c and .cpp inputs and for linking (.cu is always compiled by clang 19)"},
      {"--archiver-binary", "-arbin", value, honoured, SET(o.archiver = v), "ar for -lib"},
      {"--cudart", "-cudart", value, honoured,
       SET(one_of("cudart", v, {"none", "shared", "static"});
           o.cudart = v == "none"     ? cudart_kind::none
                      : v == "static" ? cudart_kind::static_
                                      : cudart_kind::shared;),
       "none|shared|static runtime library; the default here is shared, found through an rpath, so "
       "that a program and its shared libraries use one device"},
      {"--cudadevrt", "-cudadevrt", value, ignored, SET(one_of("cudadevrt", v, {"none", "static"})),
       "the library is empty here"},
      {"--allow-unsupported-compiler", "-allow-unsupported-compiler", flag, ignored, nothing, ""},
      {"--objdir-as-tempdir", "-objtemp", flag, ignored, nothing, ""},
      {"--libdevice-directory", "-ldir", value, ignored, nothing, ""},
      {"--target-directory", "-target-dir", value, ignored, nothing, ""},
      {"--use-local-env", "-use-local-env", flag, ignored, nothing, ""},
      {"--force-cl-env-setup", "-force-cl-env-setup", flag, ignored, nothing, ""},

      // Behaviour of compiler and linker
      {"--profile", "-pg", flag, honoured, SET(o.profile = true), "gprof for host code"},
      {"--debug", "-g", flag, honoured, SET(o.debug_host = true), "debug information, host"},
      {"--device-debug", "-G", flag, honoured, SET(o.debug_device = true),
       "debug information and little optimisation, device"},
      {"--generate-line-info", "-lineinfo", flag, honoured, SET(o.line_info = true),
       "line numbers of device code"},
      {"--optimize", "-O", number, honoured, SET(o.host_level = v),
       "optimisation of host code (device code: always 3 unless -G)"},
      {"--no-exceptions", "-noeh", flag, honoured, SET(o.no_exceptions = true),
       "no exceptions in host code"},
      {"--shared", "-shared", flag, honoured, SET(o.shared = true), "link a shared library"},
      {"--relocatable-link", "-r", flag, honoured, SET(o.relocatable_link = true),
       "link a relocatable object"},
      {"--x", "-x", value, honoured,
       SET(one_of("x", v, {"c", "c++", "cu"}); o.as = v == "c"     ? language::c
                                                      : v == "c++" ? language::cxx
                                                                   : language::cuda;),
       "c|c++|cu: language of the sources"},
      {"--std", "-std", value, honoured,
       SET(one_of("std", v, {"c++03", "c++11", "c++14", "c++17", "c++20"});
           if (!o.standard.empty() && o.standard != v)
               o.messages.push_back("incompatible redefinition for option 'std', the last value of "
                                    "this option was used");
           o.standard = v;),
       "c++03|c++11|c++14|c++17|c++20; the default is c++17. The headers need c++11 or later: "
       "c++03 is taken as c++11"},
      {"--ftemplate-backtrace-limit", "-ftemplate-backtrace-limit", number, honoured,
       SET(o.template_backtrace = v), "length of template notes"},
      {"--ftemplate-depth", "-ftemplate-depth", number, honoured, SET(o.template_depth = v),
       "depth of template instantiation"},
      {"--expt-relaxed-constexpr", "-expt-relaxed-constexpr", flag, honoured,
       SET(o.relaxed_constexpr = true),
       "defines __CUDACC_RELAXED_CONSTEXPR__; constexpr functions are always callable on both "
       "sides"},
      {"--extended-lambda", "-extended-lambda", flag, honoured, SET(o.extended_lambda = true),
       "defines __CUDACC_EXTENDED_LAMBDA__; such lambdas are always accepted"},
      {"--expt-extended-lambda", "-expt-extended-lambda", flag, honoured,
       SET(o.extended_lambda = true), "same as --extended-lambda"},
      {"--machine", "-m", value, honoured,
       SET(if (v != "64") throw fatal_error("Unknown option '-m" + v + "'")),
       "64 is the only machine"},
      {"--m64", "-m64", flag, ignored, nothing, "the only machine"},
      {"--optimization-info", "-opt-info", list, ignored, nothing, ""},
      {"--Ofast-compile", "-Ofc", value, ignored,
       SET(one_of("Ofast-compile", v, {"0", "max", "mid", "min"})), ""},
      {"--dopt", "-dopt", value, ignored, SET(one_of("dopt", v, {"on"})), ""},
      {"--dlink-time-opt", "-dlto", flag, ignored, nothing,
       "relocatable device code is always optimised as a whole when linked"},
      {"--lto", "-lto", flag, ignored, nothing, "same as -dlto"},
      {"--gen-opt-lto", "-gen-opt-lto", flag, ignored, nothing, ""},
      {"--no-host-device-initializer-list", "-nohdinitlist", flag, ignored, nothing, ""},
      {"--no-host-device-move-forward", "-nohdmoveforward", flag, ignored, nothing, ""},

      // Options for the tools
      {"--compiler-options", "-Xcompiler", list, honoured, SET(append_words(o.host_options, v)),
       "for the host compiler; -fsanitize=... also instruments device code"},
      {"--linker-options", "-Xlinker", list, honoured, SET(append_words(o.linker_options, v)),
       "for the host linker"},
      {"--archive-options", "-Xarchive", list, honoured, SET(append_words(o.archive_options, v)),
       "for ar"},
      {"--ptxas-options", "-Xptxas", list, ignored, nothing, "there is no ptxas"},
      {"--nvlink-options", "-Xnvlink", list, ignored, nothing, "there is no nvlink"},
      {"--cudafe-options", "-Xcudafe", list, ignored, nothing, "there is no cudafe"},
      {"--fatbin-options", "-Xfatbin", list, ignored, nothing, "there is no fatbinary"},
      {"--opencc-options", "-Xopencc", list, ignored, nothing, ""},
      {"--cicc-options", "-Xcicc", list, ignored, nothing, "there is no cicc"},

      // The driver itself
      {"--forward-unknown-to-host-compiler", "-forward-unknown-to-host-compiler", flag, honoured,
       SET(o.forward_to_compiler = true), "unknown options go to the host compiler"},
      {"--forward-unknown-to-host-linker", "-forward-unknown-to-host-linker", flag, honoured,
       SET(o.forward_to_linker = true), "unknown options go to the host linker"},
      {"--forward-unknown-opts", "-forward-unknown-opts", flag, honoured,
       SET(o.forward_to_compiler = o.forward_to_linker = true), "both"},
      {"--dryrun", "-dryrun", flag, honoured, SET(o.dry_run = true),
       "list the commands without running them"},
      {"--verbose", "-v", flag, honoured, SET(o.verbose = true), "list the commands"},
      {"--threads", "-t", number, honoured, SET(o.threads = std::atoi(v.c_str())),
       "sources compiled at the same time; 0: one per processor"},
      {"--keep", "-keep", flag, honoured, SET(o.keep = true), "keep intermediate files"},
      {"--keep-dir", "-keep-dir", value, honoured, SET(o.keep = true, o.keep_directory = v),
       "keep intermediate files there"},
      {"--save-temps", "-save-temps", flag, honoured, SET(o.keep = true), "same as -keep"},
      {"--clean-targets", "-clean", flag, honoured, SET(o.clean = true),
       "delete what the command would have made"},
      {"--run-args", "-run-args", list, honoured, SET(append(o.run_arguments, v)),
       "arguments for -run"},
      {"--time", "-time", value, honoured, SET(o.time_file = v),
       "append the time of each step to a file, or - for standard output"},
      {"--no-device-link", "-nodlink", flag, honoured, SET(o.no_device_link = true),
       "do not link device code"},
      {"--frandom-seed", "-frandom-seed", value, honoured, SET(o.seed = v),
       "seed of the names of static device symbols (they are reproducible without it)"},
      {"--fdevice-syntax-only", "-fdevice-syntax-only", flag, honoured,
       SET(o.syntax_only_device = true), "only check the syntax of device code"},
      {"--split-compile", "-split-compile", number, ignored, nothing, ""},
      {"--split-compile-extended", "-split-compile-extended", number, ignored, nothing, ""},
      {"--fdevice-time-trace", "-fdevice-time-trace", value, ignored, nothing, ""},
      {"--dont-use-profile", "-noprof", flag, ignored, nothing, "there is no nvcc.profile"},
      {"--input-drive-prefix", "-idp", value, ignored, nothing, ""},
      {"--dependency-drive-prefix", "-ddp", value, ignored, nothing, ""},
      {"--drive-prefix", "-dp", value, ignored, nothing, ""},
      {"--no-align-double", "--no-align-double", flag, ignored, nothing, ""},
      {"--static-global-template-stub", "-static-global-template-stub", boolean, ignored, nothing,
       ""},
      {"--device-entity-has-hidden-visibility", "-device-entity-has-hidden-visibility", boolean,
       ignored, nothing, ""},
      {"--jobserver", "-jobserver", flag, ignored, nothing, ""},

      // Device code
      {"--gpu-architecture", "-arch", value, honoured, set_architecture,
       "sets __CUDA_ARCH__; native is sm_90, the default sm_75. Of several, the newest up to "
       "sm_90"},
      {"--gpu-code", "-code", list, honoured, SET(append(o.code, v)),
       "checked; the code is always this machine's"},
      {"--generate-code", "-gencode", value, honoured, generate_code, "like -arch, repeatable"},
      {"--relocatable-device-code", "-rdc", boolean, honoured,
       SET(o.relocatable_device_code = truth(v)), "device code that is linked across files"},
      {"--use_fast_math", "-use_fast_math", flag, honoured, SET(o.fast_math = true),
       "sinf and its kin become __sinf and its kin; division, root and denormals stay exact"},
      {"--prec-div", "-prec-div", boolean, ignored, nothing, "division is always exact"},
      {"--prec-sqrt", "-prec-sqrt", boolean, ignored, nothing, "roots are always exact"},
      {"--fmad", "-fmad", boolean, honoured, SET(o.contract = truth(v)),
       "contract a*b+c in device code (default true; never with -G)"},
      {"--ftz", "-ftz", boolean, ignored, nothing, "denormals are always kept"},
      {"--maxrregcount", "-maxrregcount", number, ignored, nothing,
       "the processor's registers are its own"},
      {"--entries", "-e", list, ignored, nothing, ""},
      {"--extra-device-vectorization", "-extra-device-vectorization", flag, ignored, nothing,
       "device code is always vectorised"},
      {"--default-stream", "-default-stream", value, honoured,
       SET(one_of("default-stream", v, {"legacy", "null", "per-thread"});
           o.per_thread_default_stream = v == "per-thread";),
       "legacy|null|per-thread: what stream 0 means"},

      // Warnings and odds
      {"--disable-warnings", "-w", flag, honoured, SET(o.no_warnings = true), "no warnings"},
      {"--Wreorder", "-Wreorder", flag, honoured, SET(o.warnings.push_back("-Wreorder")),
       "warn about reordered member initialisers"},
      {"--Wno-deprecated-declarations", "-Wno-deprecated-declarations", flag, honoured,
       SET(o.warnings.push_back("-Wno-deprecated-declarations")), "no deprecation warnings"},
      {"--Werror", "-Werror", list, honoured, set_errors, "kinds of warnings that are errors"},
      {"--restrict", "-restrict", flag, ignored, nothing, "no assumption is made from it"},
      {"--Wdefault-stream-launch", "-Wdefault-stream-launch", flag, ignored, nothing, ""},
      {"--Wmissing-launch-bounds", "-Wmissing-launch-bounds", flag, ignored, nothing, ""},
      {"--Wext-lambda-captures-this", "-Wext-lambda-captures-this", flag, ignored, nothing, ""},
      {"--Wno-deprecated-gpu-targets", "-Wno-deprecated-gpu-targets", flag, ignored, nothing, ""},
      {"--keep-device-functions", "-keep-device-functions", flag, ignored, nothing, ""},
      {"--source-in-ptx", "-src-in-ptx", flag, ignored, nothing, "there is no PTX"},
      {"--resource-usage", "-res-usage", flag, ignored, nothing, "there is no ptxas"},
      {"--extensible-whole-program", "-ewp", flag, ignored, nothing, ""},
      {"--no-compress", "-no-compress", flag, ignored, nothing, ""},
      {"--compress-mode", "-compress-mode", value, ignored, nothing, ""},
      {"--qpp-config", "-qpp-config", value, ignored, nothing, ""},
      {"--compile-as-tools-patch", "-astoolspatch", flag, ignored, nothing, ""},
      {"--display-error-number", "-err-no", flag, ignored, nothing, ""},
      {"--no-display-error-number", "-no-err-no", flag, ignored, nothing, ""},
      {"--diag-error", "-diag-error", list, ignored, nothing, "numbers of another front end"},
      {"--diag-suppress", "-diag-suppress", list, ignored, nothing, "numbers of another front end"},
      {"--diag-warn", "-diag-warn", list, ignored, nothing, "numbers of another front end"},
      {"--host-linker-script", "-hls", value, ignored,
       SET(one_of("host-linker-script", v, {"gen-lcs", "use-lcs"})), ""},
      {"--augment-host-linker-script", "-aug-hls", flag, ignored, nothing, ""},
      {"--brief-diagnostics", "-brief-diag", boolean, ignored, nothing, ""},
      {"--jump-table-density", "-jtd", number, ignored, nothing, ""},
      {"--relocatable-ptx", "-reloc-ptx", flag, ignored, nothing, "there is no PTX"},
      {"--device-stack-protector", "-device-stack-protector", boolean, ignored, nothing, ""},
      {"--sanitize", "-sanitize", value, ignored, nothing, "use -Xcompiler -fsanitize=address"},
      {"--list-gpu-code", "-code-ls", flag, honoured, SET(o.list_code = true),
       "list the architectures (sm_...) and exit"},
      {"--list-gpu-arch", "-arch-ls", flag, honoured, SET(o.list_architectures = true),
       "list the architectures (compute_...) and exit"},
      {"--help", "-h", flag, honoured, SET(o.show_help = true), "this text"},
      {"--version", "-V", flag, honoured, SET(o.show_version = true), "the version"},
      // --options-file is expanded before options are looked up.
      {"--options-file", "-optf", list, honoured, nothing, "read options from a file"},
  };
#undef SET
}

}  // namespace

const std::vector<option_spec>& option_table() {
  static const std::vector<option_spec> table = make_table();
  return table;
}

}  // namespace sb::nvcc
