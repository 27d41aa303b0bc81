#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace sb::nvcc {
namespace {

std::atomic<int> received_signal{0};
// A fixed array, because the signal handler reads it.
std::array<std::atomic<pid_t>, 64> running{};

void pass_on(int signal) {
  const int saved = errno;
  received_signal.store(signal);
  for (auto& slot : running)
    if (const pid_t pid = slot.load(); pid > 0) kill(pid, signal);
  errno = saved;
}

void note_started(pid_t pid) {
  for (auto& slot : running) {
    pid_t expected = 0;
    if (slot.compare_exchange_strong(expected, pid)) break;
  }
  // A signal between spawn and here has missed this child.
  if (const int signal = received_signal.load()) kill(pid, signal);
}

void note_ended(pid_t pid) {
  for (auto& slot : running) {
    pid_t expected = pid;
    if (slot.compare_exchange_strong(expected, 0)) break;
  }
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = pass_on;
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int pending_signal() { return received_signal.load(); }

child::child(const arguments& command, const settings& how) {
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  std::vector<char*> env;
  for (char** variable = environ; *variable != nullptr; ++variable) env.push_back(*variable);
  for (const std::string& variable : how.environment)
    env.push_back(const_cast<char*>(variable.c_str()));
  env.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  int ends[2] = {-1, -1};
  if (how.capture_errors) {
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw fatal_error(std::string("Could not create a pipe: ") + std::strerror(errno));
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  }
  if (how.inherit_as_3 >= 0) posix_spawn_file_actions_adddup2(&actions, how.inherit_as_3, 3);
  if (!how.standard_output.empty())
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, how.standard_output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0666);
  // SIGPIPE is ignored in the driver only.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

  const int error = posix_spawnp(&pid_, argv[0], &actions, &attributes, argv.data(), env.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (ends[1] >= 0) close(ends[1]);
  errors_ = ends[0];
  if (error != 0) {
    pid_ = -1;
    if (errors_ >= 0) close(errors_);
    errors_ = -1;
    throw fatal_error("Could not start '" + command[0] + "': " + std::strerror(error));
  }
  note_started(pid_);
}

child::~child() {
  if (pid_ > 0) {
    stop();
    wait();
  }
}

void child::stop() {
  if (pid_ > 0) kill(pid_, SIGTERM);
}

finished child::wait(int feed_descriptor, const std::string& feed) {
  finished result;
  std::size_t fed = 0;
  if (feed_descriptor >= 0)
    fcntl(feed_descriptor, F_SETFL, fcntl(feed_descriptor, F_GETFL) | O_NONBLOCK);
  const auto end_feeding = [&] {
    if (feed_descriptor >= 0) close(feed_descriptor);
    feed_descriptor = -1;
  };
  while (errors_ >= 0 || feed_descriptor >= 0) {
    if (feed_descriptor >= 0 && fed == feed.size()) {
      end_feeding();
      continue;
    }
    std::array<pollfd, 2> watched{{{errors_, POLLIN, 0}, {feed_descriptor, POLLOUT, 0}}};
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) break;
    if (watched[0].revents != 0) {
      char buffer[16384];
      const ssize_t count = read(errors_, buffer, sizeof buffer);
      if (count > 0) {
        result.errors.append(buffer, static_cast<std::size_t>(count));
      } else if (count == 0 || errno != EINTR) {
        close(errors_);
        errors_ = -1;
      }
    }
    if (watched[1].revents != 0) {
      const ssize_t count = write(feed_descriptor, feed.data() + fed, feed.size() - fed);
      if (count > 0)
        fed += static_cast<std::size_t>(count);
      else if (errno != EINTR && errno != EAGAIN)
        end_feeding();  // the reader has gone
    }
  }
  end_feeding();
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  note_ended(pid_);
  pid_ = -1;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

finished run(const arguments& command, const child::settings& how) {
  child process(command, how);
  return process.wait();
}

void scratch_directory::keep_in(const std::string& directory) {
  path_ = directory;
  keep_ = true;
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) throw fatal_error("Could not create '" + path_ + "': " + error.message());
}

scratch_directory::~scratch_directory() {
  std::error_code ignored;
  if (!keep_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string scratch_directory::file(const std::string& name) {
  if (path_.empty()) {
    const char* base = std::getenv("TMPDIR");
    std::string pattern = std::string(base && *base ? base : "/tmp") + "/streambed-nvcc-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr)
      throw fatal_error("Could not create a temporary directory '" + pattern +
                        "': " + std::strerror(errno) + ". Set TMPDIR to a writable directory.");
    path_ = pattern;
  }
  return path_ + "/" + name;
}

bool is_executable(const std::string& path) {
  struct stat status;
  return access(path.c_str(), X_OK) == 0 && stat(path.c_str(), &status) == 0 &&
         S_ISREG(status.st_mode);
}

bool file_exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

void remove_output(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_executable(name) ? name : "";
  const char* path = std::getenv("PATH");
  for (const std::string& directory : split(path ? path : "/usr/bin:/bin", ':')) {
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (is_executable(candidate)) return candidate;
  }
  return {};
}

}  // namespace sb::nvcc
