/* Forms of the runtime API that CUDA 12 and earlier had and CUDA 13 replaced, as overloads, so that
   programs written for them compile unchanged. Each says what it became. */
#ifndef STREAMBED_EARLIER_FORMS_H
#define STREAMBED_EARLIER_FORMS_H

#include "../cuda_runtime_api.h"

/* Inlined in every build: the line of a call is that of the program. */
#define SB_API_FN static inline __attribute__((unused, always_inline)) cudaError_t

static inline __attribute__((unused)) struct cudaMemLocation __sb_location_of_device(int device) {
  struct cudaMemLocation location;
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}

/* A device number became a location. */
SB_API_FN cudaMemPrefetchAsync(const void* devPtr, size_t count, int dstDevice,
                               cudaStream_t stream = 0) {
  return ::cudaMemPrefetchAsync(devPtr, count, __sb_location_of_device(dstDevice), 0, stream);
}
SB_API_FN cudaMemAdvise(const void* devPtr, size_t count, enum cudaMemoryAdvise advice,
                        int device) {
  return ::cudaMemAdvise(devPtr, count, advice, __sb_location_of_device(device));
}

/* Edges got data. */
SB_API_FN cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                            size_t* numEdges) {
  return ::cudaGraphGetEdges(graph, from, to, nullptr, numEdges);
}
SB_API_FN cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* pDependencies,
                                       size_t* pNumDependencies) {
  return ::cudaGraphNodeGetDependencies(node, pDependencies, nullptr, pNumDependencies);
}
SB_API_FN cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* pDependentNodes,
                                         size_t* pNumDependentNodes) {
  return ::cudaGraphNodeGetDependentNodes(node, pDependentNodes, nullptr, pNumDependentNodes);
}
SB_API_FN cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                   const cudaGraphNode_t* to, size_t numDependencies) {
  return ::cudaGraphAddDependencies(graph, from, to, nullptr, numDependencies);
}
SB_API_FN cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                      const cudaGraphNode_t* to, size_t numDependencies) {
  return ::cudaGraphRemoveDependencies(graph, from, to, nullptr, numDependencies);
}
SB_API_FN cudaGraphAddNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                           const cudaGraphNode_t* pDependencies, size_t numDependencies,
                           struct cudaGraphNodeParams* nodeParams) {
  return ::cudaGraphAddNode(pGraphNode, graph, pDependencies, nullptr, numDependencies, nodeParams);
}

/* The device took the place of the thread. */
SB_API_FN cudaThreadSynchronize() { return ::cudaDeviceSynchronize(); }
SB_API_FN cudaThreadExit() { return ::cudaDeviceReset(); }

#undef SB_API_FN

#endif
