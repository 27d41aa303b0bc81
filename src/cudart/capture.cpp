#include "cudart/capture.hpp"
#include "cudart/call_name.hpp"

#include <algorithm>
#include <unordered_set>

#include "cudart/graph_memory.hpp"
#include "engine/checked_state.hpp"

namespace sb::cudart {
namespace {

std::vector<std::shared_ptr<capture>>& under_way() {
  static auto* list = new std::vector<std::shared_ptr<capture>>;
  return *list;
}

void release_stream(CUstream_st& stream) {
  stream.captured_by.reset();
  stream.tips.clear();
  stream.capturing.store(false, std::memory_order_release);
}

// Ends the sequence: its streams are free again. The graph stays with the caller.
void finish(const std::shared_ptr<capture>& c) {
  for (CUstream_st* stream : c->streams) release_stream(*stream);
  c->streams.clear();
  c->over = true;
  std::erase(under_way(), c);
  captures_under_way().fetch_sub(1, std::memory_order_acq_rel);
  the_engine().tell_captures(static_cast<int>(under_way().size()));
}

// The graph of a capture that failed goes with it.
void drop_graph(capture& c) {
  if (c.owns_graph && c.graph != nullptr) destroy_graph(*c.graph);
  c.graph = nullptr;
}

// CUDA: which captures make an unsafe call an error depends on the mode of the calling thread;
// capture.tsv refuse.*.malloc, otherthread.malloc.*
bool forbids_unsafe_calls(const capture& c) {
  const bool own = c.thread == std::this_thread::get_id();
  switch (self().capture_mode) {
    case cudaStreamCaptureModeGlobal:
      return own ? c.mode != cudaStreamCaptureModeRelaxed : c.mode == cudaStreamCaptureModeGlobal;
    case cudaStreamCaptureModeThreadLocal:
      return own && c.mode != cudaStreamCaptureModeRelaxed;
    default:
      return false;
  }
}

bool has_blocking_stream(const capture& c, device_id device) {
  return std::any_of(c.streams.begin(), c.streams.end(), [&](const CUstream_st* s) {
    return s->device == device && s->kind == stream_kind::blocking;
  });
}

status check_unsafe_locked() {
  status answer = status::success;
  for (const auto& c : under_way()) {
    if (!forbids_unsafe_calls(*c)) continue;
    invalidate(*c);
    answer = status::stream_capture_unsupported;
  }
  return answer;
}

// Every tip of a forked stream must lead to the origin's tips.
bool joined(const capture& c) {
  std::unordered_set<cudaGraphNode_t> reached;
  std::vector<cudaGraphNode_t> open = c.origin->tips;
  while (!open.empty()) {
    cudaGraphNode_t node = open.back();
    open.pop_back();
    if (reached.insert(node).second) {
      open.insert(open.end(), node->before.begin(), node->before.end());
    }
  }
  const auto leads_there = [&](cudaGraphNode_t node) { return reached.count(node) != 0; };
  for (const CUstream_st* stream : c.streams) {
    if (stream == c.origin) continue;
    if (!std::all_of(stream->tips.begin(), stream->tips.end(), leads_there)) return false;
  }
  return std::all_of(c.orphans.begin(), c.orphans.end(), leads_there);
}

bool known_mode(cudaStreamCaptureMode mode) {
  return mode == cudaStreamCaptureModeGlobal || mode == cudaStreamCaptureModeThreadLocal ||
         mode == cudaStreamCaptureModeRelaxed;
}

status begin(cudaStream_t handle, cudaStreamCaptureMode mode, CUgraph_st* into,
             const std::vector<cudaGraphNode_t>& tips) {
  if (!known_mode(mode)) return status::invalid_value;
  const auto stream = resolve(handle);
  if (!stream) return stream.error();
  // CUDA: the legacy stream cannot be captured; capture.tsv begin.null, begin.legacy
  if ((*stream)->kind == stream_kind::legacy) return status::stream_capture_unsupported;
  the_engine().wait_for_blocked_calls();
  const std::lock_guard lock(capture_mutex());
  if ((*stream)->captured_by) return status::illegal_state;  // capture.tsv refuse.*.begin.again
  // CUDA: one capture into a graph at a time; graphs.tsv to.same.graph.again
  const bool taken =
      into != nullptr && std::any_of(under_way().begin(), under_way().end(),
                                     [&](const auto& c) { return c->graph == into; });
  if (taken) return status::illegal_state;
  static std::uint64_t next_id = 1;
  auto c = std::make_shared<capture>();
  c->id = next_id++;
  c->mode = mode;
  c->thread = std::this_thread::get_id();
  c->origin = *stream;
  c->owns_graph = into == nullptr;
  c->graph = into != nullptr ? into : create_graph();
  if (c->graph == nullptr) return status::memory_allocation;
  under_way().push_back(c);
  captures_under_way().fetch_add(1, std::memory_order_acq_rel);
  the_engine().tell_captures(static_cast<int>(under_way().size()));
  engine::checked_state::changed();
  join(**stream, c, tips);
  return status::success;
}

}  // namespace

std::mutex& capture_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

std::atomic<int>& captures_under_way() {
  static std::atomic<int> count{0};
  return count;
}

void invalidate(capture& c) { c.invalidated = true; }

void join(CUstream_st& stream, const std::shared_ptr<capture>& c,
          const std::vector<cudaGraphNode_t>& tips) {
  stream.captured_by = c;
  stream.tips = tips;
  stream.capturing.store(true, std::memory_order_release);
  c->streams.push_back(&stream);
}

void leave(CUstream_st& stream) {
  const std::shared_ptr<capture> c = stream.captured_by;
  if (!c) return;
  if (c->origin == &stream) {
    finish(c);
    drop_graph(*c);
    return;
  }
  // CUDA: a forked stream may be destroyed during the capture; capture.tsv refuse.*.destroy.stream
  c->orphans.insert(c->orphans.end(), stream.tips.begin(), stream.tips.end());
  std::erase(c->streams, &stream);
  release_stream(stream);
}

result<command_id> captured(CUstream_st& stream, node_recipe recipe) {
  capture& c = *stream.captured_by;
  if (c.invalidated) return status::stream_capture_invalidated;
  note_memory_node(*c.graph, recipe);
  cudaGraphNode_t node = append_node(*c.graph, std::move(recipe), stream.tips);
  if (node == nullptr) return status::memory_allocation;
  stream.tips.assign(1, node);
  the_engine().call_was_captured();
  return command_id{};
}

status admit_live_work(CUstream_st& stream) {
  if (stream.kind != stream_kind::legacy) return status::success;
  status answer = status::success;
  for (const auto& c : under_way()) {
    if (!has_blocking_stream(*c, stream.device)) continue;
    invalidate(*c);
    answer = status::stream_capture_implicit;
  }
  return answer;
}

status peek_live_work(const CUstream_st& stream) {
  if (stream.kind != stream_kind::legacy) return status::success;
  const bool implicit = std::any_of(under_way().begin(), under_way().end(), [&](const auto& c) {
    return has_blocking_stream(*c, stream.device);
  });
  return implicit ? status::stream_capture_implicit : status::success;
}

status admit_unsafe_call() {
  if (captures_under_way().load(std::memory_order_acquire) == 0) return status::success;
  const std::lock_guard lock(capture_mutex());
  return check_unsafe_locked();
}

void end_captures(device_id device) {
  if (captures_under_way().load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(capture_mutex());
  const std::vector<std::shared_ptr<capture>> all = under_way();
  for (const auto& c : all) {
    if (c->origin->device != device) continue;
    finish(c);
    drop_graph(*c);
  }
}

// CUDA: refused in every mode while a stream of the device is captured; capture.tsv
// refuse.*.devicesync
status admit_device_wait(device_id device) {
  if (captures_under_way().load(std::memory_order_acquire) == 0) return status::success;
  const std::lock_guard lock(capture_mutex());
  status answer = check_unsafe_locked();
  for (const auto& c : under_way()) {
    for (const CUstream_st* stream : c->streams) {
      if (stream->device != device) continue;
      invalidate(*c);
      answer = status::stream_capture_unsupported;
    }
  }
  return answer;
}

// CUDA: a captured stream cannot be waited for in any mode, another one only when no mode forbids
// it; capture.tsv refuse.*.streamsync.*, refuse.*.query.*
status admit_host_wait(CUstream_st& stream) {
  if (captures_under_way().load(std::memory_order_acquire) == 0) return status::success;
  const std::lock_guard lock(capture_mutex());
  if (stream.captured_by) {
    invalidate(*stream.captured_by);
    return status::stream_capture_unsupported;
  }
  return check_unsafe_locked();
}

status refuse_captured(CUevent_st& event, on_refusal what) {
  if (!event.captured.load(std::memory_order_acquire)) return status::success;
  const std::lock_guard lock(capture_mutex());
  if (!event.captured_by) return status::success;
  // CUDA: after the capture ended such an event is not usable; capture.tsv captured.event.*.after
  if (event.captured_by->over) return status::invalid_value;
  if (what == on_refusal::invalidate) invalidate(*event.captured_by);
  return status::captured_event;
}

status refuse_captured(CUstream_st& stream) {
  if (!is_capturing(stream)) return status::success;
  const std::lock_guard lock(capture_mutex());
  if (!stream.captured_by) return status::success;
  invalidate(*stream.captured_by);
  return status::stream_capture_unsupported;
}

SB_API cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream,
                                                    cudaStreamCaptureMode mode) {
  return entry(call_kind::device, [&] { return begin(stream, mode, nullptr, {}); });
}
SB_PTSZ(cudaStreamBeginCapture, (cudaStream_t stream, cudaStreamCaptureMode mode), (stream, mode))

SB_API cudaError_t CUDARTAPI cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                           const cudaGraphNode_t* dependencies,
                                                           const cudaGraphEdgeData* edges,
                                                           size_t count,
                                                           cudaStreamCaptureMode mode) {
  return entry(call_kind::device, [&]() -> status {
    if (!graphs().alive(graph)) return status::invalid_value;
    if (count != 0 && dependencies == nullptr) return status::invalid_value;
    const std::vector<cudaGraphNode_t> tips(dependencies, dependencies + count);
    for (cudaGraphNode_t node : tips) {
      if (!nodes().alive(node) || node->graph != graph) return status::invalid_value;
    }
    if (const status s = check_plain(edges, count); s != status::success) return s;
    return begin(stream, mode, graph, tips);
  });
}
SB_PTSZ(cudaStreamBeginCaptureToGraph,
        (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
         const cudaGraphEdgeData* edges, size_t count, cudaStreamCaptureMode mode),
        (stream, graph, dependencies, edges, count, mode))

