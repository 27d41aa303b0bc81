#include "engine/event_watch.hpp"

#include <pthread.h>

#include <algorithm>

#include "engine/fault.hpp"
#include "engine/races.hpp"

namespace sb::engine {

namespace {

// Between two looks at several waits; a single one is waited for itself.
constexpr auto look_every = std::chrono::microseconds(200);

}  // namespace

event_watch::event_watch(std::function<bool(node&, bool)> over, std::function<void(node&)> complete)
    : over_(std::move(over)), complete_(std::move(complete)) {}

event_watch::~event_watch() { stop(std::chrono::hours(24)); }

void event_watch::push(node& n) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    pending_.push_back(&n);
    if (!thread_.joinable()) {
      ended_ = false;
      thread_ = std::thread([this] { main(); });
    }
  }
  changed_.notify_all();
}

bool event_watch::stop(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  if (!thread_.joinable()) return ended_;
  if (!changed_.wait_for(lock, patience, [&] { return ended_; })) {
    thread_.detach();
    return false;
  }
  std::thread done = std::move(thread_);
  lock.unlock();
  done.join();
  return true;
}

void event_watch::main() {
  const unwatched quiet;
  pthread_setname_np(pthread_self(), "sb-events");
  take_only_faults();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (pending_.empty()) {
      changed_.wait(lock, [&] { return stopping_ || !pending_.empty(); });
      continue;
    }
    const std::vector<node*> now = pending_;
    lock.unlock();
    std::vector<node*> over;
    for (node* n : now) {
      if (over_(*n, now.size() == 1)) over.push_back(n);
    }
    lock.lock();
    std::erase_if(pending_,
                  [&](node* n) { return std::find(over.begin(), over.end(), n) != over.end(); });
    if (over.empty()) {
      if (now.size() != 1) changed_.wait_for(lock, look_every, [&] { return stopping_; });
      continue;
    }
    lock.unlock();
    for (node* n : over) complete_(*n);
    lock.lock();
  }
  ended_ = true;
  changed_.notify_all();
}

}  // namespace sb::engine
