// The part of the worker pool that lets a host thread help which waits for the device: it is awake
// and has nothing else to do, where a worker takes some 50 us to wake up. It takes the place of one
// of them: no more threads run than there are cores.
#include <cerrno>

#include "engine/fault.hpp"
#include "engine/float_mode.hpp"
#include "engine/races.hpp"
#include "engine/worker_pool.hpp"

namespace sb::engine {

// What waits for nothing and takes its time whatever its input is, since the thread may come to
// wait for something else than this kernel.
bool worker_pool::suits_host(const kernel_run& run) {
  constexpr std::uint64_t most_block_ns = 50'000;
  const abi::kernel_info& info = run.info();
  if (info.is_straight == 0 || info.mode != abi::kernel_mode::loop || run.is_counted())
    return false;
  const std::uint64_t cost = run.cost->block_ns();
  return cost != kernel_cost::unknown && cost != kernel_cost::waits && cost <= most_block_ns;
}

bool worker_pool::cores_taken() const { return alive_ - idle_ + (comes_ ? 1 : 0) >= target_; }

bool worker_pool::help_now(const host_wait& until) {
  if (races_checked()) return false;
  std::unique_lock lock = take_lock();
  if (stopping_ || helped_) return false;
  if (cores_taken()) {
    // Had the one that was woken not been called, this thread would have come before it.
    if (comes_) host_comes_ = true;
    return false;
  }
  work what = pick_chunk(true);
  if (what.what == work::kind::none) return false;
  helped_ = host_comes_ = true;
  if (!host_) host_ = std::make_unique<worker>(stacks_);
  worker& w = *host_;
  w.helps_until = &until;
  for (; what.what != work::kind::none; what = pick_chunk(true)) {
    lock.unlock();
    run_as_host(w, what);
    take(lock);
    const bool others = !resumable_.empty() || (leading_ == nullptr && next_deadline() != never);
    if (until.is_released() || stopping_ || others || cores_taken()) break;
  }
  helped_ = false;
  if (stopping_)
    thread_over_.notify_all();
  else if (others_ready() || (leading_ == nullptr && next_deadline() != never))
    recruit();
  return true;
}

void worker_pool::run_as_host(worker& w, const work& what) {
  const int error_before = errno;
  {
    const signals_put_off quiet;
    const device_float_mode as_on_the_device;
    adopt_thread(w.home);
    set_current_worker(&w);
    execute(w, what);
    set_current_worker(nullptr);
  }
  errno = error_before;
}

// Somebody for the rest of what this worker is about to begin with. Where the thread that launched
// it comes to help, a worker would only take its core: it is called when this one has run its first
// blocks and the thread has not come.
void worker_pool::call_helper(const work& next) {
  if (helped_ && alive_ - idle_ + 1 >= target_) return;  // who helps calls when it leaves
  if (host_comes_ && !looking_ && next.what == work::kind::chunk && suits_host(*next.run))
    call_put_off_.store(true, std::memory_order_relaxed);
  else
    recruit();
}

void worker_pool::call_after_all() {
  if (!call_put_off_.load(std::memory_order_relaxed)) return;
  const auto lock = take_lock();
  if (!call_put_off_.exchange(false, std::memory_order_relaxed) || helped_) return;
  host_comes_ = false;
  if (others_ready()) recruit();
}

}  // namespace sb::engine
