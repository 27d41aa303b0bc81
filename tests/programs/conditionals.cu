// Conditional graph nodes whose values kernels set. Prints ok when every result is right.
#include <cuda_runtime.h>
#include <cstdio>

#include "checks.h"

__global__ void count(int* counter) { *counter += 1; }
__global__ void set_from(cudaGraphConditionalHandle handle, const int* value) {
  cudaGraphSetConditional(handle, static_cast<unsigned>(*value));
}
__global__ void count_down(cudaGraphConditionalHandle handle, int* left, int* rounds) {
  *rounds += 1;
  *left -= 1;
  cudaGraphSetConditional(handle, *left > 0);
}

static cudaGraphNode_t conditional(cudaGraph_t graph, cudaGraphNode_t before,
                                   cudaGraphConditionalHandle handle,
                                   cudaGraphConditionalNodeType type, unsigned size,
                                   cudaGraph_t* bodies) {
  cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = size;
  cudaGraphNode_t node = nullptr;
  OK(cudaGraphAddNode(&node, graph, before != nullptr ? &before : nullptr, nullptr,
                      before != nullptr, &params));
  for (unsigned i = 0; i < size; ++i) bodies[i] = params.conditional.phGraph_out[i];
  return node;
}

static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t before, void* function,
                              void** arguments) {
  cudaGraphNodeParams params = {cudaGraphNodeTypeKernel};
  params.kernel.func = function;
  params.kernel.gridDim = dim3(1);
  params.kernel.blockDim = dim3(1);
  params.kernel.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  OK(cudaGraphAddNode(&node, graph, before != nullptr ? &before : nullptr, nullptr,
                      before != nullptr, &params));
  return node;
}

int main() {
  int* m = nullptr;
  OK(cudaMallocManaged(&m, 64 * sizeof(int)));
  for (int i = 0; i < 64; ++i) m[i] = 0;
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));

  // A kernel sets the value that a switch of five bodies looks at; a node behind it counts.
  {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&handle, graph));
    int* value = m;
    void* set[] = {&handle, &value};
    const cudaGraphNode_t first = kernel(graph, nullptr, (void*)set_from, set);
    cudaGraph_t bodies[5];
    const cudaGraphNode_t node =
        conditional(graph, first, handle, cudaGraphCondTypeSwitch, 5, bodies);
    for (int i = 0; i < 5; ++i) {
      int* counter = m + 1 + i;
      void* arguments[] = {&counter};
      kernel(bodies[i], nullptr, (void*)count, arguments);
    }
    int* after = m + 10;
    void* arguments[] = {&after};
    kernel(graph, node, (void*)count, arguments);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 7; ++i) {
      *value = i;
      OK(cudaGraphLaunch(exec, stream));
      OK(cudaStreamSynchronize(stream));
    }
    for (int i = 0; i < 5; ++i) CHECK(m[1 + i] == 1);
    CHECK(m[10] == 7);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
  }

  // A loop inside of a loop, both captured; the inner one counts down from what the outer one sets.
  {
    cudaGraph_t graph, outer, inner;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle outer_handle, inner_handle;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&outer_handle, graph, 1, cudaGraphCondAssignDefault));
    conditional(graph, nullptr, outer_handle, cudaGraphCondTypeWhile, 1, &outer);
    OK(cudaGraphConditionalHandleCreate(&inner_handle, outer));
    int* outer_left = m + 20;
    int* inner_left = m + 21;
    int* start = m + 22;
    int* outer_rounds = m + 23;
    int* inner_rounds = m + 24;
    OK(cudaStreamBeginCaptureToGraph(stream, outer, nullptr, nullptr, 0,
                                     cudaStreamCaptureModeGlobal));
    OK(cudaMemcpyAsync(inner_left, start, sizeof(int), cudaMemcpyDefault, stream));
    set_from<<<1, 1, 0, stream>>>(inner_handle, start);
    const cudaGraphNode_t* tips = nullptr;
    size_t tip_count = 0;
    cudaStreamCaptureStatus status;
    cudaGraph_t capturing = nullptr;
    OK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &capturing, &tips, nullptr, &tip_count));
    CHECK(capturing == outer && tip_count == 1);
    cudaGraphNode_t loop =
        conditional(outer, tips[0], inner_handle, cudaGraphCondTypeWhile, 1, &inner);
    OK(cudaStreamUpdateCaptureDependencies(stream, &loop, nullptr, 1,
                                           cudaStreamSetCaptureDependencies));
    count_down<<<1, 1, 0, stream>>>(outer_handle, outer_left, outer_rounds);
    OK(cudaStreamEndCapture(stream, nullptr));
    OK(cudaStreamBeginCaptureToGraph(stream, inner, nullptr, nullptr, 0,
                                     cudaStreamCaptureModeGlobal));
    count_down<<<1, 1, 0, stream>>>(inner_handle, inner_left, inner_rounds);
    OK(cudaStreamEndCapture(stream, nullptr));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int launch = 1; launch <= 3; ++launch) {
      *outer_left = 4;
      *start = 6;
      OK(cudaGraphLaunch(exec, stream));
      OK(cudaStreamSynchronize(stream));
      CHECK(*outer_rounds == 4 * launch);
      CHECK(*inner_rounds == 24 * launch);
    }
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
  }
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(m));
  std::puts(wrong == 0 ? "ok" : "not ok");
  return wrong != 0;
}
