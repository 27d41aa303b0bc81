// What every entry point of the border shares: the calling thread's state, the handles, the frame
// of an entry point, and the one way in which work gets into a stream or into the graph that
// captures it.
//
// Thread safety: everything here may be called from any thread.
// Locks: capture_mutex() guards capture state of streams, events and graphs; no call into the
// engine that can block is made under it.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "cudart/handle_table.hpp"
#include "engine/call_frame.hpp"
#include "engine/engine.hpp"
#include "engine/fork.hpp"
#include "engine/operation.hpp"
#include "engine/races.hpp"
#include "model/ids.hpp"

namespace sb::cudart {

struct capture;      // one capture sequence, capture.hpp
struct node_recipe;  // what a captured call becomes, graph.hpp

inline cudaError_t to_cuda(status s) { return static_cast<cudaError_t>(s); }
inline status from_cuda(cudaError_t e) { return static_cast<status>(e); }

}  // namespace sb::cudart

struct CUstream_st {
  // Constant after construction.
  sb::stream_id id;
  sb::device_id device;
  std::uint32_t generation = 0;  // of the device
  sb::stream_kind kind = sb::stream_kind::blocking;
  unsigned flags = 0;
  std::uint64_t unique_id = 0;

  std::atomic<int> priority{0};  // changed by cudaStreamSetAttribute
  // True while `captured_by` is set; read without the lock on every call.
  std::atomic<bool> capturing{false};
  // Guarded by capture_mutex().
  std::shared_ptr<sb::cudart::capture> captured_by;
  std::vector<cudaGraphNode_t> tips;         // what the next captured node comes after
  std::vector<cudaGraphEdgeData> tip_edges;  // for those who ask
  // Guarded by a lock in stream.cpp.
  std::vector<cudaLaunchAttribute> attributes;  // that the program set
};

struct CUevent_st {
  // Constant after construction.
  sb::device_id device;
  std::uint32_t generation = 0;  // of the device
  unsigned flags = 0;
  std::shared_ptr<sb::engine::event_state> state;

  // True while the newest record is a captured one; read without the lock.
  std::atomic<bool> captured{false};
  // Guarded by capture_mutex().
  std::shared_ptr<sb::cudart::capture> captured_by;
  std::vector<cudaGraphNode_t> tips;
};

namespace sb::cudart {

// --- the calling thread -------------------------------------------------------------------------

struct thread_state {
  cudaError_t last_error = cudaSuccess;
  std::uint32_t device = 0;
  bool device_chosen = false;
  // What stream 0 means: set for the length of a call that came in by a per-thread (_ptsz, _ptds)
  // name.
  bool default_is_per_thread = false;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  // Of the `<<< >>>` whose stub is about to launch.
  engine::launch_place launching_at;
};

// Usable until the very end of the thread, also from destructors of thread_local objects.
extern constinit thread_local thread_state this_thread;
inline thread_state& self() { return this_thread; }
inline device_id current_device() { return device_id{self().device}; }

// Makes stream 0 the thread's own default stream while it lives.
class per_thread_default {
 public:
  per_thread_default() : before_(std::exchange(self().default_is_per_thread, true)) {}
  ~per_thread_default() { self().default_is_per_thread = before_; }
  per_thread_default(const per_thread_default&) = delete;
  per_thread_default& operator=(const per_thread_default&) = delete;

 private:
  bool before_;
};

// Defines the per-thread twin of an entry point: SB_PTSZ(cudaX, (int a, cudaStream_t s), (a, s)).
// SB_PTDS is for calls without a stream argument (cudaMemcpy and its kin).
#define SB_PER_THREAD_TWIN(name, suffix, parameters, arguments) \
  SB_API cudaError_t CUDARTAPI name##suffix parameters {        \
    const ::sb::cudart::per_thread_default scope;               \
    return name arguments;                                      \
  }
#define SB_PTSZ(name, parameters, arguments) SB_PER_THREAD_TWIN(name, _ptsz, parameters, arguments)
#define SB_PTDS(name, parameters, arguments) SB_PER_THREAD_TWIN(name, _ptds, parameters, arguments)

// Stands before the definition of everything that libcudart.so exports.
#define SB_API extern "C" __attribute__((visibility("default")))

// --- the frame of an entry point ----------------------------------------------------------------

enum class call_kind : std::uint8_t {
  // Always answers: errors, versions, device count and properties.
  plain,
  // Refused inside a host function, that is all (cudaGetDevice, cudaPointerGetAttributes).
  light,
  // Answers the sticky error of the current device, also inside a host function (cudaEventQuery).
  observe,
  // Refused inside a host function and without a device; faults do not matter: pools, executable
  // graphs and what there is nothing to do for. mixes.tsv fault_calls.pool.*
  unfailing,
  // Both: what needs the current device.
  device,
  // As `device`, and CUDA calls it unsafe while a stream is being captured (cudaMalloc, cudaFree
  // ...):
  // refused, and the captures concerned invalidated, as the capture modes say.
  capture_unsafe,
};

// CUDA: images with managed variables are there from the first call on; the others load when
// needed.
void load_managed_variables();

// Why a call of this kind cannot go on, or success. Invalidates captures where CUDA does.
status admit(call_kind kind);

// Notes a failed call as the thread's last error and hands it on. Not ready is no failure.
inline cudaError_t answer(cudaError_t e) {
  if (e != cudaSuccess && e != cudaErrorNotReady) self().last_error = e;
  return e;
}
inline cudaError_t answer(status s) { return answer(to_cuda(s)); }

