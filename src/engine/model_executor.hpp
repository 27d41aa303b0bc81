// Runs work of a modelled device: one thread, one piece after another, so that every run does the
// same in the same order.
//
// Thread safety: one caller at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/block.hpp"
#include "engine/loop_job.hpp"
#include "engine/worker.hpp"

namespace sb::engine {

class model_executor {
 public:
  model_executor();
  ~model_executor();  // waits for what runs
  model_executor(const model_executor&) = delete;
  model_executor& operator=(const model_executor&) = delete;

  // Returns when `what` has run on the executor's thread.
  void run(const std::function<void(worker&)>& what);

  block* take_block();
  void give_block(block* b);

 private:
  void main();

  stack_pools stacks_;
  std::vector<std::unique_ptr<block>> blocks_;
  std::vector<block*> spare_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(worker&)>* next_ = nullptr;  // guarded by mutex_, as the next
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sb::engine
