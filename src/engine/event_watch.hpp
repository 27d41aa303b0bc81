// Waits of streams for events of other processes: one thread looks after all of them.
//
// Thread safety: every member may be called from any thread. The functions given are called on the
// watching thread, under no lock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sb::engine {

struct node;

// The thread starts at the first use.
class event_watch {
 public:
  // `over` tells whether a node's wait is over, waiting for it a little when it is the only one;
  // `complete` hears of it.
  event_watch(std::function<bool(node&, bool alone)> over, std::function<void(node&)> complete);
  ~event_watch();
  event_watch(const event_watch&) = delete;
  event_watch& operator=(const event_watch&) = delete;

  void push(node& n);
  // Ends the thread; what is pending is dropped. False when it is still busy after `patience`.
  bool stop(std::chrono::milliseconds patience);

 private:
  void main();

  const std::function<bool(node&, bool)> over_;
  const std::function<void(node&)> complete_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<node*> pending_;
  std::thread thread_;
  bool stopping_ = false;
  bool ended_ = true;  // no thread
};

}  // namespace sb::engine
