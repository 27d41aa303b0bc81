#include <thread>
#include <vector>

#include "gate.hpp"

namespace {

class capture : public with_streams {
 protected:
  void SetUp() override {
    with_streams::SetUp();
    ASSERT_OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  }
  void TearDown() override {
    EXPECT_CUDA(cudaSuccess, cudaEventDestroy(e));
    with_streams::TearDown();
  }
  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    ASSERT_OK(cudaStreamBeginCapture(a, mode));
    ASSERT_OK(cudaLaunchHostFunc(a, count_up, &ran));
  }
  cudaError_t end() {
    cudaGraph_t graph = nullptr;
    const cudaError_t answer = cudaStreamEndCapture(a, &graph);
    EXPECT_EQ(answer == cudaSuccess, graph != nullptr);
    if (graph != nullptr) cudaGraphDestroy(graph);
    return answer;
  }
  cudaStreamCaptureStatus status(cudaStream_t stream) {
    cudaStreamCaptureStatus s = cudaStreamCaptureStatusNone;
    EXPECT_CUDA(cudaSuccess, cudaStreamIsCapturing(stream, &s));
    return s;
  }
  cudaEvent_t e = nullptr;
  int ran = 0;
};

constexpr cudaStreamCaptureMode modes[] = {
    cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed};

TEST_F(capture, nothing_runs_until_the_graph_is_launched) {
  begin();
  cudaGraph_t graph = nullptr;
  ASSERT_OK(cudaStreamEndCapture(a, &graph));
  EXPECT_EQ(0, ran);
  cudaGraphExec_t exec = nullptr;
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) ASSERT_OK(cudaGraphLaunch(exec, a));
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ(3, ran);
  ASSERT_OK(cudaGraphExecDestroy(exec));
  ASSERT_OK(cudaGraphDestroy(graph));
}

TEST_F(capture, an_event_draws_another_stream_in) {
  begin();
  ASSERT_OK(cudaEventRecord(e, a));
  ASSERT_OK(cudaStreamWaitEvent(b, e, 0));
  EXPECT_EQ(cudaStreamCaptureStatusActive, status(b));
  ASSERT_OK(cudaLaunchHostFunc(b, count_up, &ran));
  ASSERT_OK(cudaLaunchHostFunc(a, count_up, &ran));
  ASSERT_OK(cudaEventRecord(e, b));
  ASSERT_OK(cudaStreamWaitEvent(a, e, 0));
  ASSERT_OK(cudaLaunchHostFunc(a, count_up, &ran));
  cudaGraph_t graph = nullptr;
  ASSERT_OK(cudaStreamEndCapture(a, &graph));
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(b));
  size_t nodes = 0;
  size_t edges = 0;
  size_t roots = 0;
  ASSERT_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  ASSERT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  ASSERT_OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT_EQ(4U, nodes);
  EXPECT_EQ(4U, edges);
  EXPECT_EQ(1U, roots);
  ASSERT_OK(cudaGraphDestroy(graph));
}

TEST_F(capture, unjoined_work_spoils_it) {
  begin();
  ASSERT_OK(cudaEventRecord(e, a));
  ASSERT_OK(cudaStreamWaitEvent(b, e, 0));
  ASSERT_OK(cudaLaunchHostFunc(b, count_up, &ran));
  EXPECT_CUDA(cudaErrorStreamCaptureUnjoined, end());
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(b));
}

TEST_F(capture, unjoined_work_of_a_destroyed_stream_spoils_it_too) {
  begin();
  cudaStream_t forked = nullptr;
  ASSERT_OK(cudaStreamCreateWithFlags(&forked, cudaStreamNonBlocking));
  ASSERT_OK(cudaEventRecord(e, a));
  ASSERT_OK(cudaStreamWaitEvent(forked, e, 0));
  ASSERT_OK(cudaLaunchHostFunc(forked, count_up, &ran));
  ASSERT_OK(cudaStreamDestroy(forked));
  EXPECT_CUDA(cudaErrorStreamCaptureUnjoined, end());
}

