// Copies between symbols and memory in graphs, by kind; parameters of copy nodes with odd pitches.
#include "probe.h"
__device__ int symbol[64];
static const char* names[] = {"h2h", "h2d", "d2h", "d2d", "default", "k5"};
int main() {
  int* d;
  MUST(cudaMalloc(&d, 256));
  static int h[64];
  int* pinned;
  MUST(cudaMallocHost(&pinned, 256));
  struct {
    const char* name;
    void* p;
  } sides[] = {{"device", d}, {"host", h}, {"pinned", pinned}};
  for (auto& side : sides)
    for (int k = 0; k < 6; ++k) {
      cudaGraph_t g;
      MUST(cudaGraphCreate(&g, 0));
      cudaGraphNode_t n;
      auto kind = (cudaMemcpyKind)k;
      std::string key = std::string(side.name) + "." + names[k];
      auto ans = [&](const std::string& w, cudaError_t e) {
        say(w + "." + key, e);
        cudaGetLastError();
      };
      ans("add.to",
          cudaGraphAddMemcpyNodeToSymbol(&n, g, nullptr, 0, symbol, side.p, 256, 0, kind));
      ans("add.from",
          cudaGraphAddMemcpyNodeFromSymbol(&n, g, nullptr, 0, side.p, symbol, 256, 0, kind));
      MUST(cudaGraphAddMemcpyNodeToSymbol(&n, g, nullptr, 0, symbol, d, 256, 0,
                                          cudaMemcpyDeviceToDevice));
      ans("set.to", cudaGraphMemcpyNodeSetParamsToSymbol(n, symbol, side.p, 256, 0, kind));
      ans("set.from", cudaGraphMemcpyNodeSetParamsFromSymbol(n, side.p, symbol, 256, 0, kind));
      cudaGraph_t g2;
      MUST(cudaGraphCreate(&g2, 0));
      cudaGraphNode_t m;
      MUST(cudaGraphAddMemcpyNodeToSymbol(&m, g2, nullptr, 0, symbol, d, 256, 0,
                                          cudaMemcpyDeviceToDevice));
      cudaGraphExec_t x;
      MUST(cudaGraphInstantiate(&x, g2, 0));
      ans("exec.to", cudaGraphExecMemcpyNodeSetParamsToSymbol(x, m, symbol, side.p, 256, 0, kind));
      ans("exec.from",
          cudaGraphExecMemcpyNodeSetParamsFromSymbol(x, m, side.p, symbol, 256, 0, kind));
      ans("call.to", cudaMemcpyToSymbolAsync(symbol, side.p, 256, 0, kind, 0));
      ans("call.from", cudaMemcpyFromSymbolAsync(side.p, symbol, 256, 0, kind, 0));
      cudaDeviceSynchronize();
      cudaGraphExecDestroy(x);
      cudaGraphDestroy(g);
      cudaGraphDestroy(g2);
    }
  int src[2] = {}, dst[2] = {};
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(src, 8, 8, 0);
  p.dstPtr = make_cudaPitchedPtr(dst, 8, 8, 0);
  p.extent = make_cudaExtent(8, 1, 1);
  p.kind = cudaMemcpyDefault;
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  cudaGraphNode_t n;
  MUST(cudaGraphAddMemcpyNode(&n, g, nullptr, 0, &p));
  cudaGraphExec_t x;
  MUST(cudaGraphInstantiate(&x, g, 0));
  auto params = [&](const char* key, auto&& change) {
    auto q = p;
    change(q);
    say(std::string("params.exec.") + key, cudaGraphExecMemcpyNodeSetParams(x, n, &q));
    say(std::string("params.node.") + key, cudaGraphMemcpyNodeSetParams(n, &q));
    cudaGraphNode_t o;
    say(std::string("params.add.") + key, cudaGraphAddMemcpyNode(&o, g, nullptr, 0, &q));
    cudaGetLastError();
  };
  params("same", [](auto&) {});
  params("dst.device", [&](auto& q) { q.dstPtr = make_cudaPitchedPtr(d, 4, 4, 0); });
  params("dst.pitch4", [&](auto& q) { q.dstPtr.pitch = 4; });
  params("src.pitch4", [&](auto& q) { q.srcPtr.pitch = 4; });
  params("both.pitch4", [&](auto& q) { q.srcPtr.pitch = q.dstPtr.pitch = 4; });
  params("pitch0", [&](auto& q) { q.srcPtr.pitch = q.dstPtr.pitch = 0; });
  params("xsize4", [&](auto& q) { q.dstPtr.xsize = 4; });
  params("rows2", [&](auto& q) { q.extent.height = 2; });
  params("rows2.ysize2", [&](auto& q) {
    q.extent = make_cudaExtent(4, 2, 1);
    q.srcPtr.ysize = q.dstPtr.ysize = 2;
    q.srcPtr.pitch = q.dstPtr.pitch = 4;
  });
  params("depth2.ysize0", [&](auto& q) {
    q.extent = make_cudaExtent(4, 1, 2);
    q.srcPtr.pitch = q.dstPtr.pitch = 4;
  });
  params("null", [&](auto& q) { q.dstPtr.ptr = nullptr; });
  params("kind9", [&](auto& q) { q.kind = (cudaMemcpyKind)9; });
  params("width0", [&](auto& q) { q.extent.width = 0; });
  say("end", "graph_symbols");
}
