// From sources to objects.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <thread>

#include "device_object.hpp"
#include "diagnostics.hpp"
#include "driver.hpp"
#include "rewrite.hpp"

namespace sb::nvcc {
namespace {

namespace fs = std::filesystem;

void add(arguments& to, const arguments& more) { to.insert(to.end(), more.begin(), more.end()); }

std::string stem(const std::string& path) { return fs::path(path).stem().string(); }

}  // namespace

std::string driver::temporary(const input& source, const std::string& suffix) {
  const std::lock_guard lock(mutex_);
  // Two inputs may have the same name in different directories; kept files have the plain name.
  const std::string number = o_.keep ? "" : std::to_string(counter_++) + "_";
  return scratch_.file(number + stem(source.path) + suffix);
}

std::string driver::object_for(const input& source, bool temporary_object) {
  if (temporary_object) return temporary(source, ".o");
  if (!o_.output.empty()) return o_.output;
  const std::string name = stem(source.path) + ".o";
  return o_.output_directory.empty() ? name : o_.output_directory + "/" + name;
}

void driver::compile_all() {
  const bool final_objects = o_.stop_after == phase::compile;
  struct job {
    const input* source;
    std::string object;
  };
  std::vector<job> jobs;
  for (const input& source : o_.inputs) {
    if (source.kind == input_kind::object || source.kind == input_kind::archive ||
        source.kind == input_kind::shared_library) {
      objects_.push_back(source.path);
      continue;
    }
    jobs.push_back({&source, object_for(source, !final_objects)});
    objects_.push_back(jobs.back().object);
  }
  std::size_t threads =
      o_.threads == 0 ? std::thread::hardware_concurrency() : static_cast<std::size_t>(o_.threads);
  if (o_.dry_run) threads = 1;
  threads = std::min(std::max<std::size_t>(threads, 1), jobs.size());
  if (threads <= 1) {
    for (const job& each : jobs) compile_one(*each.source, each.object);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < threads; ++i)
    workers.emplace_back([&] {
      try {
        for (std::size_t at = next++; at < jobs.size(); at = next++)
          compile_one(*jobs[at].source, jobs[at].object);
      } catch (...) {
        next = jobs.size();
        const std::lock_guard lock(mutex_);
        if (!failure) failure = std::current_exception();
      }
    });
  for (std::thread& worker : workers) worker.join();
  if (failure) std::rethrow_exception(failure);
}

void driver::compile_one(const input& source, const std::string& object) {
  if (source.kind == input_kind::cuda)
    compile_cuda(source, object);
  else
    compile_host(source, object);
}

void driver::report(const finished& device, const finished& host) {
  const std::string text = merge_diagnostics(device.errors, host.errors);
  const std::lock_guard lock(mutex_);
  std::cerr << text << std::flush;
}

void driver::compile_cuda(const input& source, const std::string& object) {
  const bool relocatable = o_.relocatable_device_code;
  const std::string unit = unit_id(source, object);
  arguments common = {tools_.clang};
  add(common, cuda_flags(unit));
  add(common, preprocessor_flags(input_kind::cuda));
  const std::string overlay =
      o_.dry_run
          ? ""
          : rewrite_sources(source.path, o_, tools_.architecture == "x86_64" ? 'x' : 'w',
                            [&](const std::string& suffix) { return temporary(source, suffix); });
  if (!overlay.empty()) add(common, {"-ivfsoverlay", overlay});
  if (isatty(STDERR_FILENO)) common.push_back("-fcolor-diagnostics");

  arguments device = common;
  add(device, device_flags());
  add(device, device_code_flags());
  const std::string device_object = temporary(source, relocatable ? ".dev.bc" : ".dev.o");
  if (relocatable)
    add(device, {"-Xclang", "-disable-llvm-passes", "-emit-llvm"});
  else
    device.push_back("-fpass-plugin=" + tools_.pass);
  if (o_.syntax_only_device)
    add(device, {"-fsyntax-only", source.path});
  else
    add(device, {"-c", source.path, "-o", device_object});

  const std::string image =
      relocatable ? temporary(source, ".dev.sbdev") : temporary(source, ".dev.so");
  const arguments image_line = image_link({device_object}, image);

  arguments host = common;
  add(host, host_flags(true));
  if (o_.per_thread_default_stream) add(host, {"-Xclang", "-fgpu-default-stream=per-thread"});
  add(host, dependency_flags(source, object));
  const auto host_line = [&](const std::string& embedded) {
    arguments line = host;
    if (relocatable)
      add(line,
          {"-Xclang", "--offload-new-driver", "-Xclang", "-fembed-offload-object=" + embedded});
    else
      add(line, {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", embedded});
    add(line, {"-c", source.path, "-o", object});
    return line;
  };

  show(device);
  if (!relocatable) show(image_line);
  show(host_line(image));
  if (o_.dry_run) return;

  // With bitcode the device pass is only a front end, and clang reads what it embeds at its start.
  if (relocatable) {
    child::settings how;
    how.capture_errors = true;
    child device_child(device, how);
    const finished device_end = device_child.wait();
    if (device_end.status != 0) {
      report(device_end, {});
      throw tool_failed{device_end.status};
    }
    write_file(image, wrap_device_code(read_file(device_object)));
    const finished host_end = nvcc::run(host_line(image), how);
    report(device_end, host_end);
    if (host_end.status != 0) throw tool_failed{host_end.status};
    return;
  }

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw fatal_error(std::string("Could not create a pipe: ") + std::strerror(errno));
  child::settings device_settings;
  device_settings.capture_errors = true;
  child::settings host_settings = device_settings;
  host_settings.inherit_as_3 = ends[0];
  child host_child(host_line("/dev/fd/3"), host_settings);
  close(ends[0]);
  finished device_end;
  try {
    child device_child(device, device_settings);
    device_end = device_child.wait();
    if (device_end.status == 0) {
      finished linked = nvcc::run(image_line, device_settings);
      device_end.status = linked.status;
      device_end.errors += linked.errors;
    }
  } catch (...) {
    close(ends[1]);
    throw;
  }
  if (device_end.status != 0) {
    close(ends[1]);
    host_child.stop();
    host_child.wait();
    std::error_code ignored;
    fs::remove(object, ignored);
    report(device_end, {});
    throw tool_failed{device_end.status};
  }
  const finished host_end = host_child.wait(ends[1], read_file(image));
  report(device_end, host_end);
  if (host_end.status != 0) throw tool_failed{host_end.status};
}

void driver::compile_host(const input& source, const std::string& object) {
  const std::string compiler = host_compiler(tools_, o_);
  const bool by_clang = compiler == tools_.clang;
  arguments line = {compiler};
  if (source.kind != input_kind::preprocessed) {
    const bool c = source.kind == input_kind::c;
    add(line, {"-x", c ? "c" : "c++"});
    if (!c && !o_.standard.empty())
      line.push_back("-std=" + o_.standard);
    else if (!c)
      line.push_back("-std=gnu++17");
  } else if (!o_.standard.empty()) {
    line.push_back("-std=" + o_.standard);
  }
  add(line, preprocessor_flags(source.kind));
  add(line, host_flags(by_clang));
  if (o_.no_warnings) line.push_back("-w");
  for (const std::string& kind : o_.errors)
    if (kind == "all-warnings") line.push_back("-Werror");
  if (source.kind != input_kind::preprocessed) add(line, dependency_flags(source, object));
  add(line, {"-c", source.path, "-o", object});
  command(line);
}

// -E and -M: as the device pass sees the source.
void driver::preprocess(const input& source) {
  const bool dependencies = o_.stop_after == phase::dependencies;
  arguments line;
  if (source.kind == input_kind::cuda) {
    line = {tools_.clang};
    add(line, cuda_flags(unit_id(source, "")));
    add(line, preprocessor_flags(source.kind));
    add(line, device_flags());
  } else {
    line = {host_compiler(tools_, o_), "-x", source.kind == input_kind::c ? "c" : "c++"};
    add(line, preprocessor_flags(source.kind));
    add(line, o_.host_options);
  }
  if (dependencies)
    add(line, dependency_flags(source, ""));
  else
    line.push_back("-E");
  line.push_back(source.path);
  if (!dependencies && !o_.output.empty()) add(line, {"-o", o_.output});
  command(line);
}

}  // namespace sb::nvcc
