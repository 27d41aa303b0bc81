// From objects to programs, libraries and device images.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "device_object.hpp"
#include "driver.hpp"
#include "gcc_options.hpp"

namespace sb::nvcc {
namespace {

namespace fs = std::filesystem;

void add(arguments& to, const arguments& more) { to.insert(to.end(), more.begin(), more.end()); }

// Registers the linked image with the runtime, before any constructor of the program: every host
// object has left its kernels and variables in the section cuda_offloading_entries (clang's
// layout).
constexpr const char* registration_source = R"(
typedef __SIZE_TYPE__ size_t;
struct entry { void *address; char *name; size_t size; int flags; int data; };
extern struct entry __start_cuda_offloading_entries[] __attribute__((weak, visibility("hidden")));
extern struct entry __stop_cuda_offloading_entries[] __attribute__((weak, visibility("hidden")));
extern const char sb_device_image[] __attribute__((visibility("hidden")));
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
int __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *,
                           void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
int atexit(void (*)(void));
static struct { int magic; int version; const void *image; void *unused; } wrapper
    __attribute__((section(".nvFatBinSegment"))) = {0x466243b1, 1, sb_device_image, 0};
static void **handle;
static void unregister(void) { __cudaUnregisterFatBinary(handle); }
__attribute__((constructor(101))) static void register_device_code(void) {
  handle = __cudaRegisterFatBinary(&wrapper);
  for (struct entry *e = __start_cuda_offloading_entries; e < __stop_cuda_offloading_entries; ++e) {
    if (!e->address) continue;
    if (e->size == 0)
      __cudaRegisterFunction(handle, (const char *)e->address, e->name, e->name, -1, 0, 0, 0, 0, 0);
    else if ((e->flags & 7) <= 1)
      __cudaRegisterVar(handle, (char *)e->address, e->name, e->name, (e->flags >> 3) & 1, e->size,
                        (e->flags >> 4) & 1, 0);
  }
  __cudaRegisterFatBinaryEnd(handle);
  atexit(unregister);
}
__asm__(".section .nv_fatbin,\"a\"\n.balign 4096\n.hidden sb_device_image\n.globl sb_device_image\n"
        "sb_device_image:\n.incbin \"" SB_IMAGE "\"\n.previous\n");
)";

// Libraries of NVIDIA's toolkit that programs ask for and that Streambed does not have.
const char* missing_library(const std::string& name) {
  static const std::map<std::string, const char*> prefixes = {
      {"cublas", "linear algebra"},
      {"cufft", "Fourier transforms"},
      {"curand", "random numbers"},
      {"cusparse", "sparse matrices"},
      {"cusolver", "linear solvers"},
      {"cudnn", "neural networks"},
      {"npp", "image processing"},
      {"nvjpeg", "JPEG"},
      {"nvgraph", "graphs"},
      {"nvrtc", "runtime compilation"},
      {"nvJitLink", "runtime linking"},
      {"nvml", "device management"},
      {"nvidia-ml", "device management"},
      {"cupti", "profiling"},
      {"nvblas", "linear algebra"},
      {"cufile", "direct storage"},
      {"cudla", "DLA"},
      {"nvvm", "NVVM"},
      {"cutensor", "tensors"},
      {"nvshmem", "shared memory between devices"},
      {"cuda", "the driver API (libcuda)"},
      {"nvcuvid", "video"},
      {"nvfatbin", "fat binaries"},
      {"nvptxcompiler", "PTX"},
  };
  if (name == "cudart" || name == "cudart_static" || name == "cudadevrt" ||
      starts_with(name, "cudart"))
    return nullptr;
  for (const auto& [prefix, what] : prefixes)
    if (name == prefix || (prefix != "cuda" && starts_with(name, prefix))) return what;
  return nullptr;
}

}  // namespace

