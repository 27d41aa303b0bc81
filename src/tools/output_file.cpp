#include "output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace sb::tools {

namespace fs = std::filesystem;

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
    if (S_ISREG(now.st_mode)) return ::access(path.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
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

bool emptied(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return true;  // whoever writes it says why not
  const bool written = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  [[maybe_unused]] const int done = written ? 0 : ::ftruncate(file, 0);
  ::close(file);
  return !written;
}

}  // namespace sb::tools
