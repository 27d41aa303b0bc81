#include "output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "trace/format.hpp"
#include "whole_output.hpp"

namespace sb::tools {

namespace fs = std::filesystem;

namespace {

// The first bytes of a trace, of drawings, of exports and of a profile that was measured.
bool begins_as_ours(std::string_view bytes) {
  const std::string_view trace{reinterpret_cast<const char*>(trace::file_magic.data()),
                               trace::file_magic.size()};
  for (const std::string_view beginning :
       {trace, std::string_view("<!doctype html>"), std::string_view("<svg "),
        std::string_view("\x89PNG\r\n"), std::string_view("{\"displayTimeUnit\""),
        std::string_view("operation,kind,name,"), std::string_view("\n ** ")}) {
    if (bytes.starts_with(beginning)) return true;
  }
  // Perfetto: a packet, its length, and in it the description of a track (field 60).
  if (bytes.starts_with('\n') && bytes.substr(0, 6).find("\xe2\x03") <= 3) return true;
  return bytes.substr(0, bytes.find('\n')).find("streambed device calibrate") !=
         std::string_view::npos;
}

}  // namespace

bool same_file(const std::string& a, const std::string& b) {
  struct stat first{}, second{};
  if (::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0)
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
  std::error_code failed;
  const fs::path here = fs::weakly_canonical(fs::absolute(a), failed);
  const fs::path there = fs::weakly_canonical(fs::absolute(b), failed);
  return !failed && here == there;
}

std::string why_not_writable(const std::string& path, output_kind kind) {
  struct stat now{};
  if (::stat(path.c_str(), &now) == 0) {
    if (S_ISDIR(now.st_mode)) return "it is a folder";
    if (S_ISREG(now.st_mode)) {
      if (::access(path.c_str(), W_OK) != 0) return std::strerror(errno);
      // The next one is written beside it.
      if (kind == output_kind::storage || !takes_the_place_of_a_file(path)) return {};
      const fs::path folder = fs::weakly_canonical(path).parent_path();
      return ::access(folder.c_str(), W_OK) == 0
                 ? std::string()
                 : "its folder: " + std::string(std::strerror(errno));
    }
    if (S_ISBLK(now.st_mode)) return "it is a disk";
    if (kind == output_kind::storage) return "it is no regular file";
    return {};
  }
  // Only the system knows whether a file can be made there: it makes one.
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (made < 0) return std::strerror(errno);
  ::close(made);
  ::unlink(fs::weakly_canonical(path).c_str());  // of a link, what it leads to
  return {};
}

std::string why_not_replaced(const std::string& path,
                             std::initializer_list<std::string_view> endings) {
  struct stat now{};
  if (!takes_the_place_of_a_file(path) || ::stat(path.c_str(), &now) != 0 || now.st_size == 0)
    return {};
  const std::string ending = fs::path(path).extension().string();
  if (std::find(endings.begin(), endings.end(), ending) != endings.end()) return {};
  std::ifstream in(path, std::ios::binary);
  char first[512] = {};
  in.read(first, sizeof first);
  if (begins_as_ours({first, static_cast<std::size_t>(in.gcount())})) return {};
  return "'" + path +
         "' is there and was not written by streambed, so it is not written over, with --force "
         "neither. Choose another name, or remove it.";
}

set_aside::set_aside(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return;  // there is none, or whoever writes it says why not
  in_use_ = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!in_use_) {
    std::error_code failed;
    place_ = fs::canonical(path, failed).string();
    beside_ = (fs::path(place_).parent_path() / ".streambed-old-XXXXXX").string();
    const int name = ::mkostemp(beside_.data(), O_CLOEXEC);
    const bool moved = name >= 0 && ::rename(place_.c_str(), beside_.c_str()) == 0;
    if (!moved) {
      if (name >= 0) ::unlink(beside_.c_str());
      beside_.clear();
      [[maybe_unused]] const int done = ::ftruncate(file, 0);
    }
    if (name >= 0) ::close(name);
  }
  ::close(file);
}

set_aside::~set_aside() {
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

void set_aside::put_back() {
  if (!beside_.empty() && ::rename(beside_.c_str(), place_.c_str()) == 0) beside_.clear();
}

}  // namespace sb::tools
