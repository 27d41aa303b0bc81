#include "engine/lane.hpp"

#include <pthread.h>

#include "engine/fault.hpp"
#include "engine/races.hpp"

namespace sb::engine {

lane::lane(const char* name, std::function<void(node&)> work, std::function<void()> rest)
    : name_(name), work_(std::move(work)), rest_(std::move(rest)) {}

lane::~lane() { stop(std::chrono::hours(24)); }

void lane::push(node& n) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    nodes_.push_back(&n);
    if (!busy_) waits_.store(true, std::memory_order_relaxed);
    if (!thread_.joinable()) {
      over_ = false;
      thread_ = std::thread([this] { main(); });
    }
  }
  changed_.notify_all();
}

bool lane::stop(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  if (!thread_.joinable()) return over_;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
    return false;
  }
  if (!changed_.wait_for(lock, patience, [&] { return over_ && !busy_; })) {
    thread_.detach();
    return false;
  }
  std::thread done = std::move(thread_);
  lock.unlock();
  done.join();
  return true;
}

void lane::main() {
  const unwatched quiet;
  pthread_setname_np(pthread_self(), name_);
  take_only_faults();
  signal_stack handlers;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || (!nodes_.empty() && !busy_); });
    if (stopping_) break;
    do_first(lock, true);
  }
  over_ = true;
  changed_.notify_all();
}

// Called with the lock, which is not held meanwhile.
void lane::do_first(std::unique_lock<std::mutex>& lock, bool goes_on) {
  node* n = nodes_.front();
  nodes_.pop_front();
  if (waits()) waits_.store(false, std::memory_order_relaxed);
  busy_ = true;
  lock.unlock();
  work_(*n);
  lock.lock();
  if (rest_ && (nodes_.empty() || stopping_ || !goes_on)) {
    lock.unlock();
    rest_();
    lock.lock();
  }
  busy_ = false;
}

}  // namespace sb::engine
