#include "header_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "process.hpp"

namespace sb::nvcc {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_entries = 32;
constexpr const char* source_name = "/headers.cu";
// What clang 19 must not find in a precompiled header comes behind it (device_code.h).
constexpr const char* source_text =
    "#define SB_LAUNCHES_COME_LATER\n#include <cuda_runtime.h>\n#undef SB_LAUNCHES_COME_LATER\n";
constexpr const char* header_behind = "crt/launch_configuration.h";

std::string cache_directory() {
  if (const char* given = std::getenv("STREAMBED_CACHE_DIR"); given != nullptr)
    return std::string_view(given) == "off" ? "" : given;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return std::string(cache) + "/streambed";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache/streambed";
  return {};
}

std::string state_of(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return path + "?";
  return path + ":" + std::to_string(status.st_size) + ":" + std::to_string(status.st_mtim.tv_sec) +
         "." + std::to_string(status.st_mtim.tv_nsec) + ";";
}

}  // namespace

header_cache::header_cache(const toolchain& tools) : directory_(cache_directory()) {
  if (directory_.empty()) return;
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error || access(directory_.c_str(), W_OK) != 0) {
    directory_.clear();
    return;
  }
  state_ = std::string(source_text) + state_of(tools.clang);
  // Where clang looks for headers as well.
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"})
    if (const char* folders = std::getenv(name); folders != nullptr)
      state_ += std::string(name) + '=' + folders + '\n';
  std::vector<std::string> headers;
  for (const auto& entry : fs::recursive_directory_iterator(tools.include, error))
    if (entry.is_regular_file(error)) headers.push_back(entry.path().string());
  std::sort(headers.begin(), headers.end());
  for (const std::string& header : headers) state_ += state_of(header);
}

std::string header_cache::place_of(const arguments& line) const {
  std::string key = state_;
  bool relative = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    key += '\n' + line[i];
    if (starts_with(line[i], "-I") && line[i].substr(2, 1) != "/") relative = true;
    if (line[i] == "-isystem" && i + 1 < line.size() && line[i + 1].substr(0, 1) != "/")
      relative = true;
  }
  std::error_code error;
  if (relative) key += '\n' + fs::current_path(error).string();
  return directory_ + "/" + hexadecimal_hash(key) + ".pch";
}

namespace {

// As a whole, or not at all: others may read it.
bool write_source(const std::string& path) {
  if (file_exists(path) && read_file(path) == source_text) return true;
  const std::string unfinished = path + "." + std::to_string(getpid());
  std::error_code error;
  try {
    write_file(unfinished, source_text);
    fs::rename(unfinished, path, error);
  } catch (const fatal_error&) {
    error = std::make_error_code(std::errc::no_space_on_device);
  }
  std::error_code ignored;
  if (error) fs::remove(unfinished, ignored);
  return !error;
}

}  // namespace

header_cache::pair header_cache::get(const arguments& device, const arguments& host) {
  if (directory_.empty()) return {};
  const pair wanted = {place_of(device), place_of(host)};
  struct making {
    std::string place, unfinished;
    std::unique_ptr<child> process;
  };
  std::vector<making> makings;
  const std::string source = directory_ + source_name;
  for (const auto& [line, place] : {std::pair{&device, wanted.device}, {&host, wanted.host}}) {
    if (file_exists(place)) {
      // Its age decides what is dropped.
      utimensat(AT_FDCWD, place.c_str(), nullptr, 0);
      continue;
    }
    if (!write_source(source)) return {};
    making each{place, place + "." + std::to_string(getpid()), nullptr};
    arguments command = *line;
    command.insert(command.end(), {"-fsyntax-only", "-w", "-Xclang", "-emit-pch", "-Xclang", "-o",
                                   "-Xclang", each.unfinished, source});
    child::settings quiet;
    quiet.capture_errors = true;
    each.process = std::make_unique<child>(command, quiet);
    makings.push_back(std::move(each));
  }
  bool good = true;
  std::error_code error;
  for (making& each : makings) {
    if (each.process->wait().status == 0)
      fs::rename(each.unfinished, each.place, error);
    else
      good = false, fs::remove(each.unfinished, error);
    good = good && !error;
  }
  if (!makings.empty()) drop_old_entries();
  return good ? wanted : pair{};
}

void header_cache::drop_old_entries() const {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".pch")
      entries.emplace_back(entry.last_write_time(error), entry.path());
    // Of a compiler that was killed.
    else if (name.find(".pch.") != std::string::npos &&
             now - entry.last_write_time(error) > std::chrono::hours(1))
      fs::remove(entry.path(), error);
  }
  if (entries.size() <= most_entries) return;
  std::sort(entries.begin(), entries.end());
  for (std::size_t i = 0; i + most_entries < entries.size(); ++i)
    fs::remove(entries[i].second, error);
}

void header_cache::forget(const pair& entries) {
  std::error_code ignored;
  fs::remove(entries.device, ignored);
  fs::remove(entries.host, ignored);
}

arguments header_cache::flags(const std::string& entry) {
  return {"-Xclang",
          "-include-pch",
          "-Xclang",
          entry,
          "-Xclang",
          "-fmodules-validate-system-headers",
          "-Wno-pch-vfsoverlay-mismatch",
          "-include",
          header_behind};
}

namespace {

std::string as_make_wants_it(const std::string& path) {
  std::string name;
  for (char c : path) {
    if (c == ' ' || c == '#') name += '\\';
    if (c == '$') name += '$';
    name += c;
  }
  return name;
}

}  // namespace

void remove_from_rule(const std::string& dependency_file, const std::string& source) {
  const std::string directory = cache_directory();
  if (directory.empty()) return;
  const std::string name = as_make_wants_it(directory + source_name);
  std::string text = read_file(dependency_file);
  const std::size_t size = text.size();
  // `target: NAME source ...`, and with -MP `NAME:` on a line of its own.
  for (const std::string& each : {name, as_make_wants_it(source)})
    if (const std::size_t at = text.find("\n" + each + ":\n"); at != std::string::npos)
      text.erase(at, each.size() + 2);
  if (const std::size_t at = text.find(" " + name); at != std::string::npos)
    text.erase(at, name.size() + 1);
  if (text.size() != size) write_file(dependency_file, text);
}

}  // namespace sb::nvcc
