// Shapes of graphs: how many nodes begin one, how many come behind one node, where several come
// together, copies among them; on an idle device, and behind a kernel that runs when they come.
#include <functional>

#include "unseen/measure.h"

namespace {

constexpr std::size_t bytes = mib;

char *device, *host;

using nodes = std::vector<cudaGraphNode_t>;

class graph {
 public:
  graph() { MUST(cudaGraphCreate(&graph_, 0)); }
  graph(const graph&) = delete;
  ~graph() {
    if (made_ != nullptr) cudaGraphExecDestroy(made_);
    cudaGraphDestroy(graph_);
  }
  cudaGraphNode_t kernel(const nodes& after, long long us = 20) {
    cudaGraphNode_t made;
    long long cycles = us * microsecond;
    void* arguments[] = {&cycles};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(wait_cycles);
    params.gridDim = dim3(1);
    params.blockDim = dim3(32);
    params.kernelParams = arguments;
    MUST(cudaGraphAddKernelNode(&made, graph_, after.data(), after.size(), &params));
    return made;
  }
  cudaGraphNode_t copy(const nodes& after, bool in) {
    cudaGraphNode_t made;
    MUST(cudaGraphAddMemcpyNode1D(&made, graph_, after.data(), after.size(), in ? device : host,
                                  in ? host : device, bytes,
                                  in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost));
    return made;
  }
  void launch(cudaStream_t s) {
    if (made_ == nullptr) MUST(cudaGraphInstantiate(&made_, graph_, 0));
    MUST(cudaGraphLaunch(made_, s));
  }

 private:
  cudaGraph_t graph_;
  cudaGraphExec_t made_ = nullptr;
};

void measure(const std::string& key, const std::function<void(graph&)>& build) {
  const streams s(1);
  graph g;
  build(g);
  wall(key, [&] { g.launch(s[0]); });
  wall(key + ".behind", [&] {
    wait_cycles<<<1, 32, 0, s[0]>>>(150 * microsecond);
    g.launch(s[0]);
  });
}

void firsts() {
  for (const int n : {1, 2, 3, 4, 6, 8, 12, 16, 32}) {
    const std::string count = std::to_string(n);
    measure("firsts" + count, [&](graph& g) {
      for (int i = 0; i < n; ++i) g.kernel({});
    });
    if (n == 1 || n > 16) continue;
    measure("firsts" + count + ".joined", [&](graph& g) {
      nodes all;
      for (int i = 0; i < n; ++i) all.push_back(g.kernel({}));
      g.kernel(all);
    });
  }
  for (const int n : {4, 8}) {
    const std::string count = std::to_string(n);
    for (const bool last : {false, true})
      measure("firsts" + count + (last ? ".long_last" : ".long_first"), [&](graph& g) {
        for (int i = 0; i < n; ++i) g.kernel({}, i == (last ? n - 1 : 0) ? 40 : 10);
      });
    measure("chains" + count, [&](graph& g) {
      for (int i = 0; i < n; ++i) g.kernel({g.kernel({g.kernel({})})});
    });
  }
}

void forks() {
  for (const int n : {1, 2, 4, 8, 16, 32}) {
    const std::string count = std::to_string(n);
    measure("fork" + count, [&](graph& g) {
      const cudaGraphNode_t first = g.kernel({});
      for (int i = 0; i < n; ++i) g.kernel({first});
    });
    if (n == 1) continue;
    measure("fork" + count + ".joined", [&](graph& g) {
      const cudaGraphNode_t first = g.kernel({});
      nodes all;
      for (int i = 0; i < n; ++i) all.push_back(g.kernel({first}));
      g.kernel(all);
    });
  }
}

void copies() {
  measure("copy", [](graph& g) { g.copy({}, true); });
  measure("copies.both", [](graph& g) {
    g.copy({}, true);
    g.copy({}, false);
  });
  for (const int n : {1, 2, 4, 8})
    measure("pipes" + std::to_string(n), [&](graph& g) {
      for (int i = 0; i < n; ++i) g.copy({g.kernel({g.copy({}, true)})}, false);
    });
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(cudaMalloc(&device, bytes));
  MUST(cudaMallocHost(&host, bytes));
  firsts();
  forks();
  copies();
  return end();
}