// For the trace: the line of the program that calls, as far as the program told it.
void tell_place(engine::call_frame& frame);

inline cudaError_t to_cuda(engine::call_frame& frame, cudaError_t e) {
  frame.answered(static_cast<int>(e));
  return e;
}

// Runs the body of an entry point, as below. When the shortcut answers true, that was the call.
template <class Shortcut, class Body>
cudaError_t entry_or_shortcut(call_kind kind, Shortcut&& shortcut, Body&& body,
                              const char* name = __builtin_FUNCTION()) noexcept {
  const engine::unwatched quiet;
  try {
    if (engine::forked_away()) return answer(status::initialization_error);
    engine::call_frame frame(name);
    if (engine::call_frame::observed()) tell_place(frame);
    if (shortcut()) return to_cuda(frame, cudaSuccess);
    const status admitted = admit(kind);
    if (admitted != status::success) return to_cuda(frame, answer(admitted));
    return to_cuda(frame, answer(body()));
  } catch (const std::bad_alloc&) {
    return answer(cudaErrorMemoryAllocation);
  } catch (...) {
    return answer(cudaErrorUnknown);
  }
}

// Runs the body of an entry point. The body returns status or cudaError_t:
//   SB_API cudaError_t CUDARTAPI cudaX(int a) {
//     return entry(call_kind::device, [&]() -> status { ... });
//   }
template <class Body>
cudaError_t entry(call_kind kind, Body&& body, const char* name = __builtin_FUNCTION()) noexcept {
  return entry_or_shortcut(kind, [] { return false; }, std::forward<Body>(body), name);
}

// What a child of fork may still ask: what never changes. fork.tsv fork.child.devicecount
template <class Body>
cudaError_t entry_in_any_process(Body&& body, const char* name = __builtin_FUNCTION()) noexcept {
  if (engine::forked_away()) return answer(body());
  return entry(call_kind::plain, std::forward<Body>(body), name);
}

// The same when arguments are checked first: what is wrong with them is answered even after a
// fault, and leaves captures alone.
template <class Check, class Body>
cudaError_t entry(call_kind kind, Check&& check, Body&& body,
                  const char* name = __builtin_FUNCTION()) noexcept {
  const engine::unwatched quiet;
  try {
    if (engine::forked_away()) return answer(status::initialization_error);
    const status arguments = check();
    if (arguments != status::success) return answer(arguments);
  } catch (...) {
    return answer(cudaErrorUnknown);
  }
  return entry(kind, std::forward<Body>(body), name);
}

// --- devices and streams ------------------------------------------------------------------------

inline engine::engine& the_engine() { return engine::engine::instance(); }

using stream_table = handle_table<CUstream_st, std::size_t{1} << 20>;
using event_table = handle_table<CUevent_st, std::size_t{1} << 22>;
stream_table& streams();
event_table& events();

// The stream behind a handle: 0, cudaStreamLegacy and cudaStreamPerThread belong to the current
// device. invalid_resource_handle for what is not a live stream; stream_capture_implicit for the
// legacy stream while a blocking stream of the device is captured, whatever the call wants of it.
result<CUstream_st*> resolve(cudaStream_t stream);
result<CUstream_st*> resolve_quietly(cudaStream_t stream);  // without that rule
CUstream_st& legacy_stream(device_id device);
CUstream_st& per_thread_stream(device_id device);  // of the calling thread

// invalid_resource_handle, or context_is_destroyed for an event from before a cudaDeviceReset.
result<CUevent_st*> resolve(cudaEvent_t event);

// Of the current device; null when there is no room.
CUevent_st* make_event(unsigned flags, std::shared_ptr<engine::shared_event> shared);
// What recording the event, and waiting for its newest record, are now; a marker when there is
// nothing to wait for.
engine::operation record_now(const std::shared_ptr<engine::event_state>& state);
engine::operation wait_now(const engine::event_state& state);

// CUDA: a priority outside the device's range counts as the nearest one; errors.tsv priority.want*,
// priorities.tsv launch.attr.*, graph.set.*
std::int8_t nearest_priority(int wanted, device_id device);

// True after CUDA_LAUNCH_BLOCKING=1.
bool launch_blocking();

// --- putting work into a stream -----------------------------------------------------------------

inline bool is_capturing(const CUstream_st& stream) {
  return stream.capturing.load(std::memory_order_acquire);
}

// The one body of live and captured calls. Live: submits, answers the command. Captured: appends a
// node to the capturing graph and answers an invalid command id. Refuses as capture does: legacy
// work beside a captured blocking stream, an invalidated capture. The node is derived from the
// operation (kernel, copy, fill, host function).
result<command_id> enqueue(CUstream_st& stream, engine::operation what);
// The same when the node is more than its operation: stream-ordered allocation and such.
result<command_id> enqueue(CUstream_st& stream, node_recipe recipe);

// What a call that must not return early does after enqueue: waits for the command.
status wait_for(CUstream_st& stream, command_id command);

// Whether a device would be done with this much before its caller's next call: nothing else is
// there and it is little. A call that needs not wait then does, so that work in streams that do not
// wait for it finds it done as it does on the device.
bool finishes_at_once(device_id device, std::size_t bytes);

// Why the host may not wait for or ask about this live stream now (it is captured, or a mode
// forbids it), or success; invalidates captures where CUDA does.
status admit_host_wait(CUstream_st& stream);

}  // namespace sb::cudart