void driver::check_libraries() const {
  for (const std::string& name : o_.libraries) {
    const char* what = missing_library(name);
    if (what == nullptr) continue;
    // The user's own library of that name is fine.
    bool own = false;
    arguments directories = o_.library_paths;
    std::erase_if(directories, has_other_libraries);
    directories.push_back(tools_.library);
    for (const std::string& directory : directories)
      own = own || file_exists(directory + "/lib" + name + ".so") ||
            file_exists(directory + "/lib" + name + ".a");
    if (!own)
      throw fatal_error("Library '-l" + name + "' (" + what +
                        ") is not part of Streambed, which has the CUDA runtime only. Build "
                        "without it, or give -L with the directory of your own lib" +
                        name + ".");
  }
}

arguments driver::image_link(const arguments& objects, const std::string& image) const {
  const arguments sanitizers = sanitizer_flags();
  if (!sanitizers.empty()) {
    // The sanitizer's runtime is the program's; clang knows what a shared object needs beside it.
    arguments line = {tools_.clang, "-shared", "-fuse-ld=lld", "-Wl,-Bsymbolic"};
    if (!tools_.triple.empty()) line.push_back("--target=" + tools_.triple);
    add(line, sanitizers);
    add(line, objects);
    add(line, {"-o", image});
    return line;
  }
  arguments line = {tools_.lld, "-shared", "-Bsymbolic", "--hash-style=gnu", "-z", "now"};
  if (!keeps_device_lines()) line.push_back("--strip-debug");
  const arguments libraries = tools_.device_libraries();
  // Without the libraries at hand (a target without its files) names are looked up when loaded.
  if (libraries.size() >= 2) add(line, {"-z", "defs", "--as-needed"});
  add(line, objects);
  add(line, libraries);
  add(line, {"-o", image});
  return line;
}

std::string driver::device_link(const std::string& object) {
  std::vector<device_unit> units;
  if (!o_.dry_run)
    for (const std::string& path : objects_) {
      if (kind_of(path, language::by_suffix) == input_kind::shared_library) continue;
      for (device_unit& unit : read_device_units(path)) units.push_back(std::move(unit));
    }
  // -L and -l may name static libraries with device code.
  if (!o_.dry_run)
    for (const std::string& name : o_.libraries)
      for (const std::string& directory : o_.library_paths)
        if (const std::string path = directory + "/lib" + name + ".a"; file_exists(path)) {
          if (file_exists(directory + "/lib" + name + ".so")) break;
          for (device_unit& unit : read_device_units(path)) units.push_back(std::move(unit));
          break;
        }
  if (units.empty() && o_.stop_after != phase::device_link) return {};

  const std::string image = scratch_.file("device_link.so");
  if (units.empty()) {
    // -dlink without device code still has to give an object.
    const std::string empty = scratch_.file("empty.c");
    write_file(empty, "typedef int nothing;\n");
    arguments line = {tools_.clang};
    if (!tools_.triple.empty()) line.push_back("--target=" + tools_.triple);
    add(line, {"-x", "c", "-c", empty, "-o", object});
    command(line);
    return object;
  }

  arguments merge = {tools_.linker_of_bitcode};
  int number = 0;
  for (const device_unit& unit : units) {
    const std::string file = scratch_.file("unit" + std::to_string(number++) + ".bc");
    write_file(file, unit.bitcode);
    add(merge, {unit.origin, file});
  }
  const std::string merged = scratch_.file("merged.bc");
  merge.insert(merge.begin() + 1, merged);
  command(merge);

  const std::string device_object = scratch_.file("device_link.dev.o");
  arguments generate = {tools_.clang, "-x", "ir"};
  if (!tools_.triple.empty()) generate.push_back("--target=" + tools_.triple);
  add(generate, device_code_flags());
  add(generate, sanitizer_flags());
  add(generate, {"-fpass-plugin=" + tools_.pass, "-c", merged, "-o", device_object});
  child::settings captured;
  captured.capture_errors = true;
  command(generate, captured);
  command(image_link({device_object}, image));

  const std::string source = scratch_.file("device_link.c");
  write_file(source, registration_source);
  arguments line = {tools_.clang};
  if (!tools_.triple.empty()) line.push_back("--target=" + tools_.triple);
  add(line,
      {"-x", "c", "-O1", "-fPIC", "-DSB_IMAGE=\"" + image + "\"", "-c", source, "-o", object});
  command(line);
  return object;
}

