// The two passes over a .cu.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>

#include "device_object.hpp"
#include "diagnostics.hpp"
#include "driver.hpp"
#include "header_cache.hpp"
#include "host_object.hpp"
#include "rewrite.hpp"

namespace sb::nvcc {
namespace {

void add(arguments& to, const arguments& more) { to.insert(to.end(), more.begin(), more.end()); }

arguments joined(arguments first, const arguments& second) {
  add(first, second);
  return first;
}

// The name under which the host pass finds the device code: its descriptor 3 is our pipe.
constexpr const char* pipe_name = "/dev/fd/3";

constexpr const char* header = "cuda_runtime.h";

// As nvcc answers for its linker of device code.
constexpr int link_failed = 255;

// clang could not use the precompiled header: the message names it, or clang crashed, as it does
// over some damaged ones.
bool blames_cache(const finished& end) {
  constexpr std::string_view words[] = {"PCH file", ".pch'", "precompiled", "AST file",
                                        "PLEASE submit a bug report"};
  return end.status != 0 && std::any_of(std::begin(words), std::end(words), [&](auto word) {
           return end.errors.find(word) != std::string::npos;
         });
}

// The host's half of a .cu, which is compiled beside the device's. One that is fed reads the device
// code from our pipe when its front end is done.
class host_pass {
 public:
  host_pass(const arguments& line, bool is_fed) {
    child::settings how;
    how.capture_errors = true;
    int ends[2] = {-1, -1};
    if (is_fed && pipe2(ends, O_CLOEXEC) != 0)
      throw fatal_error(std::string("Could not create a pipe: ") + std::strerror(errno));
    how.inherit_as_3 = ends[0];
    feed_ = ends[1];
    process_.emplace(line, how);
    if (is_fed) close(ends[0]);
  }
  host_pass(const host_pass&) = delete;
  host_pass& operator=(const host_pass&) = delete;
  ~host_pass() {
    if (feed_ >= 0) close(feed_);
  }

  finished finish(const std::string& device_code) {
    return process_->wait(std::exchange(feed_, -1), device_code);
  }

  // What it would say is not wanted.
  finished abandon() {
    process_->stop();
    process_->wait();
    return {};
  }

 private:
  std::optional<child> process_;
  int feed_ = -1;
};

}  // namespace

// Command lines in parts: flags that a precompiled header depends on, then the others.
struct driver::passes {
  arguments device, host;            // clang and the flags that give the header its meaning
  arguments device_rest, host_rest;  // what concerns this source only
  arguments image_link;              // empty with relocatable device code
  std::string source, object, device_object, image;
  std::string second_object;  // where the pass may put some of the kernels; empty: it may not
  std::string unfilled;  // the object before it gets the image; empty: it has the image at once

  [[nodiscard]] arguments embedding(const std::string& file) const {
    if (image_link.empty()) return {"-Xclang", "-fembed-offload-object=" + file};
    return {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", file};
  }
  [[nodiscard]] arguments device_line(const arguments& including) const {
    return joined(joined(device, including), device_rest);
  }
  [[nodiscard]] arguments host_line(const arguments& including, const std::string& file,
                                    const std::string& result) const {
    arguments line = joined(joined(joined(host, including), host_rest), embedding(file));
    add(line, {"-c", source, "-o", result});
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
  if (!relocatable && can_be_filled(o_.host_options)) lines.unfilled = temporary(source, ".host.o");

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
  add(lines.host_rest, call_place_flags());
  return lines;
}

void driver::compile_cuda(const input& source, const std::string& object) {
  const passes lines = passes_for(source, object);
  show(lines.device_line({"-include", header}));
  if (!lines.image_link.empty()) show(lines.image_link);
  show(lines.host_line({"-include", header}, lines.image, object));
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

// The device pass and the link of its image.
finished driver::make_image(const passes& lines, const arguments& including) {
  finished end = compile_device(lines, including);
  if (end.status == 0 && !lines.image_link.empty() && !o_.syntax_only_device) {
    child::settings how;
    how.capture_errors = true;
    const bool in_two = file_exists(lines.second_object);
    const finished linked =
        nvcc::run(in_two ? image_link({lines.device_object, lines.second_object}, lines.image)
                         : lines.image_link,
                  how);
    end.status = linked.status == 0 ? 0 : link_failed;
    end.errors += linked.errors;
  }
  if (const std::string said = limits_exceeded(end.errors, "ptxas"); !said.empty())
    end = {limits_failed, said};
  return end;
}

void driver::run_passes(const passes& lines) {
  const header_cache::pair cached =
      o_.syntax_only_device ? header_cache::pair{} : headers_.get(lines.device, lines.host);
  bool use_cache = !cached.device.empty();
  while (true) {
    const auto including = [&](const std::string& entry) {
      return use_cache ? header_cache::flags(entry) : arguments{"-include", header};
    };
    const bool is_fed = lines.unfilled.empty();
    host_pass host(lines.host_line(including(cached.host), is_fed ? pipe_name : "/dev/null",
                                   is_fed ? lines.object : lines.unfilled),
                   is_fed);
    const finished device_end = make_image(lines, including(cached.device));
    std::string image;
    if (device_end.status == 0 && !o_.syntax_only_device)
      image = lines.image_link.empty() ? wrap_device_code(read_file(lines.device_object))
                                       : read_file(lines.image);
    const finished host_end = device_end.status == 0 ? host.finish(image) : host.abandon();
    const bool is_done = device_end.status == 0 && host_end.status == 0;
    if (!is_done)
      remove_output(lines.object);
    else if (!is_fed)
      write_file(lines.object, filled_object(read_file(lines.unfilled), image));
    if (use_cache && (blames_cache(device_end) || blames_cache(host_end))) {
      header_cache::forget(cached);
      use_cache = false;
      continue;
    }
    report(device_end, host_end);
    if (!is_done) {
      const finished& failed = device_end.status != 0 ? device_end : host_end;
      throw tool_failed{failed.status == 1 ? exit_status(failed.errors) : failed.status};
    }
    return;
  }
}

}  // namespace sb::nvcc
