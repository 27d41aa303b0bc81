// Work that is over sooner than another thread could begin it: the thread that submits it does it,
// under the engine's lock, when nothing is before it. Other work never runs under a lock; of this
// it is known that it takes no longer than the scheduler's own steps.
#include <algorithm>

#include "engine/at_once.hpp"
#include "engine/clock.hpp"
#include "engine/engine_state.hpp"
#include "engine/patience.hpp"
#include "engine/recorder.hpp"
#include "engine/short_lock.hpp"
#include "engine/transfer.hpp"

namespace sb::engine {

namespace {

// Who has the lock has it for less time than handing over takes, unless it shares this core.
thread_local patience looking;

bool lock_soon(short_lock& mutex) {
  if (!looking.has_any()) return false;
  const bool found = mutex.try_lock_soon();
  found ? looking.gained() : looking.lost();
  return found;
}

}  // namespace

// What the kernel will take; too much where nobody can say.
std::uint64_t engine::impl::quick_ns(const kernel_operation& k) {
  constexpr std::uint64_t too_much = ~std::uint64_t{0} / 2;
  if (!at_once::can_run(k)) return too_much;
  const std::uint64_t each = costs.of(k.kernel).block_ns();
  if (each == kernel_cost::unknown || each == kernel_cost::waits) return too_much;
  return each * k.grid.x * k.grid.y * k.grid.z;
}

// Whether everything that was submitted has been heard of, and what it set going has happened.
// Everything but the inbox's end is written under the lock; of that, what happened before this call
// is seen.
bool engine::impl::at_rest() const {
  constexpr auto relaxed = std::memory_order_relaxed;
  return box.all_taken() && markers_done.load(relaxed) == markers_issued.load(relaxed) &&
         !stopped.load(relaxed);
}

bool engine::impl::works_at_once() const {
  return options.at_once_ns != 0 && !model && !races_checked();
}

// Whether nothing is before these: the scheduler is asked only if it knows of anything.
[[gnu::hot]] bool engine::impl::clear_for(stream_id stream,
                                          std::span<const kernel_operation* const> all,
                                          std::span<const command_id> after) const {
  if (nodes != nullptr) {
    for (const command_id id : after)
      if (!scheduler.done(id)) return false;
    for (const kernel_operation* k : all)
      if (!scheduler.clear_for(stream, shape_of(*k))) return false;
  }
  if (options.lazy_loading) {
    for (const kernel_operation* k : all)
      if (!loaded.has(k->kernel)) return false;
  }
  return true;
}

// Of the kernel that ran last. Gives the lock away meanwhile.
void engine::impl::tell_failure(guard& lock) {
  lock.unlock();
  block_failed(alone->failed_run(), alone->failed_block());
  lock.lock();
  alone->forget();
}

[[gnu::hot]] bool engine::impl::run_at_once(stream_id stream,
                                            std::span<const kernel_operation* const> all,
                                            std::span<const command_id> after,
                                            std::span<const graph_item> graph) {
  if (!mutex.try_lock() && !(cores_to_spare && lock_soon(mutex))) return false;
  guard lock(mutex, std::adopt_lock);
  if (!at_rest() || alone->has_failed()) return false;
  device_runtime& device = at(streams[stream].device).runtime;
  if (device.sticky.load(std::memory_order_relaxed) != status::success) return false;
  if (!clear_for(stream, all, after)) return false;
  if (record && !graph.empty()) return run_recorded(lock, stream, graph);
  const bool failed = !alone->run(all, stream, device, costs);
  if (record) {
    const status outcome = failed ? alone->failed_block().failure.error : status::success;
    for (const kernel_operation* k : all)
      record->done_at_once(stream, streams[stream].priority, *k, outcome);
  }
  if (failed) tell_failure(lock);
  return true;
}

// The same for a graph, one part at a time: the trace has when each was over.
bool engine::impl::run_recorded(guard& lock, stream_id stream, std::span<const graph_item> graph) {
  std::array<std::uint64_t, most_items_at_once + 1> times;
  std::size_t n = 0;
  times[n++] = trace_ns();
  status outcome = status::success;
  for (const graph_item& item : graph) {
    const auto* k = std::get_if<kernel_operation>(item.what);
    if (k != nullptr && !alone->run({&k, 1}, stream, at(item.device).runtime, costs))
      outcome = alone->failed_block().failure.error;
    times[n] = k != nullptr ? trace_ns() : times[n - 1];
    ++n;
    if (outcome != status::success) break;
  }
  record->graph_done_at_once(stream, streams[stream].priority, graph, {times.data(), n}, outcome);
  if (outcome != status::success) tell_failure(lock);
  return true;
}

std::optional<quick_launch> engine::quick(stream_id stream, const kernel_operation& launch) {
  impl& e = *impl_;
  const kernel_shape shape = shape_of(launch);
  if (!e.works_at_once() || !at_once::can_run(launch) || shape.blocks > e.options.at_once_ns)
    return {};
  constexpr std::uint64_t most = kernel_cost::waits - 1;
  return quick_launch{
      stream, &e.streams[stream], &e.costs.of(launch.kernel),
      static_cast<std::uint32_t>(std::min(e.options.at_once_ns / shape.blocks, most))};
}

[[gnu::hot]] bool engine::launch_at_once(const quick_launch& known,
                                         const kernel_operation& launch) {
  impl& e = *impl_;
  const std::uint32_t block_ns = known.cost->block_ns();
  if (block_ns == kernel_cost::unknown || block_ns > known.most_block_ns) return false;
  if (known.where->blocked.load(std::memory_order_relaxed) != 0)
    e.wait_behind_blocked(known.stream);
  const kernel_operation* one = &launch;
  return e.run_at_once(known.stream, {&one, 1}, {});
}

bool engine::launch_at_once(stream_id stream, const kernel_operation& launch) {
  const auto known = quick(stream, launch);
  return known && launch_at_once(*known, launch);
}

command_id engine::impl::record_at_once(stream_id stream, const operation& what) {
  const auto* record = std::get_if<record_operation>(&what);
  if (record == nullptr || !record->event || record->ticket != 0 || !works_at_once()) return {};
  const guard lock(mutex, std::try_to_lock);
  if (!lock || !at_rest() || !scheduler.clear(stream) || !box.claim_next()) return {};
  const command_id id = scheduler.pass();
  event_state& event = *record->event;
  event.last_record.store(id.value, std::memory_order_release);
  event.reached_ns.store(steady_ns(), std::memory_order_relaxed);
  event.reached_record.store(id.value, std::memory_order_release);
  if (this->record) this->record->done_at_once(stream, event, trace::operation_kind::event_record);
  return id;
}

// A ticket for work of the stream, when nothing at all is pending. Called under the lock.
bool engine::impl::claim_at_once(stream_id stream) {
  return at_rest() && nodes == nullptr && !failed(streams[stream].device) &&
         scheduler.clear(stream) && box.claim_next();
}

// A copy of a few bytes, when the device does nothing: beside others it waits for its engine.
command_id engine::impl::copy_at_once(stream_id stream, const operation& what) {
  constexpr std::size_t most = 4096;
  const auto* copy = std::get_if<copy_operation>(&what);
  if (copy == nullptr || copy->width == 0 || copy->width > most || copy->height != 1 ||
      copy->depth != 1 || copy->pageable || copy->staging ||
      copy->direction == copy_direction::peer || copy->direction == copy_direction::host_to_host ||
      !works_at_once())
    return {};
  const guard lock(mutex, std::try_to_lock);
  if (!lock || !claim_at_once(stream)) return {};
  // What comes now comes behind it, and nothing is written before its turn.
  const command_id id = scheduler.pass();
  // One that fails is done again where others are, which tells of it.
  if (carry_out(*copy, dropping).error != status::success) return {};
  if (record) record->done_at_once(stream, streams[stream].priority, *copy);
  return id;
}

// The same for a fill. What is recorded of one is told where others are done.
command_id engine::impl::fill_at_once(stream_id stream, const operation& what) {
  constexpr std::size_t most = 4096;
  const auto* fill = std::get_if<fill_operation>(&what);
  if (fill == nullptr || fill->width == 0 || fill->width > most / fill->element_size ||
      fill->height != 1 || fill->depth != 1 || record || !works_at_once())
    return {};
  const guard lock(mutex, std::try_to_lock);
  if (!lock || !claim_at_once(stream)) return {};
  const command_id id = scheduler.pass();
  if (carry_out(*fill, dropping).error != status::success) return {};
  return id;
}

bool engine::impl::graph_at_once(stream_id stream, std::span<const graph_item> items,
                                 std::span<const command_id> after) {
  constexpr std::size_t most = most_items_at_once;
  if (!works_at_once() || items.size() > most || (record && items.empty())) return false;
  std::array<const kernel_operation*, most> all;
  std::size_t n = 0;
  std::uint64_t ns = 0;
  for (const graph_item& item : items) {
    if (item.device != streams[stream].device || item.priority != streams[stream].priority)
      return false;
    if (const auto* k = std::get_if<kernel_operation>(item.what)) {
      ns += quick_ns(*k);
      if (ns > options.at_once_graph_ns) return false;
      all[n++] = k;
    } else if (const auto* m = std::get_if<marker_operation>(item.what);
               m == nullptr || m->reached || m->defaults) {
      return false;
    }
  }
  return run_at_once(stream, {all.data(), n}, after, items);
}

}  // namespace sb::engine
