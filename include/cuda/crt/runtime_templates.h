/* The runtime API with the types of C++: typed pointers, symbols by name, kernels as functions. */
#ifndef STREAMBED_RUNTIME_TEMPLATES_H
#define STREAMBED_RUNTIME_TEMPLATES_H

#include "../cuda_runtime_api.h"

/* Inlined in every build: the line of a call is that of the program. */
#define SB_API_FN static inline __attribute__((unused, always_inline)) cudaError_t

/* Memory. */
template <typename Type>
SB_API_FN cudaMalloc(Type** devPtr, size_t size) {
  return ::cudaMalloc((void**)(devPtr), size);
}
template <typename Type>
SB_API_FN cudaMallocPitch(Type** devPtr, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch((void**)(devPtr), pitch, width, height);
}
SB_API_FN cudaMallocHost(void** ptr, size_t size, unsigned int flags) {
  return ::cudaHostAlloc(ptr, size, flags);
}
template <typename Type>
SB_API_FN cudaMallocHost(Type** ptr, size_t size, unsigned int flags = 0) {
  return ::cudaHostAlloc((void**)(ptr), size, flags);
}
template <typename Type>
SB_API_FN cudaHostAlloc(Type** ptr, size_t size, unsigned int flags) {
  return ::cudaHostAlloc((void**)(ptr), size, flags);
}
template <typename Type>
SB_API_FN cudaHostGetDevicePointer(Type** pDevice, void* pHost, unsigned int flags) {
  return ::cudaHostGetDevicePointer(reinterpret_cast<void**>(pDevice), pHost, flags);
}
template <typename Type>
SB_API_FN cudaMallocManaged(Type** devPtr, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void**)(devPtr), size, flags);
}
template <typename Type>
SB_API_FN cudaStreamAttachMemAsync(cudaStream_t stream, Type* devPtr, size_t length = 0,
                                   unsigned int flags = cudaMemAttachSingle) {
  return ::cudaStreamAttachMemAsync(stream, static_cast<void*>(devPtr), length, flags);
}
template <typename Type>
SB_API_FN cudaMallocAsync(Type** ptr, size_t size, cudaStream_t stream) {
  return ::cudaMallocAsync((void**)(ptr), size, stream);
}
SB_API_FN cudaMallocAsync(void** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(ptr, size, memPool, stream);
}
template <typename Type>
SB_API_FN cudaMallocAsync(Type** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(ptr), size, memPool, stream);
}
template <typename Type>
SB_API_FN cudaMallocFromPoolAsync(Type** ptr, size_t size, cudaMemPool_t memPool,
                                  cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(ptr), size, memPool, stream);
}

/* Symbols. */
/* Of any type, also a volatile one or one with an operator& of its own. */
#define SB_SYMBOL(symbol)        \
  reinterpret_cast<const void*>( \
      &const_cast<const char&>(reinterpret_cast<const volatile char&>(symbol)))
template <typename Type>
SB_API_FN cudaGetSymbolAddress(void** devPtr, const Type& symbol) {
  return ::cudaGetSymbolAddress(devPtr, SB_SYMBOL(symbol));
}
template <typename Type>
SB_API_FN cudaGetSymbolSize(size_t* size, const Type& symbol) {
  return ::cudaGetSymbolSize(size, SB_SYMBOL(symbol));
}
template <typename Type>
SB_API_FN cudaMemcpyToSymbol(const Type& symbol, const void* src, size_t count, size_t offset = 0,
                             enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol(SB_SYMBOL(symbol), src, count, offset, kind);
}
template <typename Type>
SB_API_FN cudaMemcpyToSymbolAsync(const Type& symbol, const void* src, size_t count,
                                  size_t offset = 0,
                                  enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                  cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync(SB_SYMBOL(symbol), src, count, offset, kind, stream);
}
template <typename Type>
SB_API_FN cudaMemcpyFromSymbol(void* dst, const Type& symbol, size_t count, size_t offset = 0,
                               enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(dst, SB_SYMBOL(symbol), count, offset, kind);
}
template <typename Type>
SB_API_FN cudaMemcpyFromSymbolAsync(void* dst, const Type& symbol, size_t count, size_t offset = 0,
                                    enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                    cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(dst, SB_SYMBOL(symbol), count, offset, kind, stream);
}
template <typename Type>
SB_API_FN cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                         const cudaGraphNode_t* pDependencies,
                                         size_t numDependencies, const Type& symbol,
                                         const void* src, size_t count, size_t offset,
                                         enum cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeToSymbol(pGraphNode, graph, pDependencies, numDependencies,
                                          SB_SYMBOL(symbol), src, count, offset, kind);
}
template <typename Type>
SB_API_FN cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t* pDependencies,
                                           size_t numDependencies, void* dst, const Type& symbol,
                                           size_t count, size_t offset, enum cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeFromSymbol(pGraphNode, graph, pDependencies, numDependencies, dst,
                                            SB_SYMBOL(symbol), count, offset, kind);
}
template <typename Type>
SB_API_FN cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const Type& symbol,
                                               const void* src, size_t count, size_t offset,
                                               enum cudaMemcpyKind kind) {
  return ::cudaGraphMemcpyNodeSetParamsToSymbol(node, SB_SYMBOL(symbol), src, count, offset, kind);
}
template <typename Type>
SB_API_FN cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst,
                                                 const Type& symbol, size_t count, size_t offset,
                                                 enum cudaMemcpyKind kind) {
  return ::cudaGraphMemcpyNodeSetParamsFromSymbol(node, dst, SB_SYMBOL(symbol), count, offset,
                                                  kind);
}
template <typename Type>
SB_API_FN cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                   const Type& symbol, const void* src,
                                                   size_t count, size_t offset,
                                                   enum cudaMemcpyKind kind) {
  return ::cudaGraphExecMemcpyNodeSetParamsToSymbol(hGraphExec, node, SB_SYMBOL(symbol), src, count,
                                                    offset, kind);
}
template <typename Type>
SB_API_FN cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec,
                                                     cudaGraphNode_t node, void* dst,
                                                     const Type& symbol, size_t count,
                                                     size_t offset, enum cudaMemcpyKind kind) {
  return ::cudaGraphExecMemcpyNodeSetParamsFromSymbol(hGraphExec, node, dst, SB_SYMBOL(symbol),
                                                      count, offset, kind);
}
#undef SB_SYMBOL

