// Failed devices, reset, and the end of the engine.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "engine/engine_state.hpp"
#include "engine/images.hpp"
#include "engine/memory.hpp"
#include "engine/pool.hpp"

namespace sb::engine {

namespace {

// A reset waits this long for blocks that are still inside device code.
constexpr auto reset_patience = std::chrono::seconds(2);

void report(const kernel_run& run, const block& where) {
  const failure_record& f = where.failure;
  if (f.what == nullptr) return;  // said already, in CUDA's own words
  char address[32] = "";
  if (f.address != nullptr) std::snprintf(address, sizeof address, " %p", f.address);
  const std::uint32_t* b = where.context.block_idx;
  char thread[64] = "";
  // In loop mode only some kernels keep their thread index: none is better than a wrong one.
  if (where.failed_thread != nullptr && run.info().mode == abi::kernel_mode::fibers) {
    const std::uint32_t* t = where.failed_thread->context.tid;
    std::snprintf(thread, sizeof thread, ", thread (%u,%u,%u)", t[0], t[1], t[2]);
  }
  std::fprintf(stderr, "streambed: kernel %s, block (%u,%u,%u)%s: %s%s\n", run.info().name, b[0],
               b[1], b[2], thread, f.what, address);
}

}  // namespace

void engine::impl::block_failed(kernel_run& run, const block& where) {
  if (run.cancelled.load(std::memory_order_relaxed)) return;  // an echo of the first fault
  report(run, where);
  fail_device(run.device->id, where.failure.error);
}

// Everything of the device is dropped: what runs is cancelled, what comes up is skipped (start()),
// and so all its streams run dry and every wait on them ends.
void engine::impl::fail_device(device_id device, status error) {
  std::vector<node*> cancelled;
  guard lock(mutex);
  if (stopped || failed(device)) return;
  at(device).runtime.sticky.store(error, std::memory_order_release);
  for (node* n = nodes; n != nullptr; n = n->next) {
    if (n->device != device || !n->started || n->ended) continue;
    if (!std::holds_alternative<kernel_operation>(n->what)) continue;
    n->run.cancelled.store(true, std::memory_order_relaxed);
    n->references.fetch_add(1, std::memory_order_relaxed);
    cancelled.push_back(n);
  }
  for (node* n : cancelled) {
    scheduler.abandon(n->id);
    end_command(n);
  }
  drain();
  finish(lock);
  for (node* n : cancelled) {
    workers->cancel(n->run);
    release(n->run, 1);
  }
}

void engine::impl::reset(device_id device) {
  guard lock(mutex);
  if (stopped) return;
  sched::wait_target all;
  all.scope = sched::wait_scope::device;
  all.device = device;
  if (!scheduler.satisfied(all)) wait_for(lock, scheduler.wait(all));
  // Blocks of dropped kernels may still be on their way out; they must not meet freed memory.
  nodes_freed.wait_for(lock, reset_patience, [&] {
    for (node* n = nodes; n != nullptr; n = n->next)
      if (n->device == device && n->started) return false;
    return true;
  });
  lock.unlock();
  device_runtime& runtime = at(device).runtime;
  runtime.prints.flush(stdout);
  pool_set::instance().release_all(device);
  memory::instance().release_all(device);
  unload_images(device);
  runtime.heap.clear();
  runtime.sticky.store(status::success, std::memory_order_release);
}

// Ends every thread. Pending work is dropped, as the end of a process does. False when device code
// or a host function is still running: its thread is left alone, and so must be what it uses.
bool engine::impl::stop(std::chrono::milliseconds patience) {
  if (getpid() != process) return true;  // a forked child has none of the threads
  {
    guard lock(mutex);
    if (stopped) return true;
    stopped = true;
    dropping.store(true, std::memory_order_relaxed);
    for (node* n = nodes; n != nullptr; n = n->next)
      n->run.cancelled.store(true, std::memory_order_relaxed);
    for (auto& [id, wait] : waits) wait->changed.notify_all();
    markers_changed.notify_all();
  }
  bool all = workers->stop(patience);
  all = host_functions->stop(patience) && all;
  all = idle_loops->stop(patience) && all;
  all = foreign_waits->stop(patience) && all;
  for (auto& d : devices) {
    for (lane* l : {d->to_device.get(), d->to_host.get(), d->inside.get(), d->between_hosts.get()})
      all = l->stop(patience) && all;
  }
  return all;
}

}  // namespace sb::engine
