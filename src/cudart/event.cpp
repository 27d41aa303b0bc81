// Events: points in streams.
#include <algorithm>
#include <chrono>

#include "cudart/call_name.hpp"
#include "cudart/capture.hpp"
#include "cudart/context.hpp"
#include "cudart/pool_hooks.hpp"
#include "cudart/process.hpp"
#include "engine/shared_event.hpp"

namespace sb::cudart {
namespace {

// The newest record of the event, or an invalid id when there is none.
command_id newest_record(const CUevent_st& event) {
  return command_id{event.state->last_record.load(std::memory_order_acquire)};
}

engine::wait_operation wait_operation_for(const engine::event_state& event, command_id record) {
  return {record, event.traced_as.load(std::memory_order_relaxed)};
}

// The newest record when another process made it; 0 when it is ours, or there is none.
engine::shared_event::ticket foreign_record(const CUevent_st& event) {
  const engine::event_state& state = *event.state;
  if (!state.shared) return 0;
  const auto newest = state.shared->newest();
  return newest == state.ticket.load(std::memory_order_acquire) ? 0 : newest;
}

bool was_recorded(const CUevent_st& event) {
  return newest_record(event).valid() || foreign_record(event) != 0;
}

status check_flags(const cudaEvent_t* out, unsigned flags) {
  constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (out == nullptr || (flags & ~known) != 0) return status::invalid_value;
  // CUDA: an event of several processes cannot time; errors.tsv event.create.interprocess.timing
  if ((flags & cudaEventInterprocess) != 0 && (flags & cudaEventDisableTiming) == 0) {
    return status::invalid_value;
  }
  return status::success;
}

status create(cudaEvent_t* out, unsigned flags) {
  the_engine().wait_for_blocked_calls();
  std::shared_ptr<engine::shared_event> shared;
  if ((flags & cudaEventInterprocess) != 0) {
    shared = engine::shared_event::create();
    if (!shared) return status::memory_allocation;
  }
  CUevent_st* event = make_event(flags, std::move(shared));
  if (event == nullptr) return status::memory_allocation;
  *out = event;
  return status::success;
}

// The record of a captured stream: the event remembers where the stream was, nothing runs.
status record_captured(CUstream_st& stream, CUevent_st& event, unsigned flags) {
  if (stream.captured_by->invalidated) return status::stream_capture_invalidated;
  if ((flags & cudaEventRecordExternal) != 0) {
    return captured(stream, event_recipe(cudaGraphNodeTypeEventRecord, event, stream.device))
        .error();
  }
  the_engine().call_was_captured();
  event.captured_by = stream.captured_by;
  event.tips = stream.tips;
  event.captured.store(true, std::memory_order_release);
  return status::success;
}

status record(cudaEvent_t event_handle, cudaStream_t stream_handle, unsigned flags) {
  const auto event = resolve(event_handle);
  if (!event) return event.error();
  if ((flags & ~unsigned{cudaEventRecordExternal}) != 0) return status::invalid_value;
  const auto stream = resolve(stream_handle);
  if (!stream) return stream.error();
  if ((*event)->device != (*stream)->device) return status::invalid_resource_handle;
  if (captures_under_way().load(std::memory_order_acquire) != 0) {
    const std::lock_guard lock(capture_mutex());
    if ((*stream)->captured_by) return record_captured(**stream, **event, flags);
  }
  // CUDA: an external record exists only in a capture.
  if (flags != cudaEventRecordDefault) return status::illegal_state;
  if ((*event)->captured.load(std::memory_order_acquire)) {
    const std::lock_guard lock(capture_mutex());
    (*event)->captured.store(false, std::memory_order_release);
    (*event)->captured_by.reset();
    (*event)->tips.clear();
  }
  if (const timing_profile* timing = the_engine().timing();
      timing != nullptr && ((*event)->flags & cudaEventDisableTiming) == 0) {
    the_engine().spend(timing->timed_record_ns);
  }
  const auto command = enqueue(**stream, record_now((*event)->state));
  if (!command) return command.error();
  pools_see_record(**stream, *command);
  return status::success;
}

// A wait in a capture, or one that draws a stream into it. Under capture_mutex().
// Answers not_ready when neither is the case and the wait is an ordinary one.
status wait_in_capture(CUstream_st& stream, CUevent_st& event, unsigned flags) {
  const std::shared_ptr<capture> c = stream.captured_by;
  if ((flags & cudaEventWaitExternal) != 0) {
    if (!c) return status::illegal_state;
    if (c->invalidated) return status::stream_capture_invalidated;
    // CUDA: an external wait needs a record; capture.tsv external.wait.*
    if (!was_recorded(event)) {
      invalidate(*c);
      return status::invalid_value;
    }
    return captured(stream, event_recipe(cudaGraphNodeTypeWaitEvent, event, stream.device)).error();
  }
  const std::shared_ptr<capture> other = event.captured_by;
  if (!other && (!c || !was_recorded(event))) return status::not_ready;
  if (c && c->invalidated) return status::stream_capture_invalidated;
  if (c && !other) {
    invalidate(*c);  // capture.tsv refuse.wait.uncaptured.event
    return status::stream_capture_isolation;
  }
  if (other->over) return status::invalid_value;  // capture.tsv captured.event.wait.after
  if (c && c != other) {
    invalidate(*c);  // capture.tsv merge.*
    invalidate(*other);
    return status::stream_capture_merge;
  }
  if (other->invalidated) return status::stream_capture_invalidated;
  the_engine().call_was_captured();
  if (!c) {
    if (stream.kind == stream_kind::legacy) {
      invalidate(*other);
      return status::stream_capture_implicit;
    }
    join(stream, other, event.tips);
    return status::success;
  }
  for (cudaGraphNode_t node : event.tips) {
    if (std::find(stream.tips.begin(), stream.tips.end(), node) == stream.tips.end()) {
      stream.tips.push_back(node);
    }
  }
  return status::success;
}

// Waits in steps: the process that recorded it may end meanwhile.
status wait_for_foreign(engine::shared_event& event, engine::shared_event::ticket record) {
  while (!event.wait(record, std::chrono::milliseconds(50))) {
  }
  return status::success;
}

}  // namespace

CUevent_st* make_event(unsigned flags, std::shared_ptr<engine::shared_event> shared) {
  CUevent_st* event = events().create();
  if (event == nullptr) return nullptr;
  event->device = current_device();
  event->generation = device_of(event->device).generation.load();
  event->flags = flags;
  event->state = std::make_shared<engine::event_state>(std::move(shared));
  event->state->timed = (flags & cudaEventDisableTiming) == 0;
  return event;
}

engine::operation record_now(const std::shared_ptr<engine::event_state>& state) {
  engine::record_operation record{state};
  if (state->shared) {
    record.ticket = state->shared->begin();
    state->ticket.store(record.ticket, std::memory_order_release);
  }
  return record;
}

engine::operation wait_now(const engine::event_state& state) {
  if (state.shared) {
    const auto newest = state.shared->newest();
    if (newest != state.ticket.load(std::memory_order_acquire)) {
      if (state.shared->done(newest)) return engine::marker_operation{};
      return engine::foreign_wait_operation{state.shared, newest};
    }
  }
  const command_id record{state.last_record.load(std::memory_order_acquire)};
  if (!record.valid() || the_engine().done(record)) return engine::marker_operation{};
  return wait_operation_for(state, record);
}

SB_API cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t* event) {
  return as_call([&] { return cudaEventCreateWithFlags(event, cudaEventDefault); });
}