/* Events and graphs. */
SB_API_FN cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}
/* The log is never written: what went wrong is told by the error and the node. */
SB_API_FN cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                               cudaGraphNode_t* pErrorNode, char* pLogBuffer, size_t bufferSize) {
  (void)pErrorNode;
  (void)pLogBuffer;
  (void)bufferSize;
  return ::cudaGraphInstantiate(pGraphExec, graph, 0);
}
SB_API_FN cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                              cudaGraphNode_t* hErrorNode_out,
                              enum cudaGraphExecUpdateResult* updateResult_out) {
  cudaGraphExecUpdateResultInfo info;
  const cudaError_t status = ::cudaGraphExecUpdate(hGraphExec, hGraph, &info);
  if (hErrorNode_out) *hErrorNode_out = info.errorNode;
  if (updateResult_out) *updateResult_out = info.result;
  return status;
}
template <typename Type>
SB_API_FN cudaUserObjectCreate(cudaUserObject_t* object_out, Type* objectToWrap,
                               unsigned int initialRefcount, unsigned int flags) {
  return ::cudaUserObjectCreate(
      object_out, objectToWrap, [](void* object) { delete static_cast<Type*>(object); },
      initialRefcount, flags);
}
template <typename Type>
SB_API_FN cudaUserObjectCreate(cudaUserObject_t* object_out, Type* objectToWrap,
                               unsigned int initialRefcount, cudaUserObjectFlags flags) {
  return cudaUserObjectCreate(object_out, objectToWrap, initialRefcount,
                              static_cast<unsigned int>(flags));
}

/* Kernels. */
#define SB_KERNEL(func) reinterpret_cast<const void*>(func)
template <typename Type>
SB_API_FN cudaLaunchKernel(Type* func, dim3 gridDim, dim3 blockDim, void** args,
                           size_t sharedMem = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchKernel(SB_KERNEL(func), gridDim, blockDim, args, sharedMem, stream);
}
template <typename Type>
SB_API_FN cudaLaunchCooperativeKernel(Type* func, dim3 gridDim, dim3 blockDim, void** args,
                                      size_t sharedMem = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel(SB_KERNEL(func), gridDim, blockDim, args, sharedMem, stream);
}
/* Arguments are converted to the kernel's parameter types, as in a call. */
template <typename... Params, typename... Args>
SB_API_FN cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                             Args&&... args) {
  return [&](Params... converted) {
    void* pointers[] = {const_cast<void*>(static_cast<const volatile void*>(&converted))...,
                        nullptr};
    return ::cudaLaunchKernelExC(config, SB_KERNEL(kernel), pointers);
  }(static_cast<Args&&>(args)...);
}
template <typename Type>
SB_API_FN cudaFuncGetAttributes(struct cudaFuncAttributes* attr, Type* func) {
  return ::cudaFuncGetAttributes(attr, SB_KERNEL(func));
}
template <typename Type>
SB_API_FN cudaFuncSetAttribute(Type* func, enum cudaFuncAttribute attr, int value) {
  return ::cudaFuncSetAttribute(SB_KERNEL(func), attr, value);
}
template <typename Type>
SB_API_FN cudaFuncSetCacheConfig(Type* func, enum cudaFuncCache cacheConfig) {
  return ::cudaFuncSetCacheConfig(SB_KERNEL(func), cacheConfig);
}
template <typename Type>
SB_API_FN cudaFuncSetSharedMemConfig(Type* func, enum cudaSharedMemConfig config) {
  return ::cudaFuncSetSharedMemConfig(SB_KERNEL(func), config);
}
template <typename Type>
SB_API_FN cudaFuncGetName(const char** name, Type* func) {
  return ::cudaFuncGetName(name, SB_KERNEL(func));
}
#undef SB_KERNEL

#undef SB_API_FN

#endif
