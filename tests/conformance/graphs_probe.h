// What the programs about graphs share: making nodes, and running one section of a program by name.
#pragma once
#include "probe.h"

#include <cstring>
#include <map>

static __global__ void add_one(int* p) { *p += 1; }
static __global__ void add_two(int* p) { *p += 2; }
static __global__ void set_value(cudaGraphConditionalHandle h, unsigned v) { cudaGraphSetConditional(h, v); }
static __global__ void count_down(cudaGraphConditionalHandle h, int* left, int* rounds) {
  *rounds += 1;
  *left -= 1;
  cudaGraphSetConditional(h, *left > 0);
}

static int* m;  // managed
static cudaStream_t s;

inline cudaGraph_t new_graph() {
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  return g;
}
inline cudaGraphNodeParams kernel_params(void* f, void** args) {
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeKernel;
  p.kernel.func = f;
  p.kernel.gridDim = dim3(1);
  p.kernel.blockDim = dim3(1);
  p.kernel.kernelParams = args;
  return p;
}
inline cudaGraphNode_t add_kernel(cudaGraph_t g, void* f, void** args, cudaGraphNode_t before = nullptr) {
  cudaGraphNodeParams p = kernel_params(f, args);
  cudaGraphNode_t n;
  MUST(cudaGraphAddNode(&n, g, before ? &before : nullptr, nullptr, before ? 1 : 0, &p));
  return n;
}
inline cudaGraphNode_t add_counter(cudaGraph_t g, int* where, cudaGraphNode_t before = nullptr) {
  void* args[] = {&where};
  return add_kernel(g, (void*)add_one, args, before);
}
inline cudaGraphNode_t add_empty(cudaGraph_t g) {
  cudaGraphNode_t n;
  MUST(cudaGraphAddEmptyNode(&n, g, nullptr, 0));
  return n;
}
inline std::string instantiated(cudaGraph_t g, unsigned long long flags = 0, const cudaGraphNode_t* watched = nullptr) {
  cudaGraphExec_t e = nullptr;
  cudaGraphInstantiateParams ip{};
  ip.flags = flags;
  cudaError_t r = cudaGraphInstantiateWithParams(&e, g, &ip);
  std::string text = std::string(cudaGetErrorName(r)) + " result " + std::to_string((int)ip.result_out);
  text += ip.errNode_out == nullptr ? " node none" : watched && ip.errNode_out == *watched ? " node watched" : " node other";
  cudaGetLastError();
  if (e) cudaGraphExecDestroy(e);
  return text;
}
inline cudaGraphNodeParams cond(cudaGraphConditionalHandle h, cudaGraphConditionalNodeType t, unsigned size) {
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = h;
  p.conditional.type = t;
  p.conditional.size = size;
  return p;
}
inline void CUDART_CB nothing(void*) {}

// Runs the section that the first argument names; without one it names them.
inline int run_section(int argc, char** argv, const std::map<std::string, void (*)()>& all) {
  std::string which = argc > 1 ? argv[1] : "list";
  if (!all.count(which)) {
    for (auto& [name, f] : all) std::printf("%s\n", name.c_str());
    return 0;
  }
  MUST(cudaMallocManaged(&m, 4096));
  MUST(cudaStreamCreate(&s));
  all.at(which)();
  say("end", which);
  return 0;
}
