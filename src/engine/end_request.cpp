#include "engine/end_request.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <utility>

#include "engine/races.hpp"

namespace sb::engine {

namespace {

// The pipe, as a file that the program does not know and cannot close; -1: there is none.
int pipe_in_environment() {
  const char* text = std::getenv("STREAMBED_END_REQUEST");
  if (text == nullptr || *text == 0) return -1;
  char* end = nullptr;
  const long file = std::strtol(text, &end, 10);
  struct stat what{};
  if (*end != 0 || file < 0 || fstat(static_cast<int>(file), &what) != 0 || !S_ISFIFO(what.st_mode))
    return -1;
  // Programs that close every file they may have inherited begin with the low numbers.
  constexpr int first = 1000;
  const int moved = fcntl(static_cast<int>(file), F_DUPFD_CLOEXEC, first);
  return moved >= 0 ? moved : fcntl(static_cast<int>(file), F_DUPFD_CLOEXEC, 3);
}

}  // namespace

void watch_for_end_request(std::function<void()> end) {
  const int file = pipe_in_environment();
  if (file < 0) return;
  std::thread([file, end = std::move(end)] {
    const unwatched quiet;
    pthread_setname_np(pthread_self(), "sb-end");
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pollfd request{file, POLLIN, 0};
    while (poll(&request, 1, -1) < 0 && errno == EINTR) {
    }
    if ((request.revents & POLLIN) != 0) end();  // else: whoever could ask is gone
  }).detach();
}

}  // namespace sb::engine