SB_API cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return entry(
      call_kind::device, [&] { return check_flags(event, flags); },
      [&] { return create(event, flags); });
}

SB_API cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event) {
  // CUDA: a pending event may be destroyed; waits for it keep their record.
  // ordering.tsv event.destroy.pending, event.destroyed.still.holds
  return entry(call_kind::device, [&]() -> status {
    the_engine().wait_for_blocked_calls();
    const auto known = resolve(event);  // one from before a reset goes, too, and is told
    return events().destroy(event) ? known.error() : status::invalid_resource_handle;
  });
}

SB_API cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return entry(call_kind::device, [&] { return record(event, stream, cudaEventRecordDefault); });
}
SB_PTSZ(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))

SB_API cudaError_t CUDARTAPI cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                      unsigned flags) {
  return entry(call_kind::device, [&] { return record(event, stream, flags); });
}
SB_PTSZ(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
        (event, stream, flags))

SB_API cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream_handle,
                                                 cudaEvent_t event_handle, unsigned flags) {
  const auto check = [&] {
    return (flags & ~unsigned{cudaEventWaitExternal}) != 0 ? status::invalid_value
                                                           : status::success;
  };
  return entry(call_kind::device, check, [&]() -> status {
    const auto event = resolve(event_handle);
    if (!event) return event.error();
    const auto stream = resolve(stream_handle);
    if (!stream) return stream.error();
    if (flags != 0 || captures_under_way().load(std::memory_order_acquire) != 0 ||
        (*event)->captured.load(std::memory_order_acquire)) {
      const std::lock_guard lock(capture_mutex());
      const status s = wait_in_capture(**stream, **event, flags);
      if (s != status::not_ready) return s;
    }
    // CUDA: a wait keeps the record it saw at the call; for one that is complete, or was never
    // made, nothing is enqueued. ordering.tsv event.rerecord.*, event.wait.before.record.noop
    // In the legacy stream a wait for a complete record still is legacy work. random.tsv 131
    if (foreign_record(**event) != 0) {
      engine::operation wait = wait_now(*(*event)->state);
      if (std::holds_alternative<engine::marker_operation>(wait)) return status::success;
      return enqueue(**stream, std::move(wait)).error();
    }
    const command_id record = newest_record(**event);
    if (!record.valid()) {
      the_engine().idle_wait((*stream)->id, *(*event)->state);
      return status::success;
    }
    // Checked for races, the wait counts even where it has nothing to wait for.
    if ((*stream)->kind != stream_kind::legacy && !engine::races_checked() &&
        the_engine().known_done(*(*event)->state, record)) {
      the_engine().idle_wait((*stream)->id, *(*event)->state);
      return status::success;
    }
    pools_see_wait(**stream, record);
    return enqueue(**stream, wait_operation_for(*(*event)->state, record)).error();
  });
}
SB_PTSZ(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
        (stream, event, flags))

