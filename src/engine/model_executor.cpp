#include "engine/model_executor.hpp"

#include <pthread.h>

#include "engine/fault.hpp"
#include "engine/float_mode.hpp"
#include "engine/races.hpp"

namespace sb::engine {

model_executor::model_executor() : thread_([this] { main(); }) {}

model_executor::~model_executor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void model_executor::run(const std::function<void(worker&)>& what) {
  std::unique_lock lock(mutex_);
  next_ = &what;
  changed_.notify_all();
  changed_.wait(lock, [&] { return next_ == nullptr; });
}

void model_executor::main() {
  const unwatched quiet;
  const device_float_mode as_on_the_device;  // the thread has inherited the program's
  pthread_setname_np(pthread_self(), "sb-model");
  take_only_faults();
  const signal_stack handlers;
  worker w(stacks_);
  set_current_worker(&w);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || next_ != nullptr; });
    if (next_ == nullptr) break;
    const std::function<void(worker&)>& what = *next_;
    lock.unlock();
    what(w);
    lock.lock();
    next_ = nullptr;
    changed_.notify_all();
  }
  set_current_worker(nullptr);
}

block* model_executor::take_block() {
  if (spare_.empty()) {
    blocks_.push_back(std::make_unique<block>());
    return blocks_.back().get();
  }
  block* b = spare_.back();
  spare_.pop_back();
  return b;
}

void model_executor::give_block(block* b) {
  b->races.end();
  b->privates.release();
  spare_.push_back(b);
}

}  // namespace sb::engine