TEST_F(capture, waiting_for_a_captured_stream_is_refused_in_every_mode) {
  for (const auto mode : modes) {
    begin(mode);
    EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(a));
    EXPECT_EQ(cudaStreamCaptureStatusInvalidated, status(a));
    EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, end());
    begin(mode);
    EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(a));
    EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, end());
    begin(mode);
    EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cudaDeviceSynchronize());
    EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, end());
  }
}

TEST_F(capture, unsafe_calls_are_allowed_in_relaxed_mode_only) {
  void* memory = nullptr;
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal}) {
    begin(mode);
    EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cudaMalloc(&memory, 64));
    EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, end());
    begin(mode);
    EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(b));
    EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, end());
  }
  begin(cudaStreamCaptureModeRelaxed);
  EXPECT_CUDA(cudaSuccess, cudaMalloc(&memory, 64));
  EXPECT_CUDA(cudaSuccess, cudaStreamQuery(b));
  EXPECT_CUDA(cudaSuccess, end());
  ASSERT_OK(cudaFree(memory));
}

TEST_F(capture, a_wrong_argument_of_an_unsafe_call_leaves_it_alone) {
  begin();
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMalloc(nullptr, 64));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaLaunchHostFunc(a, nullptr, nullptr));
  EXPECT_CUDA(cudaSuccess, end());
}

TEST_F(capture, the_mode_of_the_calling_thread_can_be_relaxed) {
  begin();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  ASSERT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(cudaStreamCaptureModeGlobal, mode);
  void* memory = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaMalloc(&memory, 64));
  ASSERT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_CUDA(cudaSuccess, end());
  ASSERT_OK(cudaFree(memory));
}

TEST_F(capture, another_threads_unsafe_call_spoils_a_global_one_only) {
  for (const auto mode : modes) {
    begin(mode);
    cudaError_t answer = cudaErrorUnknown;
    void* memory = nullptr;
    std::thread([&] { answer = cudaMalloc(&memory, 64); }).join();
    if (mode == cudaStreamCaptureModeGlobal) {
      EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, answer);
      EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, end());
    } else {
      EXPECT_CUDA(cudaSuccess, answer);
      EXPECT_CUDA(cudaSuccess, end());
      ASSERT_OK(cudaFree(memory));
    }
  }
}

TEST_F(capture, a_captured_event_can_neither_be_asked_nor_awaited) {
  for (const auto mode : modes) {
    begin(mode);
    ASSERT_OK(cudaEventRecord(e, a));
    EXPECT_CUDA(cudaErrorCapturedEvent, cudaEventQuery(e));
    EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, end());
    EXPECT_CUDA(cudaErrorInvalidValue, cudaEventQuery(e));
    EXPECT_CUDA(cudaErrorInvalidValue, cudaEventSynchronize(e));
    EXPECT_CUDA(cudaErrorInvalidValue, cudaStreamWaitEvent(b, e, 0));
    ASSERT_OK(cudaEventRecord(e, b));  // an ordinary record makes it usable again
    EXPECT_CUDA(cudaSuccess, cudaEventSynchronize(e));
  }
}

TEST_F(capture, work_outside_cannot_be_waited_for) {
  ASSERT_OK(cudaEventRecord(e, b));
  begin();
  EXPECT_CUDA(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(a, e, 0));
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, end());
}

TEST_F(capture, a_wait_for_an_event_that_was_never_recorded_is_nothing) {
  begin();
  EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(a, e, 0));
  EXPECT_CUDA(cudaSuccess, end());
}

TEST_F(capture, two_of_them_cannot_be_merged) {
  begin();
  ASSERT_OK(cudaStreamBeginCapture(b, cudaStreamCaptureModeGlobal));
  ASSERT_OK(cudaEventRecord(e, b));
  EXPECT_CUDA(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(a, e, 0));
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, end());
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(b, &graph));
}

TEST_F(capture, beginning_and_ending_have_their_rules) {
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaErrorIllegalState, cudaStreamEndCapture(a, &graph));
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported,
              cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported,
              cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal));
  begin();
  EXPECT_CUDA(cudaErrorIllegalState, cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  EXPECT_CUDA(cudaSuccess, end());
}

TEST_F(capture, only_the_stream_that_began_can_end_it) {
  begin();
  ASSERT_OK(cudaEventRecord(e, a));
  ASSERT_OK(cudaStreamWaitEvent(b, e, 0));
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(b, &graph));
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, end());
}

