// Loaded behind the library that stands before the C library: makes threads begin early or late.
// With THREAD_STARTS=early, pthread_create returns when the new thread has come to rest; with
// `late`, a thread begins when all of the process rests, those before it first. With
// THREAD_STARTS=holding, a thread that has waited for a time in vain keeps its lock for a while.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace {

constexpr int looks_at_rest = 5;  // a thread rests when it does so at this many looks
constexpr int most_looks = 400;   // what never rests is not waited for

bool asleep(const char* thread) {
  char path[64], text[256];
  std::snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", thread);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  text[size > 0 ? size : 0] = 0;
  const char* name_end = std::strrchr(text, ')');
  return name_end != nullptr && name_end[2] == 'S';
}

// Whether the thread, or all others than the calling one (0), are asleep.
bool rests(pid_t thread) {
  if (thread != 0) return asleep(std::to_string(thread).c_str());
  const std::string own = std::to_string(gettid());
  DIR* tasks = opendir("/proc/self/task");
  bool all = true;
  while (const dirent* one = readdir(tasks))
    if (one->d_name[0] != '.' && one->d_name != own) all = all && asleep(one->d_name);
  closedir(tasks);
  return all;
}

void wait_a_moment() {
  const timespec a_moment{0, 300'000};
  syscall(SYS_nanosleep, &a_moment, nullptr);  // the C library's would be modelled
}

void await_rest(pid_t thread) {
  int rested = 0;
  for (int i = 0; i < most_looks && rested < looks_at_rest; ++i) {
    rested = rests(thread) ? rested + 1 : 0;
    wait_a_moment();
  }
}

std::atomic<int> made{0}, begun{0};

struct beginning {
  void* (*run)(void*);
  void* argument;
  int late;  // its number, or -1
  std::atomic<pid_t>* id;
};

void* begin(void* given) {
  const beginning b = *static_cast<beginning*>(given);
  delete static_cast<beginning*>(given);
  if (b.late >= 0) {
    while (begun != b.late) wait_a_moment();
    await_rest(0);
    ++begun;
  }
  if (b.id != nullptr) *b.id = gettid();
  return b.run(b.argument);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* out, const pthread_attr_t* attributes, void* (*run)(void*),
    void* argument) noexcept {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  const char* asked = std::getenv("THREAD_STARTS");
  const bool early = asked != nullptr && std::strcmp(asked, "early") == 0;
  const bool late = asked != nullptr && std::strcmp(asked, "late") == 0;
  std::atomic<pid_t> id{0};
  auto* b = new beginning{run, argument, late ? made++ : -1, early ? &id : nullptr};
  const int result = real(out, attributes, &begin, b);
  if (early && result == 0) {
    while (id == 0) wait_a_moment();
    await_rest(id);
  }
  return result;
}

extern "C" __attribute__((visibility("default"))) int pthread_cond_clockwait(
    pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  static const auto real = reinterpret_cast<decltype(&pthread_cond_clockwait)>(
      dlsym(RTLD_NEXT, "pthread_cond_clockwait"));
  const int result = real(condition, mutex, clock, until);
  const char* asked = std::getenv("THREAD_STARTS");
  if (result == ETIMEDOUT && asked != nullptr && std::strcmp(asked, "holding") == 0)
    for (int i = 0; i < 10; ++i) wait_a_moment();
  return result;
}
