// Failed devices, reset, and the end of the engine.
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "engine/call_frame.hpp"
#include "engine/clock.hpp"
#include "engine/engine_state.hpp"
#include "engine/fault.hpp"
#include "engine/images.hpp"
#include "engine/memory.hpp"
#include "engine/modelled.hpp"
#include "engine/pool.hpp"
#include "engine/recorder.hpp"

namespace sb::engine {

namespace {

// A reset waits this long for blocks that are still inside device code.
constexpr auto reset_patience = std::chrono::seconds(2);

// NVIDIA's runtime prints nothing; STREAMBED_FAULT_REPORT=0 makes this one as quiet.
bool wanted() {
  const char* text = std::getenv("STREAMBED_FAULT_REPORT");
  return text == nullptr || std::strcmp(text, "0") != 0;
}

constexpr char place_words[] = " (launched from ";

std::string text_of(const launch_place& place) {
  if (place.file != nullptr)
    return " (launched at " + std::string(place.file) + ":" + std::to_string(place.line) + ")";
  Dl_info found;
  Dl_info own;
  if (place.caller == nullptr || dladdr(place.caller, &found) == 0 || found.dli_fname == nullptr)
    return "";
  // A per-thread twin called the launch: its caller is not known.
  if (dladdr(&place_words, &own) != 0 && own.dli_fbase == found.dli_fbase) return "";
  // What addr2line takes.
  char offset[24];
  std::snprintf(offset, sizeof offset, "%#zx",
                static_cast<std::size_t>(static_cast<const char*>(place.caller) -
                                         static_cast<const char*>(found.dli_fbase)));
  return place_words + std::string(found.dli_fname) + " " + offset + ")";
}

void report(const kernel_run& run, const block& where, const std::string& stream) {
  const failure_record& f = where.failure;
  char address[96] = "";
  const auto at = reinterpret_cast<std::uintptr_t>(f.address);
  if ((at & barred_address) == barred_address) {
    std::snprintf(address, sizeof address, " %#zx (memory that the device has no access to)",
                  static_cast<std::size_t>(at & ~barred_address));
  } else if (f.address != nullptr) {
    std::snprintf(address, sizeof address, " %p", f.address);
  }
  const std::uint32_t* b = where.context.block_idx;
  char thread[64] = "";
  // In loop mode only some kernels keep their thread index: none is better than a wrong one.
  if (where.failed_thread != nullptr && where.has_fibers()) {
    const std::uint32_t* t = where.failed_thread->context.tid;
    std::snprintf(thread, sizeof thread, ", thread (%u,%u,%u)", t[0], t[1], t[2]);
  }
  // Blocks of a row may run as one: then it is one of them.
  const bool exact = where.context.row_blocks == 1 || where.context.row_at != block::not_told;
  const std::uint32_t x =
      b[0] + (where.context.row_at != block::not_told ? where.context.row_at : 0);
  char until[48] = "";
  if (!exact)
    std::snprintf(until, sizeof until, " to (%u,%u,%u)", x + where.context.row_blocks - 1, b[1],
                  b[2]);
  std::fprintf(stderr, "streambed: kernel %s on %s%s, block (%u,%u,%u)%s%s: %s%s\n",
               run.info().name, stream.c_str(), text_of(run.launch->place).c_str(), x, b[1], b[2],
               until, thread, f.what != nullptr ? f.what : "assertion failed", address);
}

}  // namespace

// As the recording calls it, where there is one, so that this and what is told of the run agree.
std::string engine::impl::name_of(stream_id stream) {
  const guard lock(mutex);
  const std::uint64_t own = streams[stream].number;
  if (own == 0) return "the default stream";
  return "stream " + std::to_string(record ? record->number_of(stream) : own);
}

void engine::impl::report_block(const kernel_run& run, const block& where) {
  if (!wanted() || at(run.device->id).reported.exchange(true)) return;
  report(run, where, name_of(static_cast<const node*>(run.owner)->as.stream));
}

void engine::impl::block_failed(kernel_run& run, const block& where) {
  if (run.cancelled.load(std::memory_order_relaxed)) return;  // an echo of the first fault
  // Before the error can be seen, and once: other blocks often fail in the same way.
  report_block(run, where);
  fail_device(run.device->id, where.failure.error, *static_cast<node*>(run.owner));
}

// Hardware: blocks that run beside one whose assertion failed come to their own assertions;
// h200/asserts.tsv. Of a large grid some dozen warps do, of one that waits for the block none.
bool engine::impl::puts_off(kernel_run& run, const block& where, std::uint64_t& until) {
  constexpr std::uint64_t most_blocks = 16;
  constexpr std::uint64_t patience_ns = 1'000'000'000;
  if (model || where.failure.error != status::assert_triggered || where.context.row_blocks > 1)
    return false;
  if (run.cancelled.load(std::memory_order_relaxed)) return false;
  report_block(run, where);
  guard lock(mutex);
  node& owner = *static_cast<node*>(run.owner);
  if (owner.asserted++ == 0) owner.asserted_until = steady_ns() + patience_ns;
  until = owner.asserted_until;
  return owner.asserted < owner.blocks_left && owner.asserted < most_blocks;
}

void engine::impl::report_copy(const node& n, const failure_record& fault) {
  if (!wanted() || at(n.device).reported.exchange(true)) return;
  std::fprintf(stderr, "streambed: a copy or fill on %s: %s %p\n", name_of(n.as.stream).c_str(),
               fault.what, fault.address);
}

// Everything of the device is dropped: what runs is cancelled, what comes up is skipped (start()),
// and so all its streams run dry and every wait on them ends.
void engine::impl::fail_device(device_id device, status error, node& culprit) {
  std::vector<node*> cancelled;
  guard lock(mutex);
  if (stopped || failed(device)) return;
  culprit.recorded.status = static_cast<int>(error);
  take_in();
  drain();
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
  take_in();
  drain();
  sched::wait_target all;
  all.scope = sched::wait_scope::device;
  all.device = device;
  if (!scheduler.satisfied(all)) {
    wait_for(lock, scheduler.wait(all));
    lock.lock();
  }
  // Blocks of dropped kernels may still be on their way out; they must not meet freed memory.
  reset_waits = true;
  nodes_freed.wait_for(lock, reset_patience, [&] {
    for (node* n = nodes; n != nullptr; n = n->next)
      if (n->device == device && n->started) return false;
    return true;
  });
  reset_waits = false;
  lock.unlock();
  device_runtime& runtime = at(device).runtime;
  runtime.prints.flush(stdout);
  pool_set::instance().release_all(device);
  memory::instance().release_all(device);
  unload_images(device);
  runtime.prints.reset();
  runtime.heap.reset();
  at(device).reported.store(false);
  runtime.sticky.store(status::success, std::memory_order_release);
}

// Ends every thread. Pending work is dropped, as the end of a process does. False when device code
// or a host function is still running: its thread is left alone, and so must be what it uses.
bool engine::impl::stop(std::chrono::milliseconds patience) {
  if (getpid() != process) return true;  // a forked child has none of the threads
  // Locks that are taken here are none that the program waits for in modelled time.
  const call_frame own;
  {
    guard lock(mutex);
    if (stopped) return true;
    take_in();
    stopped = true;
    if (record) record->tell_pending(nodes, scheduler);
    dropping.store(true, std::memory_order_relaxed);
    for (node* n = nodes; n != nullptr; n = n->next)
      n->run.cancelled.store(true, std::memory_order_relaxed);
    for (waiting_thread& w : std::exchange(waits, {})) w.wait->release();
    markers_changed.notify_all();
  }
  if (record) {
    observe_allocations(nullptr);
    record->close(trace::ending::complete, deterministic(), trace_ns());
  }
  if (model) {
    model->give_clocks_back();
    model->clocks().stop();
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
