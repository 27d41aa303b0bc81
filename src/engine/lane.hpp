// A thread that works off operations in order: a copy engine, or the one that runs host functions.
//
// Thread safety: every member may be called from any thread.
#pragma once

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
  lane(const char* name, std::function<void(node&)> work);
  ~lane();  // nodes that have not begun are dropped
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  void push(node& n);
  // Ends the thread. Does not wait for it when it is the calling one; false when it is still busy
  // after `patience`: then the lane must outlive it.
  bool stop(std::chrono::milliseconds patience);

 private:
  void main();

  const char* name_;
  const std::function<void(node&)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<node*> nodes_;
  std::thread thread_;
  bool stopping_ = false;
  bool over_ = true;  // no thread
};

}  // namespace sb::engine