SB_API cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* out) {
  return entry(call_kind::device, [&]() -> status {
    if (out != nullptr) *out = nullptr;
    const auto stream = resolve(handle);
    if (!stream) return stream.error();
    const std::lock_guard lock(capture_mutex());
    const std::shared_ptr<capture> c = (*stream)->captured_by;
    if (!c) return status::illegal_state;  // capture.tsv end.without.begin
    if (c->origin != *stream) {
      invalidate(*c);
      return status::stream_capture_unmatched;
    }
    status answer = status::success;
    // CUDA: the wrong thread's end still ends the capture; capture.tsv end.wrong.thread.then
    if (c->mode != cudaStreamCaptureModeRelaxed && c->thread != std::this_thread::get_id()) {
      answer = status::stream_capture_wrong_thread;
    } else if (c->invalidated) {
      answer = status::stream_capture_invalidated;
    } else if (!joined(*c)) {
      answer = status::stream_capture_unjoined;
    }
    finish(c);
    // CUDA: who does not ask for the graph does not get it; graphs.tsv plain.end.null
    if (answer == status::success && out != nullptr) {
      *out = c->graph;
    } else {
      drop_graph(*c);
    }
    return answer;
  });
}
SB_PTSZ(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t* graph), (stream, graph))

SB_API cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t handle,
                                                   cudaStreamCaptureStatus* out) {
  return as_call([&] {
    return cudaStreamGetCaptureInfo(handle, out, nullptr, nullptr, nullptr, nullptr, nullptr);
  });
}
SB_PTSZ(cudaStreamIsCapturing, (cudaStream_t stream, cudaStreamCaptureStatus* out), (stream, out))

