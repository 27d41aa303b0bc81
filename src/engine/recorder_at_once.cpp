// Operations that are over within their call (engine_at_once.cpp). Programs repeat themselves: what
// is as it was the last time is told with the call's own record, without a lock and without the
// time being asked again.
#include <algorithm>
#include <cstring>

#include "engine/at_once.hpp"
#include "engine/recorder.hpp"

namespace sb::engine {

namespace {

bool same(extent3 a, extent3 b) { return ((a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z)) == 0; }

}  // namespace

bool recorder::likeness::is(const kernel_operation& launch) const {
  return what == launch.kernel && same(grid, launch.grid) && same(block, launch.block) &&
         has_pointers_of(launch);
}

// Of the same kernel.
bool recorder::likeness::has_pointers_of(const kernel_operation& launch) const {
  const char* params = launch.params.data();
  for (std::size_t i = 0; i < pointer_count; ++i)
    if (std::memcmp(params + offsets[i], &pointers[i], sizeof pointers[i]) != 0) return false;
  return true;
}

void recorder::likeness::keep_pointers_of(const kernel_operation& launch) {
  const abi::kernel_info& info = *launch.kernel;
  pointer_count = 0;
  for (std::uint32_t i = 0; i < info.param_count; ++i) {
    const abi::param& p = info.params[i];
    if ((p.flags & abi::param_is_pointer) == 0 || p.size != sizeof(void*)) continue;
    if (pointer_count == pointers.size()) {
      what = nullptr;  // nothing is like it
      return;
    }
    std::memcpy(&pointers[pointer_count], launch.params.data() + p.offset, sizeof(void*));
    offsets[pointer_count++] = static_cast<std::uint16_t>(p.offset);
  }
}

recorder::likeness& recorder::like(const void* what, trace::number stream) {
  return likenesses_[(reinterpret_cast<std::uintptr_t>(what) >> 4 ^ stream * 5) %
                     likenesses_.size()];
}

trace::number recorder::repeat(recorded_call& call, const likeness& known) {
  call.like = known.operation;
  return call.done = out_->begin_operations();
}

trace::number recorder::tell_whole(trace::submitted_record& r, hardware_queue queue,
                                   status outcome) {
  const recorded_call& call = present();
  r.call = call.number;
  r.called = r.queued = since(call.number != trace::none ? call.begin_ns : clock_());
  const trace::number number = out_->submitted(r);
  out_->finished(number, {r.queued,
                          r.queued,
                          std::max(since(clock_()), r.queued),
                          {},
                          static_cast<std::int32_t>(outcome),
                          queue});
  return number;
}

void recorder::done_at_once(stream_id stream, std::int8_t priority, const kernel_operation& launch,
                            status outcome) {
  stream_notes& s = streams_[stream.value];
  likeness& known = like(launch.kernel, s.number);
  const hardware_queue queue = next_queue(stream, queue_class::compute);
  const std::uint64_t changes = memory_changes_.load(std::memory_order_relaxed);
  recorded_call& call = present();
  if (known.kind == trace::operation_kind::kernel && known.stream == s.number &&
      known.priority == priority && known.queue == queue && known.memory == changes &&
      known.is(launch) && outcome == status::success && call.number != trace::none &&
      call.done == trace::none) {
    s.done = repeat(call, known);
    return;
  }
  ranges_.clear();
  add_kernel_ranges(launch);
  trace::submitted_record r;
  r.kind = trace::operation_kind::kernel;
  r.engine = trace::engine_kind::multiprocessors;
  r.priority = priority;
  r.device = s.device;
  r.stream = s.number;
  describe_kernel(launch, shape_of(launch), r);
  r.ranges = ranges_;
  s.done = tell_whole(r, queue, outcome);
  if (outcome != status::success) return;
  known = {.what = launch.kernel,
           .stream = s.number,
           .kind = r.kind,
           .priority = priority,
           .queue = queue,
           .grid = launch.grid,
           .block = launch.block,
           .memory = changes,
           .operation = s.done};
  known.keep_pointers_of(launch);
}

// A copy keeps its source where kernels have their pointers, and its length where they have a grid.
void recorder::done_at_once(stream_id stream, std::int8_t priority, const copy_operation& copy) {
  stream_notes& s = streams_[stream.value];
  likeness& known = like(copy.destination, s.number);
  const hardware_queue queue =
      next_queue(stream, copy_queue(copy.direction, std::uint64_t{copy.width}));
  const std::uint64_t changes = memory_changes_.load(std::memory_order_relaxed);
  const extent3 size{static_cast<std::uint32_t>(copy.width),
                     static_cast<std::uint32_t>(copy.direction), 1};
  recorded_call& call = present();
  if (known.what == copy.destination && known.kind == trace::operation_kind::copy &&
      known.stream == s.number && known.priority == priority && known.queue == queue &&
      known.memory == changes && same(known.grid, size) && known.pointers[0] == copy.source &&
      call.number != trace::none && call.done == trace::none) {
    s.done = repeat(call, known);
    return;
  }
  ranges_.clear();
  add_copy_ranges(copy, copy.width, copy.width);
  trace::submitted_record r;
  r.kind = trace::operation_kind::copy;
  r.engine = copy_engine(copy.direction);
  r.direction = copy.direction;
  r.host_memory = host_memory_of(copy);
  r.priority = priority;
  r.device = s.device;
  r.stream = s.number;
  r.bytes = copy.width;
  r.ranges = ranges_;
  s.done = tell_whole(r, queue, status::success);
  known = {.what = copy.destination,
           .stream = s.number,
           .kind = r.kind,
           .priority = priority,
           .queue = queue,
           .grid = size,
           .block = {},
           .memory = changes,
           .pointers = {copy.source},
           .operation = s.done};
}

void recorder::done_at_once(stream_id stream, event_state& event, trace::operation_kind kind) {
  if (stream.value >= streams_.size() || streams_[stream.value].number == trace::none) return;
  stream_notes& s = streams_[stream.value];
  const bool record = kind == trace::operation_kind::event_record;
  // A record and a wait of one event have places of their own.
  likeness& known = like(reinterpret_cast<const char*>(&event) + (record ? 0 : 16), s.number);
  const trace::number number = event_of(event);
  recorded_call& call = present();
  trace::number self = trace::none;
  if (known.what == &event && known.memory == number && known.stream == s.number &&
      known.kind == kind && call.number != trace::none && call.done == trace::none) {
    self = repeat(call, known);
  } else {
    trace::submitted_record r;
    r.kind = kind;
    r.device = s.device;
    r.stream = s.number;
    r.event = number;
    self = tell_whole(r, {}, status::success);
    known = {.what = &event,
             .stream = s.number,
             .kind = kind,
             .queue = {},
             .grid = {},
             .block = {},
             .memory = number,
             .operation = self};
  }
  if (record) s.done = self;
}

}  // namespace sb::engine
