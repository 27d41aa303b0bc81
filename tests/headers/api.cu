// The runtime API as C++ programs call it: typed pointers, symbols by name, kernels as functions,
// and the forms of earlier versions. It only has to compile.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

__device__ float symbol[16];
__constant__ int table[4];
__global__ void kernel(float* data, int n, double factor) { data[n] *= static_cast<float>(factor); }
void host_function(void*) {}
void callback(cudaStream_t, cudaError_t, void*) {}

cudaError_t memory() {
  float* p = nullptr;
  int* q = nullptr;
  size_t pitch = 0, size = 0;
  void* address = nullptr;
  cudaStream_t stream = nullptr;
  cudaMemPool_t pool = nullptr;
  float host[16] = {};
  cudaMalloc(&p, 64);
  cudaMalloc((void**)&p, 64);
  cudaMallocHost(&q, 64);
  cudaMallocHost((void**)&q, 64, cudaHostAllocMapped);
  cudaHostAlloc(&q, 64, cudaHostAllocDefault);
  cudaHostGetDevicePointer(&p, q, 0);
  cudaMallocManaged(&p, 64);
  cudaMallocPitch(&p, &pitch, 64, 4);
  cudaMallocAsync(&p, 64, stream);
  cudaMallocAsync(&p, 64, pool, stream);
  cudaMallocFromPoolAsync(&p, 64, pool, stream);
  cudaFreeAsync(p, stream);
  cudaMemcpyToSymbol(symbol, host, sizeof(host));
  cudaMemcpyToSymbol(table, host, sizeof(table), 0, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbolAsync(symbol, host, sizeof(host), 0, cudaMemcpyHostToDevice, stream);
  cudaMemcpyFromSymbol(host, symbol, sizeof(host));
  cudaMemcpyFromSymbolAsync(host, symbol, sizeof(host), 0, cudaMemcpyDeviceToHost, stream);
  cudaGetSymbolAddress(&address, symbol);
  cudaGetSymbolSize(&size, symbol);
  cudaMemcpy3DParms parameters = {};
  parameters.extent = make_cudaExtent(4, 4, 4);
  parameters.srcPtr = make_cudaPitchedPtr(host, 16, 4, 4);
  parameters.srcPos = make_cudaPos(0, 0, 0);
  cudaMemcpy3DAsync(&parameters);
  cudaMemLocation location = {cudaMemLocationTypeDevice, 0};
  cudaMemPrefetchAsync(p, 64, location, 0, stream);
  cudaMemPrefetchAsync(p, 64, 0, stream);
  cudaMemPrefetchAsync(p, 64, cudaCpuDeviceId);
  cudaMemAdvise(p, 64, cudaMemAdviseSetReadMostly, location);
  return cudaMemAdvise(p, 64, cudaMemAdviseSetReadMostly, 0);
}

cudaError_t launches(cudaStream_t stream) {
  float* data = nullptr;
  int n = 3, blocks = 0, threads = 0;
  double factor = 2.0;
  void* arguments[] = {&data, &n, &factor};
  kernel<<<1, 32>>>(data, n, factor);
  kernel<<<dim3(1, 2), dim3(32), 64, stream>>>(data, n, factor);
  cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments);
  cudaLaunchKernel((void*)kernel, 1, 1, arguments, 0, stream);
  cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(1), arguments, 0, stream);
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = dim3(32);
  cudaLaunchKernelEx(&config, kernel, data, 3, 2.0f);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, kernel);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
  cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferL1);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 0);
  cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, kernel, 0, 0);
  cudaOccupancyMaxPotentialBlockSizeVariableSMem(&blocks, &threads, kernel,
                                                 [](int size) { return size * 4; });
  cudaProfilerStart();
  cudaLaunchHostFunc(stream, host_function, nullptr);
  cudaStreamAddCallback(stream, callback, nullptr, 0);
  return cudaProfilerStop();
}

cudaError_t events_and_graphs(cudaStream_t stream) {
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaEventCreate(&event, cudaEventDisableTiming);
  cudaEventRecord(event);
  cudaStreamWaitEvent(stream, event);
  cudaStreamWaitEvent(cudaStreamPerThread, event, cudaEventWaitDefault);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t node, from[2], to[2];
  size_t count = 2;
  cudaGraphEdgeData data[2];
  cudaStreamCaptureStatus status;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaStreamGetCaptureInfo(stream, &status);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph);
  cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
  cudaGraphGetEdges(graph, from, to, data, &count);
  cudaGraphGetEdges(graph, from, to, &count);
  cudaGraphAddDependencies(graph, from, to, data, 1);
  cudaGraphAddDependencies(graph, from, to, 1);
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeKernel};
  parameters.kernel.func = (void*)kernel;
  parameters.kernel.gridDim = dim3(4);
  cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters);
  cudaGraphExecUpdateResultInfo info;
  cudaGraphExecUpdate(exec, graph, &info);
  return cudaGraphLaunch(exec, stream);
}

int older_properties() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  return properties.deviceOverlap + properties.clockRate + properties.memoryClockRate +
         properties.kernelExecTimeoutEnabled + properties.computeMode +
         properties.singleToDoublePrecisionPerfRatio + properties.cooperativeMultiDeviceLaunch;
}
