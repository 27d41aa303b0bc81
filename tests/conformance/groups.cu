// What the group of a whole grid says about itself, in launches of every kind. One section a process:
// behind a cooperative launch others find its grid too.
#include <cooperative_groups.h>

#include "probe.h"

__device__ unsigned tickets;

__global__ void ask(int* out, bool meet) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  if (threadIdx.x == 0) out[blockIdx.x * 2] = grid.is_valid();
  if (!meet) return;
  if (threadIdx.x == 0) atomicAdd(&tickets, 1);
  grid.sync();
  if (threadIdx.x == 0) out[blockIdx.x * 2 + 1] = static_cast<int>(tickets);
}

static int* out;

static void show(const char* name, int blocks) {
  const cudaError_t e = cudaDeviceSynchronize();
  say(name, e);
  if (e != cudaSuccess) return;
  std::string text;
  for (int i = 0; i < 2 * blocks; ++i) {
    text += (i ? " " : "") + std::to_string(out[i]);
    out[i] = -1;
  }
  say(std::string(name) + ".valid.met", text);
  const unsigned zero = 0;
  MUST(cudaMemcpyToSymbol(tickets, &zero, sizeof zero));
}

int main(int argc, char** argv) {
  watchdog(20);
  const std::string what = argc > 1 ? argv[1] : "";
  bool meet = true;
  MUST(cudaMallocManaged(&out, 4096));
  for (int i = 0; i < 64; ++i) out[i] = -1;
  cudaLaunchConfig_t config{};
  config.gridDim = 3;
  config.blockDim = 32;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  config.attrs = &attribute;
  config.numAttrs = 1;
  void* arguments[] = {&out, &meet};
  if (what == "grid") {
    ask<<<3, 32>>>(out, false);
    show("grid.plain", 3);
    MUST(cudaLaunchCooperativeKernel((void*)ask, 3, 32, arguments));
    show("grid.cooperative", 3);
    MUST(cudaLaunchCooperativeKernel((void*)ask, 1, 32, arguments));
    show("grid.cooperative.one", 1);
    attribute.val.cooperative = 1;
    MUST(cudaLaunchKernelEx(&config, ask, out, true));
    show("grid.attribute", 3);
    cudaStream_t s;
    MUST(cudaStreamCreate(&s));
    for (const bool cooperative : {true, false}) {
      meet = cooperative;
      cudaGraph_t g;
      cudaGraphExec_t x;
      MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
      if (cooperative)
        MUST(cudaLaunchCooperativeKernel((void*)ask, 2, 32, arguments, 0, s));
      else
        ask<<<2, 32, 0, s>>>(out, false);
      MUST(cudaStreamEndCapture(s, &g));
      MUST(cudaGraphInstantiate(&x, g, 0));
      MUST(cudaGraphLaunch(x, s));
      show(cooperative ? "grid.graph.cooperative" : "grid.graph.plain", 2);
    }
  } else if (what == "off") {
    MUST(cudaLaunchKernelEx(&config, ask, out, false));
    show("grid.attribute.off", 3);
  } else if (what == "off.sync") {
    MUST(cudaLaunchKernelEx(&config, ask, out, true));
    show("grid.attribute.off.sync", 3);
  } else if (what == "sync") {
    ask<<<3, 32>>>(out, true);
    show("grid.plain.sync", 3);
  } else if (what == "sync.one") {
    ask<<<1, 32>>>(out, true);
    show("grid.plain.sync.one", 1);
  }
}