void driver::link() {
  check_libraries();
  std::string registration;
  if (!o_.no_device_link && !o_.relocatable_link)
    registration = device_link(scratch_.file("device_link.o"));

  const arguments sanitizers = sanitizer_flags();
  // A sanitizer's runtime must be the one of the compiler that instrumented the code.
  arguments line = {sanitizers.empty() ? host_linker(tools_, o_) : tools_.clang};
  const bool adds_run_path = line[0] == tools_.host_link;
  const bool is_by_clang = adds_run_path || line[0] == tools_.clang;
  if (!tools_.triple.empty() && line[0] == tools_.clang)
    line.push_back("--target=" + tools_.triple);
  if (o_.debug_host) line.push_back("-g");
  if (o_.profile) line.push_back("-pg");
  if (o_.shared) line.push_back("-shared");
  if (o_.relocatable_link) line.push_back("-r");
  if (is_by_clang) line.push_back("-Qunused-arguments");
  add(line, library_folders(tools_));
  if (!o_.relocatable_link && o_.cudart == cudart_kind::shared && !adds_run_path)
    add(line, run_path(tools_));
  add(line, is_by_clang ? host_options_ : o_.host_options);
  line.push_back("-Wl,--start-group");
  if (!registration.empty()) line.push_back(registration);
  add(line, objects_);
  for (const std::string& option : o_.linker_options) add(line, {"-Xlinker", option});
  for (const std::string& path : o_.library_paths) line.push_back("-L" + path);
  if (!o_.relocatable_link) {
    for (const std::string& name : o_.libraries) line.push_back("-l" + name);
    // Empty, but build systems expect to see it; a target's folder may do without.
    if (o_.cudart != cudart_kind::none && file_exists(tools_.library + "/libcudadevrt.a"))
      line.push_back("-lcudadevrt");
    switch (o_.cudart) {
      case cudart_kind::shared:
        line.push_back("-lcudart");
        break;
      case cudart_kind::static_:
        add(line, {"-lcudart_static", "-lrt", "-lpthread", "-ldl"});
        break;
      case cudart_kind::none:
        break;
    }
  }
  line.push_back("-Wl,--end-group");
  const std::string output = o_.output.empty() ? "a.out" : o_.output;
  add(line, {"-o", output});
  command(line);
  if (o_.run) execute(output);
}

void driver::make_library() {
  const std::string output = o_.output.empty() ? "a.a" : o_.output;
  std::string archiver = o_.archiver;
  if (archiver.empty()) archiver = find_program("ar");
  if (archiver.empty()) archiver = fs::path(tools_.lld).parent_path().string() + "/llvm-ar";
  arguments line = {archiver};
  line.push_back(o_.archive_options.empty() ? "cr" : o_.archive_options[0]);
  for (std::size_t i = 1; i < o_.archive_options.size(); ++i) line.push_back(o_.archive_options[i]);
  line.push_back(output);
  add(line, objects_);
  command(line);
}

void driver::execute(const std::string& program) {
  arguments line = {program.find('/') == std::string::npos ? "./" + program : program};
  add(line, o_.run_arguments);
  show(line);
  if (o_.dry_run) return;
  child::settings how;
  const char* before = std::getenv("LD_LIBRARY_PATH");
  how.environment = {"LD_LIBRARY_PATH=" + tools_.library +
                     (before ? std::string(":") + before : "")};
  const finished end = nvcc::run(line, how);
  if (end.status != 0) throw tool_failed{end.status};
}

void driver::clean() {
  if (o_.stop_after == phase::compile)
    for (const input& source : o_.inputs) remove_output(object_for(source, false));
  else
    remove_output(o_.output.empty() ? "a.out" : o_.output);
}

}  // namespace sb::nvcc