SB_API cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(
    cudaStream_t handle, cudaStreamCaptureStatus* out, unsigned long long* id, cudaGraph_t* graph,
    const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges, size_t* count) {
  return entry(call_kind::device, [&]() -> status {
    if (out == nullptr) return status::invalid_value;
    const auto stream = resolve_quietly(handle);
    if (!stream) return stream.error();
    *out = cudaStreamCaptureStatusNone;
    const std::lock_guard lock(capture_mutex());
    // CUDA: asked about the legacy stream beside a captured blocking one, it answers implicit
    if (const status s = peek_live_work(**stream); s != status::success) return s;
    const std::shared_ptr<capture>& c = (*stream)->captured_by;
    if (!c) return status::success;
    *out = c->invalidated ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
    if (id != nullptr) *id = c->id;
    if (c->invalidated) return status::success;
    if (graph != nullptr) *graph = c->graph;
    if (dependencies != nullptr) *dependencies = (*stream)->tips.data();
    if (edges != nullptr) {  // all are plain
      (*stream)->tip_edges.assign((*stream)->tips.size(), cudaGraphEdgeData{});
      *edges = (*stream)->tip_edges.data();
    }
    if (count != nullptr) *count = (*stream)->tips.size();
    return status::success;
  });
}
SB_PTSZ(cudaStreamGetCaptureInfo,
        (cudaStream_t stream, cudaStreamCaptureStatus* out, unsigned long long* id,
         cudaGraph_t* graph, const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
         size_t* count),
        (stream, out, id, graph, dependencies, edges, count))