SB_API cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t handle) {
  return entry(call_kind::observe, [&]() -> status {
    const auto event = resolve(handle);
    if (!event) return event.error();
    if (const status s = refuse_captured(**event); s != status::success) return s;
    if (const status s = admit_unsafe_call(); s != status::success) return s;
    if (const auto foreign = foreign_record(**event); foreign != 0) {
      return (*event)->state->shared->done(foreign) ? status::success : status::not_ready;
    }
    const command_id record = newest_record(**event);
    if (record.valid() && !the_engine().done(record)) return status::not_ready;
    if (record.valid()) the_engine().seen_done(record);
    return status::success;
  });
}

// CUDA: host functions may call it; mixes.tsv callbacks.*.eventsync
SB_API cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t handle) {
  return entry(call_kind::observe, [&]() -> status {
    const auto event = resolve(handle);
    if (!event) return event.error();
    if (const status s = refuse_captured(**event); s != status::success) return s;
    if (const status s = admit_unsafe_call(); s != status::success) return s;
    if (const auto foreign = foreign_record(**event); foreign != 0) {
      return wait_for_foreign(*(*event)->state->shared, foreign);
    }
    sched::wait_target target;
    target.scope = sched::wait_scope::command;
    target.command = newest_record(**event);
    target.device = (*event)->device;
    if (!target.command.valid()) return status::success;
    return wait_and_release(target, (*event)->device);
  });
}

SB_API cudaError_t CUDARTAPI cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return entry(call_kind::observe, [&]() -> status {
    if (ms == nullptr) return status::invalid_value;
    for (cudaEvent_t handle : {start, end}) {
      const auto event = resolve(handle);
      if (!event) return event.error();
      if (const status s = refuse_captured(**event, on_refusal::keep); s != status::success)
        return s;
      // CUDA: both must be recorded and able to time; errors.tsv event.elapsed.*
      if (((*event)->flags & cudaEventDisableTiming) != 0 || !newest_record(**event).valid()) {
        return status::invalid_resource_handle;
      }
    }
    // CUDA: events of two devices have no time between them (documented, not recorded).
    if (start->device != end->device) return status::invalid_resource_handle;
    for (cudaEvent_t event : {start, end}) {
      if (!the_engine().done(newest_record(*event))) return status::not_ready;
    }
    const auto from = static_cast<std::int64_t>(start->state->reached_ns.load());
    const auto to = static_cast<std::int64_t>(end->state->reached_ns.load());
    *ms = static_cast<float>(static_cast<double>(to - from) / 1e6);
    return status::success;
  });
}

}  // namespace sb::cudart
