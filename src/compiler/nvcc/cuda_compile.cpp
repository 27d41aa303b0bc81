// The two passes over a .cu.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "device_object.hpp"
#include "diagnostics.hpp"
#include "driver.hpp"
#include "header_cache.hpp"
#include "rewrite.hpp"

namespace sb::nvcc {
namespace {

void add(arguments& to, const arguments& more) { to.insert(to.end(), more.begin(), more.end()); }

arguments joined(arguments first, const arguments& second) {
  add(first, second);
  return first;
}

// The name under which the host pass finds the device image: its descriptor 3 is our pipe.
constexpr const char* pipe_name = "/dev/fd/3";

constexpr const char* header = "cuda_runtime.h";

// As nvcc answers for its linker of device code.
constexpr int link_failed = 255;

// clang could not use the precompiled header; the message names it.
bool blames_cache(const finished& end) {
  return end.status != 0 && (end.errors.find("PCH file") != std::string::npos ||
                             end.errors.find(".pch'") != std::string::npos ||
                             end.errors.find("precompiled") != std::string::npos);
}

}  // namespace

// Command lines in parts: flags that a precompiled header depends on, then the others.
struct driver::passes {
  arguments device, host;            // clang and the flags that give the header its meaning
  arguments device_rest, host_rest;  // what concerns this source only
  arguments image_link;              // empty with relocatable device code
  std::string source, object, device_object, image;
  std::string second_object;  // where the pass may put some of the kernels; empty: it may not

