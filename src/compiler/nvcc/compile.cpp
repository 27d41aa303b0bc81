// From sources to objects.
#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <thread>

#include "driver.hpp"
#include "gcc_options.hpp"

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
  add(line, include_flags());
  add(line, host_flags(by_clang));
  if (by_clang) {
    add(line, silence_about_gcc_options());
    add(line, call_place_flags());
  }
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
    add(line, cuda_flags());
    add(line, preprocessor_flags(source.kind));
    add(line, device_flags());
    add(line, {"-include", "cuda_runtime.h"});
  } else {
    const std::string compiler = host_compiler(tools_, o_);
    line = {compiler, "-x", source.kind == input_kind::c ? "c" : "c++"};
    add(line, preprocessor_flags(source.kind));
    const bool by_clang = compiler == tools_.clang;
    if (by_clang) add(line, silence_about_gcc_options());
    add(line, by_clang ? host_options_ : o_.host_options);
  }
  add(line, include_flags());
  if (dependencies)
    add(line, dependency_flags(source, ""));
  else
    line.push_back("-E");
  line.push_back(source.path);
  if (!dependencies && !o_.output.empty()) add(line, {"-o", o_.output});
  command(line);
}

}  // namespace sb::nvcc
