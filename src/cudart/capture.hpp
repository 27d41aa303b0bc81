// Stream capture: a sequence of calls recorded into a graph instead of run.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cudart/context.hpp"
#include "cudart/graph.hpp"

namespace sb::cudart {

// Guards everything about captures, process-wide.
std::mutex& capture_mutex();
// How many captures are under way; read before anything else so that programs without capture pay
// nothing.
std::atomic<int>& captures_under_way();

// One capture sequence. Guarded by capture_mutex().
struct capture {
  std::uint64_t id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;  // that began it
  CUstream_st* origin = nullptr;
  std::vector<CUstream_st*> streams;     // that take part, the origin first
  std::vector<cudaGraphNode_t> orphans;  // tips of streams that were destroyed meanwhile
  CUgraph_st* graph = nullptr;
  bool owns_graph = true;  // false for capture into a graph of the program
  bool invalidated = false;
  bool over = false;  // ended; events may still refer to it
};

// All under capture_mutex():
void invalidate(capture& c);
void join(CUstream_st& stream, const std::shared_ptr<capture>& c,
          const std::vector<cudaGraphNode_t>& tips);
void leave(CUstream_st& stream);  // a stream that may take part in a capture is destroyed
// Appends a node to the capture of a captured stream.
result<command_id> captured(CUstream_st& stream, node_recipe recipe);
// Whether the legacy stream may be used: it would depend on captured blocking streams.
status admit_live_work(CUstream_st& stream);
status peek_live_work(const CUstream_st& stream);  // the same, harmless to the captures

// Takes capture_mutex(). Whether a call that is unsafe during a capture may go on.
status admit_unsafe_call();
// Takes capture_mutex(). Whether the host may wait for the whole device.
status admit_device_wait(device_id device);
// Takes capture_mutex(). CUDA: a reset ends the captures of its device; mixes.tsv resets.*
void end_captures(device_id device);
// Takes capture_mutex(). For calls that a captured event or stream refuses: invalidates its
// capture.
enum class on_refusal : std::uint8_t { invalidate, keep };
status refuse_captured(CUevent_st& event, on_refusal what = on_refusal::invalidate);
status refuse_captured(CUstream_st& stream);

}  // namespace sb::cudart
