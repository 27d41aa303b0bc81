#include "header_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "hidden_headers.hpp"
#include "process.hpp"

namespace sb::nvcc {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_entries = 32;
constexpr const char* source_name = "/headers.cu";
// What clang 19 must not find in a precompiled header comes behind it (device_code.h).
constexpr const char* source_text =
    "#define SB_LAUNCHES_COME_LATER\n#include \"cuda_runtime.h\"\n#undef SB_LAUNCHES_COME_LATER\n";
constexpr const char* header = "cuda_runtime.h";
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
  for (const std::string& word : line) key += '\n' + word;
  const arguments folders = header_folders(line);
  const bool relative = std::any_of(folders.begin(), folders.end(), [](const std::string& folder) {
    return !starts_with(folder, "/");
  });
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

// The names that hidden_headers.hpp asks the folders for.
std::string names_of(const std::string& entry) {
  return fs::path(entry).replace_extension(".names").string();
}

void remove_entry(const std::string& entry) {
  std::error_code ignored;
  fs::remove(entry, ignored);
  fs::remove(names_of(entry), ignored);
}

bool is_current(const std::string& entry, const arguments& line) {
  try {
    return file_exists(entry) &&
           hides_nothing_new(read_file(names_of(entry)), header_folders(line));
  } catch (const fatal_error&) {
    return false;
  }
}

// The names come first: an entry without them is none.
bool put_into_place(const std::string& unfinished, const std::string& rule,
                    const std::string& entry, const arguments& line) {
  std::error_code error;
  try {
    const std::string names = unfinished + ".names";
    write_file(names, hidable_headers(read_file(rule), header_folders(line)));
    fs::rename(names, names_of(entry), error);
    if (!error) fs::rename(unfinished, entry, error);
  } catch (const fatal_error&) {
    return false;
  }
  return !error;
}

}  // namespace

header_cache::pair header_cache::get(const arguments& device, const arguments& host) {
  // In the folder where nvcc runs -include finds a program's own; a precompiled header would not.
  if (directory_.empty() || file_exists(header)) return {};
  // Sources that are compiled at the same time (-t) make an entry once.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const pair wanted = {place_of(device), place_of(host)};
  struct making {
    const arguments& line;
    std::string place, unfinished, rule;
    std::unique_ptr<child> process;
  };
  std::vector<making> makings;
  const std::string source = directory_ + source_name;
  for (const auto& [line, place] : {std::pair{&device, wanted.device}, {&host, wanted.host}}) {
    if (is_current(place, *line)) {
      // Its age decides what is dropped.
      utimensat(AT_FDCWD, place.c_str(), nullptr, 0);
      continue;
    }
    if (!write_source(source)) return {};
    const std::string unfinished = place + "." + std::to_string(getpid());
    making each{*line, place, unfinished, unfinished + ".d", nullptr};
    arguments command = *line;
    for (const std::string& word : {std::string("-emit-pch"), std::string("-o"), each.unfinished,
                                    std::string("-dependency-file"), each.rule, std::string("-MT"),
                                    std::string("entry"), std::string("-sys-header-deps")})
      command.insert(command.end(), {"-Xclang", word});
    command.insert(command.end(), {"-fsyntax-only", "-w", source});
    child::settings quiet;
    quiet.capture_errors = true;
    each.process = std::make_unique<child>(command, quiet);
    makings.push_back(std::move(each));
  }
  bool good = true;
  std::error_code error;
  for (making& each : makings) {
    const bool is_made = each.process->wait().status == 0 &&
                         put_into_place(each.unfinished, each.rule, each.place, each.line);
    good = good && is_made;
    for (const std::string& left : {each.unfinished, each.unfinished + ".names", each.rule})
      fs::remove(left, error);
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
    remove_entry(entries[i].second.string());
}

void header_cache::forget(const pair& entries) {
  remove_entry(entries.device);
  remove_entry(entries.host);
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