SB_API cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies(cudaStream_t handle,
                                                                 cudaGraphNode_t* dependencies,
                                                                 const cudaGraphEdgeData* edges,
                                                                 size_t count, unsigned flags) {
  return entry(call_kind::device, [&]() -> status {
    if (flags != cudaStreamAddCaptureDependencies && flags != cudaStreamSetCaptureDependencies) {
      return status::invalid_value;
    }
    if (count != 0 && dependencies == nullptr) return status::invalid_value;
    if (const status s = check_plain(edges, count); s != status::success) return s;
    const auto stream = resolve(handle);
    if (!stream) return stream.error();
    const std::lock_guard lock(capture_mutex());
    const std::shared_ptr<capture>& c = (*stream)->captured_by;
    if (!c) return status::illegal_state;
    if (c->invalidated) return status::stream_capture_invalidated;
    for (size_t i = 0; i < count; ++i) {
      if (!nodes().alive(dependencies[i]) || dependencies[i]->graph != c->graph) {
        return status::invalid_value;
      }
    }
    auto& tips = (*stream)->tips;
    if (flags == cudaStreamSetCaptureDependencies) tips.clear();
    for (size_t i = 0; i < count; ++i) {
      if (std::find(tips.begin(), tips.end(), dependencies[i]) == tips.end()) {
        tips.push_back(dependencies[i]);
      }
    }
    return status::success;
  });
}
SB_PTSZ(cudaStreamUpdateCaptureDependencies,
        (cudaStream_t stream, cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
         size_t count, unsigned flags),
        (stream, dependencies, edges, count, flags))

SB_API cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return entry(call_kind::plain, [&]() -> status {
    if (mode == nullptr) return status::invalid_value;
    std::swap(self().capture_mode, *mode);
    return status::success;
  });
}

}  // namespace sb::cudart
