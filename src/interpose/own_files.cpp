#include "interpose/own_files.hpp"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "interpose/timer_table.hpp"

namespace sb::interpose {

namespace {

// What the system says that it is.
enum class file_kind { other, counter, signals, set };
file_kind kind_of(int file) {
  char path[64], told[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(path, told, sizeof told);
  const std::string_view name(told, length > 0 ? static_cast<std::size_t>(length) : 0);
  if (name == "anon_inode:[eventfd]") return file_kind::counter;
  if (name == "anon_inode:[signalfd]") return file_kind::signals;
  if (name == "anon_inode:[eventpoll]") return file_kind::set;
  return file_kind::other;
}

// A signal that no timer sends comes from outside.
bool has_signals_of_timers(int file) {
  char path[64], line[128];
  std::snprintf(path, sizeof path, "/proc/self/fdinfo/%d", file);
  std::FILE* told = std::fopen(path, "re");
  if (told == nullptr) return false;
  unsigned long long mask = 0;
  while (std::fgets(line, sizeof line, told) != nullptr)
    if (std::sscanf(line, "sigmask: %llx", &mask) == 1) break;
  std::fclose(told);
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if ((mask >> (signal - 1) & 1) != 0) sigaddset(&signals, signal);
  return sends_one_of(signals);
}

bool has_own_files_alone(int set) {
  char path[64], line[256];
  std::snprintf(path, sizeof path, "/proc/self/fdinfo/%d", set);
  std::FILE* told = std::fopen(path, "re");
  if (told == nullptr) return false;
  bool own = true;
  int file = -1;
  while (own && std::fgets(line, sizeof line, told) != nullptr)
    if (std::sscanf(line, "tfd: %d", &file) == 1) own = is_own_file(file);
  std::fclose(told);
  return own && file >= 0;
}

}  // namespace

bool is_own_file(int file) {
  switch (kind_of(file)) {
    case file_kind::counter:
      return true;
    case file_kind::signals:
      return has_signals_of_timers(file);
    case file_kind::set:
      return has_own_files_alone(file);
    case file_kind::other:
      break;
  }
  return false;
}

bool is_nonblocking(int file) {
  const int flags = fcntl(file, F_GETFL);
  return flags < 0 || (flags & O_NONBLOCK) != 0;
}

void note_read_signals(int file, void* read, std::size_t bytes) {
  if (bytes % sizeof(signalfd_siginfo) != 0 || kind_of(file) != file_kind::signals) return;
  auto* each = static_cast<signalfd_siginfo*>(read);
  for (std::size_t i = 0; i < bytes / sizeof *each; ++i) {
    if (each[i].ssi_code != SI_TIMER) continue;
    siginfo_t info{};
    info.si_signo = static_cast<int>(each[i].ssi_signo);
    info.si_code = SI_TIMER;
    info.si_timerid = static_cast<int>(each[i].ssi_tid);
    accepted(info);
    each[i].ssi_code = info.si_code;
    each[i].ssi_tid = static_cast<std::uint32_t>(info.si_timerid);
    each[i].ssi_overrun = static_cast<std::uint32_t>(info.si_overrun);
  }
}

}  // namespace sb::interpose
