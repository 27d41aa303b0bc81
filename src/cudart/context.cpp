#include "cudart/context.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "cudart/capture.hpp"
#include "cudart/process.hpp"
#include "engine/checked_state.hpp"

namespace sb::cudart {

constinit thread_local thread_state this_thread;

namespace {

// Default streams of the calling thread, one per device. A plain pointer, so that it can still be
// read after the thread's other thread_local objects are gone.
struct own_stream {
  CUstream_st* stream = nullptr;
  std::uint32_t generation = 0;
};
constinit thread_local own_stream* own_streams = nullptr;
constinit thread_local bool own_streams_ended = false;

// A thread's default streams end with it; their pending work still runs.
struct end_of_thread {
  bool armed = false;
  ~end_of_thread() {
    const engine::unwatched quiet;
    own_streams_ended = true;
    if (own_streams == nullptr || engine::forked_away()) return;
    for (std::uint32_t d = 0; d < the_engine().device_count(); ++d) {
      const own_stream& own = own_streams[d];
      if (own.stream != nullptr && own.generation == device_of(device_id{d}).generation.load()) {
        retire(own.stream);
      }
    }
    delete[] own_streams;
    own_streams = nullptr;
  }
};
thread_local end_of_thread at_thread_end;

}  // namespace

// The tables live as long as the process: handles are looked at until its very end.
stream_table& streams() {
  static auto* table = new stream_table;
  return *table;
}
event_table& events() {
  static auto* table = new event_table;
  return *table;
}

status admit(call_kind kind) {
  if (kind == call_kind::plain) return status::success;
  // CUDA: host functions cannot call the runtime; errors.tsv hostfunc.*
  if (kind != call_kind::observe && engine::engine::in_host_function())
    return status::not_permitted;
  engine::engine& engine = the_engine();
  const bool any_device = engine.device_count() != 0;
  if (any_device) load_managed_variables();
  if (kind == call_kind::light) return status::success;
  if (!any_device) return status::no_device;
  const status sticky = engine.sticky_error(current_device());
  if (sticky != status::success && kind != call_kind::unfailing) return sticky;
  if (device_of(current_device()).lost.load(std::memory_order_relaxed)) {
    return status::devices_unavailable;
  }
  return kind == call_kind::capture_unsafe ? admit_unsafe_call() : status::success;
}

CUstream_st* make_stream(device_id device, stream_kind kind, unsigned flags, int priority) {
  // The numbers are an H200's: the legacy stream of the first device is 7, the program's first
  // stream 13.
  static std::atomic<std::uint64_t> next_id{13};
  constexpr std::uint64_t first_legacy_id = 7;
  CUstream_st* stream = streams().create();
  if (stream == nullptr) return nullptr;
  stream->unique_id = kind == stream_kind::legacy && device.value == 0
                          ? first_legacy_id
                          : next_id.fetch_add(1, std::memory_order_relaxed);
  stream->id = kind == stream_kind::legacy
                   ? the_engine().legacy_stream(device)
                   : the_engine().create_stream(device, kind, priority, stream->unique_id);
  stream->device = device;
  stream->generation = device_of(device).generation.load();
  stream->kind = kind;
  stream->flags = flags;
  stream->priority = priority;
  return stream;
}

bool retire(CUstream_st* stream) {
  return streams().destroy(stream, [](CUstream_st& s) {
    engine::checked_state::changed();
    if (captures_under_way().load() != 0) {
      const std::lock_guard lock(capture_mutex());
      leave(s);
    }
    // The engine forgot the streams from before a reset.
    if (s.generation == device_of(s.device).generation.load()) the_engine().destroy_stream(s.id);
  });
}

CUstream_st& legacy_stream(device_id device) {
  device_state& state = device_of(device);
  CUstream_st* stream = state.legacy.load(std::memory_order_acquire);
  if (stream != nullptr) return *stream;
  const std::lock_guard lock(state.mutex);
  stream = state.legacy.load(std::memory_order_relaxed);
  if (stream == nullptr) {
    stream = make_stream(device, stream_kind::legacy, cudaStreamDefault, 0);
    if (stream == nullptr) throw std::bad_alloc();
    state.legacy.store(stream, std::memory_order_release);
  }
  return *stream;
}

CUstream_st& per_thread_stream(device_id device) {
  if (own_streams == nullptr) {
    own_streams = new own_stream[the_engine().device_count()];
    // After the thread's end began nobody retires the streams any more: they stay until the process
    // ends.
    if (!own_streams_ended) at_thread_end.armed = true;
  }
  own_stream& own = own_streams[device.value];
  const std::uint32_t generation = device_of(device).generation.load(std::memory_order_acquire);
  if (own.stream == nullptr || own.generation != generation) {
    // CUDA: per-thread default streams count as blocking; ordering.tsv hold.null.kernel.perthread
    own.stream = make_stream(device, stream_kind::blocking, cudaStreamDefault, 0);
    if (own.stream == nullptr) throw std::bad_alloc();
    own.generation = generation;
  }
  return *own.stream;
}

result<CUstream_st*> resolve(cudaStream_t handle) {
  auto stream = resolve_quietly(handle);
  if (stream && (*stream)->kind == stream_kind::legacy &&
      captures_under_way().load(std::memory_order_acquire) != 0) {
    const std::lock_guard lock(capture_mutex());
    if (const status s = admit_live_work(**stream); s != status::success) return s;
  }
  return stream;
}

result<CUstream_st*> resolve_quietly(cudaStream_t stream) {
  switch (reinterpret_cast<std::uintptr_t>(stream)) {
    case 0:
      return self().default_is_per_thread ? &per_thread_stream(current_device())
                                          : &legacy_stream(current_device());
    case 1:
      return &legacy_stream(current_device());
    case 2:
      return &per_thread_stream(current_device());
    default:
      if (!streams().alive(stream)) return status::invalid_resource_handle;
      if (stream->generation != device_of(stream->device).generation.load()) {
        return status::device_uninitialized;  // faults.tsv *.reset.oldstream.query
      }
      return stream;
  }
}

result<CUevent_st*> resolve(cudaEvent_t event) {
  if (!events().alive(event)) return status::invalid_resource_handle;
  if (event->generation != device_of(event->device).generation.load(std::memory_order_acquire)) {
    return status::device_uninitialized;  // parts.tsv resets.event.*
  }
  return event;
}

std::int8_t nearest_priority(int wanted, device_id device) {
  const device_profile& profile = the_engine().profile(device);
  return static_cast<std::int8_t>(
      std::clamp(wanted, profile.greatest_priority, profile.least_priority));
}

bool launch_blocking() {
  static const bool blocking = [] {
    const char* value = std::getenv("CUDA_LAUNCH_BLOCKING");
    return value != nullptr && std::strcmp(value, "0") != 0 && *value != '\0';
  }();
  return blocking;
}

result<command_id> enqueue(CUstream_st& stream, engine::operation what) {
  if (captures_under_way().load(std::memory_order_acquire) != 0) {
    const std::lock_guard lock(capture_mutex());
    if (stream.captured_by) return captured(stream, recipe_of(std::move(what), stream));
  }
  return the_engine().submit(stream.id, std::move(what));
}

result<command_id> enqueue(CUstream_st& stream, node_recipe recipe) {
  if (captures_under_way().load(std::memory_order_acquire) != 0) {
    const std::lock_guard lock(capture_mutex());
    if (stream.captured_by) return captured(stream, std::move(recipe));
  }
  return the_engine().submit(stream.id, std::move(recipe.what));
}

bool finishes_at_once(device_id device, std::size_t bytes) {
  constexpr std::size_t little = std::size_t{1} << 20;
  // In modelled time everything has its own.
  if (the_engine().is_modelled()) return false;
  return bytes <= little && the_engine().idle(device);
}

status wait_for(CUstream_st& stream, command_id command) {
  if (!command.valid()) return status::success;
  sched::wait_target target;
  target.scope = sched::wait_scope::command;
  target.command = command;
  target.stream = stream.id;
  target.device = stream.device;
  return the_engine().synchronize(target, stream.device);
}

}  // namespace sb::cudart
