// For recording_test.py: calls that are other ones, or share what they do.
#include <cuda_runtime.h>

__device__ int variable;
__global__ void kernel() {}

int main() {
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaEvent_t e;
  cudaEventCreate(&e);
  char *host, *device;
  cudaMallocHost(reinterpret_cast<void**>(&host), 4096);
  cudaMalloc(reinterpret_cast<void**>(&device), 4096);
  cudaMemcpy2D(device, 64, host, 64, 32, 4, cudaMemcpyHostToDevice);
  cudaMemcpy2DAsync(device, 64, host, 64, 32, 4, cudaMemcpyHostToDevice, s);
  cudaMemcpy3DParms box = {};
  box.srcPtr = make_cudaPitchedPtr(host, 64, 64, 4);
  box.dstPtr = make_cudaPitchedPtr(device, 64, 64, 4);
  box.extent = make_cudaExtent(32, 4, 1);
  box.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&box);
  cudaMemcpy3DAsync(&box, s);
  cudaMemset(device, 0, 64);
  cudaMemset2DAsync(device, 64, 0, 32, 4, s);
  const int one = 1;
  cudaMemcpyToSymbol(variable, &one, sizeof one);
  unsigned flags = 0;
  cudaStreamGetFlags(s, &flags);
  cudaFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), cudaFuncCachePreferNone);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t node;
  cudaGraphAddEmptyNode(&node, graph, nullptr, 0);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  return cudaDeviceSynchronize();
}
