#include "process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

extern char** environ;

namespace sb::tools {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t running_child = 0;

void pass_on(int signal) {
  if (running_child > 0) kill(running_child, signal);
}

volatile std::sig_atomic_t ran_out_of_time = 0;

void note_time(int) { ran_out_of_time = 1; }

// Tells by SIGALRM when a child's time is over, and then again and again: a signal that comes just
// before a call that it should interrupt is not lost.
class time_limit {
 public:
  explicit time_limit(int seconds) : set_(seconds > 0) {
    ran_out_of_time = 0;
    if (!set_) return;
    struct sigaction note = {};
    note.sa_handler = note_time;
    sigaction(SIGALRM, &note, &before_);
    const itimerval when = {{0, 50'000}, {seconds, 0}};
    setitimer(ITIMER_REAL, &when, nullptr);
  }
  ~time_limit() {
    if (!set_) return;
    const itimerval never = {};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }
  time_limit(const time_limit&) = delete;
  time_limit& operator=(const time_limit&) = delete;

 private:
  const bool set_;
  struct sigaction before_ = {};
};

// Waits for the child's end. When its time is over it is asked to end, and killed if it does not.
int wait_for_end(pid_t pid, const spawn_options& options) {
  using clock = std::chrono::steady_clock;
  constexpr auto grace = std::chrono::seconds(10);
  const time_limit limit(options.seconds);
  clock::time_point patience_ends;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    if (ran_out_of_time == 0) continue;
    if (!std::exchange(options.timed_out, true) && options.ask_to_end && options.ask_to_end())
      patience_ends = clock::now() + grace;
    if (clock::now() >= patience_ends) kill(pid, SIGKILL);
  }
  return status;
}

// Ctrl-C reaches the child by itself, being in our process group: we only must not end before it.
// SIGTERM and SIGHUP come to us alone.
class signal_guard {
 public:
  signal_guard() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt_);
    sigaction(SIGQUIT, &ignore, &quit_);
    struct sigaction forward = {};
    forward.sa_handler = pass_on;
    sigaction(SIGTERM, &forward, &terminate_);
    sigaction(SIGHUP, &forward, &hang_up_);
  }
  ~signal_guard() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
    sigaction(SIGHUP, &hang_up_, nullptr);
  }
  signal_guard(const signal_guard&) = delete;
  signal_guard& operator=(const signal_guard&) = delete;

 private:
  struct sigaction interrupt_ = {}, quit_ = {}, terminate_ = {}, hang_up_ = {};
};

std::vector<std::string> merged_environment(const spawn_options& options) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : options.environment) {
      replaced = replaced || text.substr(0, text.find('=')) == name;
    }
    if (!replaced) result.emplace_back(text);
  }
  for (const auto& [name, value] : options.environment) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& s : strings) result.push_back(s.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

int run_process(const std::vector<std::string>& command, const spawn_options& options) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = merged_environment(options);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (options.silent) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  } else if (!options.output.empty()) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, options.output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  if (!options.errors.empty()) {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, options.errors.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  if (options.kept >= 0) posix_spawn_file_actions_adddup2(&actions, options.kept, options.kept);
  // The child must not inherit that SIGINT and SIGQUIT are ignored.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

  // A signal that comes before the child is known would get lost: it waits until then.
  signal_guard guard;
  sigset_t forwarded, before;
  sigemptyset(&forwarded);
  sigaddset(&forwarded, SIGTERM);
  sigaddset(&forwarded, SIGHUP);
  sigprocmask(SIG_BLOCK, &forwarded, &before);
  posix_spawnattr_setsigmask(&attributes, &before);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0].c_str(), &actions, &attributes,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) running_child = pid;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    errno = error;
    return 127;
  }
  const int status = wait_for_end(pid, options);
  running_child = 0;
  errno = 0;
  options.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return options.signal != 0 ? 128 + options.signal : WEXITSTATUS(status);
}

end_request::end_request() {
  if (pipe2(ends_, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
}

end_request::~end_request() {
  for (const int end : ends_) close(end);
}

void end_request::give(spawn_options& how) const {
  how.kept = ends_[0];
  how.environment.emplace_back("STREAMBED_END_REQUEST", std::to_string(ends_[0]));
}

bool end_request::send() const { return write(ends_[1], "!", 1) == 1; }

std::string find_program(const std::string& name) {
  const auto is_program = [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    if (is_program(candidate)) return candidate.string();
  }
  return "";
}

std::string find_browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome", "chrome"}) {
    if (std::string found = find_program(name); !found.empty()) return found;
  }
  return {};
}

temporary_directory::temporary_directory() {
  std::string pattern = (fs::temp_directory_path() / "streambed-XXXXXX").string();
  if (!mkdtemp(pattern.data())) {
    throw std::system_error(errno, std::generic_category(), "cannot make a folder like " + pattern);
  }
  path_ = pattern;
}

temporary_directory::~temporary_directory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace sb::tools