  [[nodiscard]] arguments embedding(const std::string& file) const {
    if (image_link.empty()) return {"-Xclang", "-fembed-offload-object=" + file};
    return {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", file};
  }
  [[nodiscard]] arguments device_line(const arguments& including) const {
    return joined(joined(device, including), device_rest);
  }
  [[nodiscard]] arguments host_line(const arguments& including, const std::string& file) const {
    arguments line = joined(joined(joined(host, including), host_rest), embedding(file));
    add(line, {"-c", source, "-o", object});
    return line;
  }
};

driver::passes driver::passes_for(const input& source, const std::string& object) {
  const bool relocatable = o_.relocatable_device_code;
  passes lines;
  lines.source = source.path;
  lines.object = object;
  lines.device_object = temporary(source, relocatable ? ".dev.bc" : ".dev.o");
  lines.image = temporary(source, relocatable ? ".dev.sbdev" : ".dev.so");
  if (!relocatable) lines.image_link = image_link({lines.device_object}, lines.image);
  if (!relocatable && !keeps_device_lines() && !o_.syntax_only_device)
    lines.second_object = temporary(source, ".dev2.o");

  arguments common = {tools_.clang};
  add(common, cuda_flags());
  add(common, preprocessor_flags(input_kind::cuda));
  arguments rest = include_flags();
  if (relocatable) add(rest, {"-Xclang", "-cuid=" + unit_id(source, object)});
  const auto file = [&](const std::string& suffix) { return temporary(source, suffix); };
  if (!o_.dry_run)
    if (const std::string overlay =
            rewrite_sources(source.path, o_, tools_.architecture == "x86_64" ? 'x' : 'w', file);
        !overlay.empty())
      add(rest, {"-ivfsoverlay", overlay});
  if (isatty(STDERR_FILENO)) rest.push_back("-fcolor-diagnostics");

  lines.device = joined(joined(common, device_flags()), device_code_flags());
  lines.device_rest = rest;
  if (relocatable)
    add(lines.device_rest, {"-Xclang", "-disable-llvm-passes", "-emit-llvm"});
  else
    lines.device_rest.push_back("-fpass-plugin=" + tools_.pass);
  if (o_.syntax_only_device)
    add(lines.device_rest, {"-fsyntax-only", source.path});
  else
    add(lines.device_rest, {"-c", source.path, "-o", lines.device_object});

  lines.host = joined(common, host_flags(true));
  if (o_.per_thread_default_stream) add(lines.host, {"-Xclang", "-fgpu-default-stream=per-thread"});
  if (relocatable) add(lines.host, {"-Xclang", "--offload-new-driver"});
  lines.host_rest = joined(rest, dependency_flags(source, object));
  if (!relocatable) {
    lines.host_rest.push_back("-fpass-plugin=" + tools_.host_pass);
    // The plugin tells the runtime the lines of calls, and takes them out of the object again.
    if (!o_.debug_host) lines.host_rest.push_back("-gline-tables-only");
  }
  return lines;
}

void driver::compile_cuda(const input& source, const std::string& object) {
  const passes lines = passes_for(source, object);
  show(lines.device_line({"-include", header}));
  if (!lines.image_link.empty()) show(lines.image_link);
  show(lines.host_line({"-include", header}, lines.image));
  if (o_.dry_run) return;
  run_passes(lines);
  const std::string rule = dependency_file(source);
  if (o_.dependencies != dependency_mode::none && file_exists(rule))
    remove_from_rule(rule, source.path);
}

void driver::report(const finished& device, const finished& host) {
  std::string text = merge_diagnostics(device.errors, host.errors);
  // clang's words for it are about a reference; say what it means.
  if (text.find("error: reference to __global__ function") != std::string::npos)
    text +=
        "nvcc error   : Device code launches a kernel (dynamic parallelism), which Streambed does "
        "not "
        "do. Launch it from the host.\n";
  const std::lock_guard lock(mutex_);
  std::cerr << text << std::flush;
}

// Where the pass may divide its work (two_parts.hpp), the object comes out of standard output: a
// file that clang opens by its name would be that of both processes.
finished driver::compile_device(const passes& lines, const arguments& including) {
  child::settings how;
  how.capture_errors = true;
  arguments line = lines.device_line(including);
  if (!lines.second_object.empty()) {
    remove_output(lines.second_object);
    line.back() = std::string("-");
    how.standard_output = lines.device_object;
    how.environment = {"SB_SECOND_PART=" + lines.second_object};
  }
  return nvcc::run(line, how);
}

void driver::run_passes(const passes& lines) {
  const header_cache::pair cached =
      o_.syntax_only_device ? header_cache::pair{} : headers_.get(lines.device, lines.host);
  bool use_cache = !cached.device.empty();
  while (true) {
    const auto including = [&](const std::string& entry) {
      return use_cache ? header_cache::flags(entry) : arguments{"-include", header};
    };
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw fatal_error(std::string("Could not create a pipe: ") + std::strerror(errno));
    child::settings device_settings;
    device_settings.capture_errors = true;
    child::settings host_settings = device_settings;
    host_settings.inherit_as_3 = ends[0];
    child host_child(lines.host_line(including(cached.host), pipe_name), host_settings);
    close(ends[0]);
    finished device_end, host_end;
    try {
      device_end = compile_device(lines, including(cached.device));
      if (device_end.status == 0 && !lines.image_link.empty() && !o_.syntax_only_device) {
        const bool in_two = file_exists(lines.second_object);
        const finished linked =
            nvcc::run(in_two ? image_link({lines.device_object, lines.second_object}, lines.image)
                             : lines.image_link,
                      device_settings);
        device_end.status = linked.status == 0 ? 0 : link_failed;
        device_end.errors += linked.errors;
      }
    } catch (...) {
      close(ends[1]);
      throw;
    }
    if (const std::string said = limits_exceeded(device_end.errors, "ptxas"); !said.empty()) {
      device_end.errors = said;
      device_end.status = limits_failed;
    }
    if (device_end.status == 0) {
      std::string image;
      if (!o_.syntax_only_device)
        image = lines.image_link.empty() ? wrap_device_code(read_file(lines.device_object))
                                         : read_file(lines.image);
      host_end = host_child.wait(ends[1], image);
    } else {
      close(ends[1]);
      host_child.stop();
      host_child.wait();
      remove_output(lines.object);
    }
    if (use_cache && (blames_cache(device_end) || blames_cache(host_end))) {
      header_cache::forget(cached);
      use_cache = false;
      continue;
    }
    report(device_end, host_end);
    for (const finished* end : {&device_end, &host_end})
      if (end->status != 0)
        throw tool_failed{end->status == 1 ? exit_status(end->errors) : end->status};
    return;
  }
}

}  // namespace sb::nvcc
