#include "whole_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace sb::tools {

namespace fs = std::filesystem;

namespace {

// Where links lead. Those of /proc stand for open files, as /dev/stdout does: what is behind them
// is written to as it is open, whatever it is.
struct destination {
  fs::path path;
  bool is_open_file = false;
};

destination destination_of(const fs::path& given) {
  constexpr int most_links = 40;  // as the system
  std::error_code failed;
  destination found{fs::absolute(given, failed)};
  for (int i = 0; i < most_links; ++i) {
    if (!fs::is_symlink(fs::symlink_status(found.path, failed))) return found;
    const fs::path folder = fs::canonical(found.path.parent_path(), failed);
    if (failed) return found;
    if (folder.string().starts_with("/proc/")) return {given, true};
    found.path = folder / fs::read_symlink(found.path, failed);
  }
  return found;
}

bool is_regular(const fs::path& path, struct stat& now) {
  return ::stat(path.c_str(), &now) == 0 && S_ISREG(now.st_mode);
}

mode_t mode_of_new_files() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

bool takes_the_place_of_a_file(const std::string& path) {
  struct stat now{};
  return is_regular(path, now) && !destination_of(path).is_open_file;
}

whole_output::whole_output(const std::string& path) {
  if (path.empty()) {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  const destination to = destination_of(path);
  struct stat now{};
  const bool is_new = ::stat(to.path.c_str(), &now) != 0 && errno == ENOENT;
  if (!to.is_open_file && (is_new || S_ISREG(now.st_mode))) {
    open_beside(to.path.string());
  } else {
    open_itself(path);
  }
}

void whole_output::open_beside(const std::string& path) {
  struct stat now{};
  const bool exists = is_regular(path, now);
  if (exists && ::access(path.c_str(), W_OK) != 0) return fail();
  std::string beside = (fs::path(path).parent_path() / ".streambed-part-XXXXXX").string();
  descriptor_ = ::mkostemp(beside.data(), O_CLOEXEC);
  if (descriptor_ < 0) return fail();
  owned_ = true;
  place_ = path;
  beside_ = beside;
  if (::fchmod(descriptor_, exists ? now.st_mode & 0777 : mode_of_new_files()) != 0) fail();
}

void whole_output::open_itself(const std::string& path) {
  struct stat now{}, standard{};
  const bool known = ::stat(path.c_str(), &now) == 0;
  if (known && S_ISBLK(now.st_mode)) {
    problem_ = "it is a disk";
    return;
  }
  // Opened anew, a file would be written from its beginning, behind the back of who has it open.
  if (known && ::fstat(STDOUT_FILENO, &standard) == 0 && now.st_dev == standard.st_dev &&
      now.st_ino == standard.st_ino) {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
  if (descriptor_ < 0) return fail();
  owned_ = true;
}

whole_output::~whole_output() {
  if (owned_) ::close(descriptor_);
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

void whole_output::fail() {
  if (problem_.empty()) problem_ = std::strerror(errno);
}

void whole_output::add(std::string_view part) {
  if (!problem_.empty()) return;
  waiting_.append(part);
  if (waiting_.size() >= piece) flush();
}

void whole_output::flush() {
  std::string_view rest = waiting_;
  while (problem_.empty() && !rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail();
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  waiting_.clear();
}

bool whole_output::finish() {
  flush();
  if (owned_) {
    owned_ = false;
    if (::close(descriptor_) != 0) fail();
  }
  if (!problem_.empty() || beside_.empty()) return problem_.empty();
  if (::rename(beside_.c_str(), place_.c_str()) != 0) {
    fail();
    return false;
  }
  beside_.clear();
  return true;
}

std::string write_whole(const std::string& path, std::string_view contents) {
  whole_output out(path);
  out.add(contents);
  return out.finish() ? std::string() : out.problem();
}

}  // namespace sb::tools
