// Stream capture: a sequence of calls recorded into a graph instead of run.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
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
  std::vector<CUstream_st*> streams;  // that take part, the origin first
  CUgraph_st* graph = nullptr;
  bool owns_graph = true;  // false for capture into a graph of the program
  bool invalidated = false;
  bool over = false;  // ended; events may still refer to it
};

// All under capture_mutex():
void invalidate(capture& c);
void join(CUstream_st& stream, const std::shared_ptr<capture>& c,
          const std::vector<cudaGraphNode_t>& tips);
void leave(CUstream_st& stream);        // a captured stream is destroyed or its capture ended
std::vector<capture*> live_captures();  // not over, in the order in which they began

}  // namespace sb::cudart