TEST_F(capture, another_thread_ends_a_relaxed_one_only) {
  begin();
  cudaError_t answer = cudaSuccess;
  std::thread([&] { answer = end(); }).join();
  EXPECT_CUDA(cudaErrorStreamCaptureWrongThread, answer);
  EXPECT_CUDA(cudaErrorIllegalState, end());
  begin(cudaStreamCaptureModeRelaxed);
  std::thread([&] { answer = end(); }).join();
  EXPECT_CUDA(cudaSuccess, answer);
}

TEST_F(capture, the_legacy_stream_cannot_be_used_beside_a_captured_blocking_stream) {
  cudaStream_t blocking = nullptr;
  ASSERT_OK(cudaStreamCreate(&blocking));
  for (const auto mode : modes) {
    cudaGraph_t graph = nullptr;
    cudaStreamCaptureStatus s = cudaStreamCaptureStatusNone;
    ASSERT_OK(cudaStreamBeginCapture(blocking, mode));
    EXPECT_CUDA(cudaErrorStreamCaptureImplicit, cudaStreamIsCapturing(nullptr, &s));
    EXPECT_EQ(cudaStreamCaptureStatusActive, status(blocking));  // asking does no harm
    EXPECT_CUDA(cudaErrorStreamCaptureImplicit, cudaLaunchHostFunc(nullptr, count_up, &ran));
    EXPECT_EQ(cudaStreamCaptureStatusInvalidated, status(blocking));
    EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(blocking, &graph));
  }
  ASSERT_OK(cudaStreamDestroy(blocking));
  EXPECT_EQ(0, ran);
}

TEST_F(capture, destroying_its_origin_ends_it) {
  cudaStream_t origin = nullptr;
  ASSERT_OK(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking));
  ASSERT_OK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
  ASSERT_OK(cudaEventRecord(e, origin));
  ASSERT_OK(cudaStreamWaitEvent(b, e, 0));
  ASSERT_OK(cudaStreamDestroy(origin));
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(b));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(b));
}

TEST_F(capture, callbacks_and_graph_launches_are_refused) {
  begin();
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported,
              cudaStreamAddCallback(a, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0));
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, end());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_OK(cudaGraphCreate(&graph, 0));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  begin();
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cudaGraphLaunch(exec, a));
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, end());
  ASSERT_OK(cudaGraphExecDestroy(exec));
  ASSERT_OK(cudaGraphDestroy(graph));
}

TEST_F(capture, it_can_go_into_a_graph_of_the_program) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t first = nullptr;
  ASSERT_OK(cudaGraphCreate(&graph, 0));
  ASSERT_OK(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
  ASSERT_OK(
      cudaStreamBeginCaptureToGraph(a, graph, &first, nullptr, 1, cudaStreamCaptureModeGlobal));
  ASSERT_OK(cudaLaunchHostFunc(a, count_up, &ran));
  cudaGraph_t captured = nullptr;
  ASSERT_OK(cudaStreamEndCapture(a, &captured));
  EXPECT_EQ(graph, captured);
  size_t edges = 0;
  ASSERT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT_EQ(1U, edges);
  ASSERT_OK(cudaGraphDestroy(graph));
}

TEST_F(capture, its_dependencies_can_be_read_and_replaced) {
  begin();
  cudaStreamCaptureStatus s = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* tips = nullptr;
  size_t count = 0;
  ASSERT_OK(cudaStreamGetCaptureInfo(a, &s, &id, &graph, &tips, nullptr, &count));
  EXPECT_EQ(cudaStreamCaptureStatusActive, s);
  ASSERT_EQ(1U, count);
  cudaGraphNode_t own = nullptr;
  ASSERT_OK(cudaGraphAddEmptyNode(&own, graph, tips, count));
  ASSERT_OK(
      cudaStreamUpdateCaptureDependencies(a, &own, nullptr, 1, cudaStreamSetCaptureDependencies));
  ASSERT_OK(cudaLaunchHostFunc(a, count_up, &ran));
  size_t nodes = 0;
  ASSERT_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(3U, nodes);
  EXPECT_CUDA(cudaSuccess, end());
}

}  // namespace
