// Threads that wait for each other for so short that the C++ library looks for the end of its waits
// by itself, or that do so in loops of their own. The first argument says how; with a second one a
// thread also does something of its own before each kernel.
#include <cuda_runtime.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

__global__ void short_kernel(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

static constexpr int turns = 8, pool = 4;
static std::chrono::microseconds own{0};
static constexpr std::chrono::microseconds limit{2};

struct worker {
  cudaStream_t stream;
  worker() { cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); }
  void go(long long cycles) {
    if (own.count() != 0) std::this_thread::sleep_for(own);
    short_kernel<<<1, 32, 0, stream>>>(cycles);
    if (cudaStreamSynchronize(stream) != cudaSuccess) std::abort();
  }
};

struct by_semaphore {
  std::counting_semaphore<4> count;
  explicit by_semaphore(int n) : count(n) {}
  void take() { count.acquire(); }
  void give() { count.release(); }
};
struct by_atomic {
  std::atomic<int> count;
  explicit by_atomic(int n) : count(n) {}
  void take() {
    count.wait(0);
    --count;
  }
  void give() {
    ++count;
    count.notify_one();
  }
};
struct by_yielding {
  std::atomic<int> count;
  explicit by_yielding(int n) : count(n) {}
  void take() {
    while (count == 0) std::this_thread::yield();
    --count;
  }
  void give() { ++count; }
};

// With a time limit, until it is there.
struct by_timed_semaphore {
  std::counting_semaphore<4> count;
  explicit by_timed_semaphore(int n) : count(n) {}
  void take() {
    while (!count.try_acquire_for(limit)) {
    }
  }
  void give() { count.release(); }
};
struct by_timed_condition {
  std::mutex lock;
  std::condition_variable some;
  int count;
  explicit by_timed_condition(int n) : count(n) {}
  void take() {
    std::unique_lock held(lock);
    while (count == 0) some.wait_for(held, limit);
    --count;
  }
  void give() {
    const std::lock_guard held(lock);
    ++count;
    some.notify_one();
  }
};
struct by_timed_future {
  std::vector<std::promise<void>> given{turns + 1};
  int taken = 0, next = 0;
  explicit by_timed_future(int n) {
    if (n != 0) give();
  }
  void take() {
    const std::future<void> one = given[taken++].get_future();
    while (one.wait_for(limit) != std::future_status::ready) {
    }
  }
  void give() { given[next++].set_value(); }
};
struct by_sleeping {
  std::atomic<int> count;
  explicit by_sleeping(int n) : count(n) {}
  void take() {
    while (count == 0) std::this_thread::sleep_for(limit);
    --count;
  }
  void give() { ++count; }
};

// Two threads in turn.
template <class Token>
static void relay() {
  Token first(1), second(0);
  const auto run = [](Token& mine, Token& others) {
    worker w;
    for (int i = 0; i < turns; ++i) {
      mine.take();
      w.go(500);
      others.give();
    }
  };
  std::thread one([&] { run(first, second); }), other([&] { run(second, first); });
  one.join();
  other.join();
}

// Threads that meet behind kernels of different lengths.
template <class Meet>
static void meetings(Meet meet) {
  std::vector<std::thread> threads;
  for (int k = 0; k < pool; ++k)
    threads.emplace_back([=] {
      worker w;
      for (int i = 0; i < turns; ++i) {
        w.go((k + 1) * 900);
        meet(i);
      }
    });
  for (std::thread& t : threads) t.join();
}

// One at a time, by a lock that nobody waits for.
static void try_lock() {
  std::mutex lock;
  std::vector<std::thread> threads;
  for (int k = 0; k < pool; ++k)
    threads.emplace_back([&] {
      worker w;
      for (int i = 0; i < turns; ++i) {
        while (!lock.try_lock()) std::this_thread::yield();
        w.go(20000);
        lock.unlock();
      }
    });
  for (std::thread& t : threads) t.join();
}

// A thread that does not get the lock within its time goes on without it.
static void gives_up() {
  std::timed_mutex lock;
  std::promise<void> taken, over;
  std::thread other([&] {
    const std::lock_guard held(lock);
    worker w;
    taken.set_value();
    over.get_future().wait();
  });
  taken.get_future().wait();
  worker w;
  for (int i = 0; i < turns; ++i) {
    w.go(5000);
    if (lock.try_lock_for(std::chrono::microseconds(20))) std::abort();
  }
  over.set_value();
  other.join();
}

// Nobody else is there.
static void alone() {
  worker w;
  for (int i = 0; i < turns; ++i) {
    w.go(5000);
    for (int k = 0; k < 20; ++k) std::this_thread::yield();
  }
}

int main(int, char** arguments) {
  const std::string how = arguments[1];
  if (arguments[2] != nullptr) own = std::chrono::microseconds(std::atoi(arguments[2]));
  if (how == "semaphore") relay<by_semaphore>();
  if (how == "atomic") relay<by_atomic>();
  if (how == "yields") relay<by_yielding>();
  if (how == "timed_semaphore") relay<by_timed_semaphore>();
  if (how == "timed_condition") relay<by_timed_condition>();
  if (how == "timed_future") relay<by_timed_future>();
  if (how == "sleeps") relay<by_sleeping>();
  if (how == "barrier") {
    auto all = std::make_shared<std::barrier<>>(pool);
    meetings([=](int) { all->arrive_and_wait(); });
  }
  if (how == "latch") {
    auto all = std::make_shared<std::vector<std::unique_ptr<std::latch>>>();
    for (int i = 0; i < turns; ++i) all->push_back(std::make_unique<std::latch>(pool));
    meetings([=](int i) { (*all)[i]->arrive_and_wait(); });
  }
  if (how == "try_lock") try_lock();
  if (how == "gives_up") gives_up();
  if (how == "alone") alone();
}
