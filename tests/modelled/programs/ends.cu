// Threads that still wait when main is over, and other ends. `pool`: the destructor of a global
// object tells its thread and joins it; `word`: the same by an atomic; `detached`: nobody tells the
// thread; `fork`: a child that sleeps; `barrier`: one that is destroyed as soon as one thread is
// through; `own`: a thread that waits for itself; `left`: main leaves before the first kernel.
#include <cuda_runtime.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

__global__ void nothing() {}

static bool run_kernel() {
  nothing<<<1, 1>>>();
  return cudaDeviceSynchronize() == cudaSuccess;
}

class waiter {
 public:
  ~waiter() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard held(lock_);
      over_ = true;
    }
    told_.notify_all();
    word_ = 1;
    word_.notify_all();
    thread_.join();
    std::puts("joined");
  }
  void start(bool by_word) {
    thread_ = std::thread([this, by_word] {
      if (by_word) return word_.wait(0);
      std::unique_lock held(lock_);
      told_.wait(held, [this] { return over_; });
    });
  }
  void detach() { thread_.detach(); }

 private:
  std::mutex lock_;
  std::condition_variable told_;
  bool over_ = false;
  std::atomic<int> word_{0};
  std::thread thread_;
};

static waiter at_end;

static bool forked() {
  if (fork() == 0) {
    usleep(1000);
    _exit(7);
  }
  int status = 0;
  return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static bool at_barriers() {
  pthread_barrier_t barrier;
  std::atomic<int> again{0};
  pthread_barrier_init(&barrier, nullptr, 2);
  std::thread other([&] {
    pthread_barrier_wait(&barrier);
    again.wait(0);
    pthread_barrier_wait(&barrier);
  });
  pthread_barrier_wait(&barrier);
  pthread_barrier_destroy(&barrier);
  pthread_barrier_init(&barrier, nullptr, 2);
  again = 1;
  again.notify_all();
  pthread_barrier_wait(&barrier);
  pthread_barrier_destroy(&barrier);
  other.join();
  return true;
}

static bool by_itself() {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_wrlock(&lock);
  const bool refused = pthread_rwlock_wrlock(&lock) == EDEADLK;
  pthread_mutexattr_t checks;
  pthread_mutexattr_init(&checks);
  pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, &checks);
  pthread_mutex_lock(&mutex);
  return refused && pthread_mutex_lock(&mutex) == EDEADLK;
}

[[noreturn]] static void leave_to_another() {
  const pthread_t main_thread = pthread_self();
  std::thread([main_thread] {
    pthread_join(main_thread, nullptr);
    std::puts(run_kernel() ? "ok" : "wrong");
    std::exit(0);
  }).detach();
  pthread_exit(nullptr);
}

int main(int, char** argv) {
  const std::string how = argv[1];
  if (how == "left") leave_to_another();
  bool right = run_kernel();
  if (how == "pool" || how == "word") at_end.start(how == "word");
  if (how == "detached") {
    auto* const for_ever = new waiter;  // what a thread waits with must not be destroyed
    for_ever->start(false);
    for_ever->detach();
  }
  if (how == "fork") right = right && forked();
  if (how == "barrier")
    for (int i = 0; i < 20; ++i) right = right && at_barriers();
  if (how == "own") right = right && by_itself();
  std::puts(right && run_kernel() ? "ok" : "wrong");
}
