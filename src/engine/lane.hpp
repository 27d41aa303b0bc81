// A thread that works off operations in order: a copy engine, or the one that runs host functions.
// A thread of the program that waits for one may do it in its place.
//
// Thread safety: every member may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace sb::engine {

struct node;

// The thread starts at the first use.
class lane {
 public:
  // `rest` is called when whoever did a node does no other one behind it.
  lane(const char* name, std::function<void(node&)> work, std::function<void()> rest = {});
  ~lane();  // nodes that have not begun are dropped
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  void push(node& n);
  // A node does, and nobody is with the one before it; a hint.
  [[nodiscard]] bool waits() const { return waits_.load(std::memory_order_relaxed); }
  // By a thread that has nothing else to do, and is awake, where that of the lane takes some 50 us
  // to wake up: does the first node, if `wants` says so and nobody has begun with it.
  template <class Wants>
  bool help(Wants&& wants) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || stopping_ || busy_ || nodes_.empty() || !wants(*nodes_.front())) return false;
    do_first(lock, false);
    if (!nodes_.empty()) waits_.store(true, std::memory_order_relaxed);
    if (stopping_ || !nodes_.empty()) changed_.notify_all();
    return true;
  }
  // Ends the thread. Does not wait for it when it is the calling one; false when it is still busy
  // after `patience`: then the lane must outlive it.
  bool stop(std::chrono::milliseconds patience);

 private:
  void main();
  void do_first(std::unique_lock<std::mutex>& lock, bool goes_on);

  const char* name_;
  const std::function<void(node&)> work_;
  const std::function<void()> rest_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<node*> nodes_;
  std::thread thread_;
  bool busy_ = false;  // somebody is with a node
  bool stopping_ = false;
  bool over_ = true;  // no thread
  // Written under mutex_. Who waits for the program looks at it all the time: it lies apart from
  // what the lane's thread writes for each node, and does not change while that has the next one.
  alignas(64) std::atomic<bool> waits_{false};
};

}  // namespace sb::engine
