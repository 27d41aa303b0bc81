/* The runtime from C: streams, events, host functions, a graph. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(cudaError_t answer, const char* what) {
  if (answer != cudaSuccess) {
    printf("%s: %s\n", what, cudaGetErrorString(answer));
    ++failures;
  }
}
#define CHECK(call) check(call, #call)

static void CUDART_CB count_up(void* data) { ++*(int*)data; }

int main(void) {
  int ran = 0;
  int host[4] = {1, 2, 3, 4};
  int back[4] = {0, 0, 0, 0};
  void* device = NULL;
  float ms = -1;
  cudaStream_t stream;
  cudaEvent_t before, after;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t node;
  struct cudaHostNodeParams params;
  params.fn = count_up;
  params.userData = &ran;

  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&before));
  CHECK(cudaEventCreate(&after));
  CHECK(cudaMalloc(&device, sizeof host));
  CHECK(cudaEventRecord(before, stream));
  CHECK(cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpyAsync(back, device, sizeof host, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaLaunchHostFunc(stream, count_up, &ran));
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddHostNode(&node, graph, NULL, 0, &params));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaEventRecord(after, stream));
  CHECK(cudaEventSynchronize(after));
  CHECK(cudaEventElapsedTime(&ms, before, after));
  if (ran != 2 || ms < 0 || memcmp(host, back, sizeof host) != 0) {
    printf("ran %d, %f ms, first value %d\n", ran, (double)ms, back[0]);
    ++failures;
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(device));
  CHECK(cudaEventDestroy(before));
  CHECK(cudaEventDestroy(after));
  CHECK(cudaStreamDestroy(stream));
  if (cudaSetDevice(-1) != cudaErrorInvalidDevice) ++failures;
  return failures;
}
