// Kernel nodes of graphs: edges with data, attributes, and what an update allows. Prints ok when
// every answer is right.
#include <cuda_runtime.h>
#include <cstdio>

#include "checks.h"

#define ANSWERS(error, call) CHECK((call) == error)

__global__ void add(int* where, int value) { *where += value; }
__global__ void twice(int* where, int value) { *where = *where * 2 + value; }

static int* m = nullptr;

static cudaGraphNode_t kernel(cudaGraph_t graph, void (*function)(int*, int), int value) {
  cudaKernelNodeParams params{};
  params.func = (void*)function;
  params.gridDim = params.blockDim = dim3(1);
  void* arguments[] = {&m, &value};
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  return node;
}

static void edges() {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t a = kernel(graph, add, 3), b = kernel(graph, twice, 1), c = nullptr;
  OK(cudaGraphAddEmptyNode(&c, graph, nullptr, 0));
  cudaGraphEdgeData data{};
  data.from_port = cudaGraphKernelNodePortProgrammatic;
  ANSWERS(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &a, &b, &data, 1));
  data.type = cudaGraphDependencyTypeProgrammatic;
  ANSWERS(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &a, &c, &data, 1));
  OK(cudaGraphAddDependencies(graph, &a, &b, &data, 1));
  cudaGraphNode_t from[2], to[2];
  cudaGraphEdgeData read[2];
  size_t count = 2;
  ANSWERS(cudaErrorLossyQuery, cudaGraphGetEdges(graph, from, to, nullptr, &count));
  OK(cudaGraphGetEdges(graph, from, to, read, &count));
  CHECK(count == 1 && from[0] == a && to[0] == b && read[0].type == data.type &&
        read[0].from_port == data.from_port);
  count = 2;
  OK(cudaGraphNodeGetDependencies(b, from, read, &count));
  CHECK(count == 1 && from[0] == a && read[0].type == data.type);
  count = 2;
  ANSWERS(cudaErrorLossyQuery, cudaGraphNodeGetDependentNodes(a, to, nullptr, &count));
  cudaGraph_t clone;
  OK(cudaGraphClone(&clone, graph));
  count = 2;
  OK(cudaGraphGetEdges(clone, from, to, read, &count));
  CHECK(count == 1 && read[0].from_port == data.from_port);
  // Whatever the edge promises, the second kernel is not done before the first.
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, clone, 0));
  *m = 0;
  OK(cudaGraphLaunch(exec, 0));
  OK(cudaDeviceSynchronize());
  CHECK(*m == 7);
  OK(cudaGraphRemoveDependencies(graph, &a, &b, nullptr, 1));
  ANSWERS(cudaErrorInvalidValue, cudaGraphRemoveDependencies(graph, &a, &b, &data, 1));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(clone));
  OK(cudaGraphDestroy(graph));
}

static void attributes() {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t a = kernel(graph, add, 1), b = kernel(graph, add, 1), c = nullptr;
  OK(cudaGraphAddEmptyNode(&c, graph, nullptr, 0));
  cudaLaunchAttributeValue value{};
  value.priority = -2;
  OK(cudaGraphKernelNodeSetAttribute(a, cudaLaunchAttributePriority, &value));
  ANSWERS(cudaErrorInvalidValue,
          cudaGraphKernelNodeSetAttribute(a, (cudaLaunchAttributeID)99, &value));
  ANSWERS(cudaErrorInvalidValue, cudaGraphKernelNodeCopyAttributes(c, a));
  ANSWERS(cudaErrorInvalidValue, cudaGraphKernelNodeCopyAttributes(a, c));
  OK(cudaGraphKernelNodeCopyAttributes(b, a));
  value = {};
  OK(cudaGraphKernelNodeGetAttribute(b, cudaLaunchAttributePriority, &value));
  CHECK(value.priority == -2);
  OK(cudaGraphDestroy(graph));
}

static void update() {
  cudaGraph_t graph, other;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphCreate(&other, 0));
  kernel(graph, add, 1);
  cudaGraphNode_t node = kernel(other, twice, 5);
  cudaGraphExec_t exec, with_priority;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphInstantiate(&with_priority, graph, cudaGraphInstantiateFlagUseNodePriority));
  cudaGraphExecUpdateResultInfo info{};
  OK(cudaGraphExecUpdate(exec, other, &info));
  *m = 10;
  OK(cudaGraphLaunch(exec, 0));
  OK(cudaDeviceSynchronize());
  CHECK(*m == 25);
  cudaLaunchAttributeValue value{};
  value.priority = -1;
  OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value));
  OK(cudaGraphExecUpdate(exec, other, &info));
  ANSWERS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(with_priority, other, &info));
  CHECK(info.result == cudaGraphExecUpdateErrorAttributesChanged && info.errorNode == node);
  value = {};
  value.cooperative = 1;
  OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value));
  ANSWERS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, other, &info));
  CHECK(info.result == cudaGraphExecUpdateErrorAttributesChanged);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphExecDestroy(with_priority));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(other));
}

int main() {
  OK(cudaMallocManaged(&m, sizeof(int)));
  edges();
  attributes();
  update();
  OK(cudaFree(m));
  std::puts(wrong == 0 ? "ok" : "not ok");
  return wrong != 0;
}
