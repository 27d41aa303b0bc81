// Random graphs of kernels and copies: each node waits for up to three of those before it.
#include "measure.h"

namespace {

constexpr std::size_t most_bytes = 2 * mib;

class numbers {
 public:
  explicit numbers(unsigned seed) : state_(seed * 2654435761u + 1) {}
  unsigned below(unsigned n) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) % n;
  }

 private:
  unsigned state_;
};

cudaGraph_t random_graph(unsigned seed, char* device, char* host) {
  numbers next(seed);
  cudaGraph_t graph;
  MUST(cudaGraphCreate(&graph, 0));
  const unsigned count = 3 + next.below(12), copies = next.below(4);
  std::vector<cudaGraphNode_t> made;
  for (unsigned i = 0; i < count; ++i) {
    std::vector<cudaGraphNode_t> after;
    for (unsigned n = i == 0 ? 0 : next.below(4); n > 0; --n) {
      const cudaGraphNode_t one = made[next.below(static_cast<unsigned>(made.size()))];
      if (std::find(after.begin(), after.end(), one) == after.end()) after.push_back(one);
    }
    cudaGraphNode_t node;
    if (next.below(8) < copies) {
      const bool in = next.below(2) == 0;
      const std::size_t bytes = 64 * kib << next.below(6);
      MUST(cudaGraphAddMemcpyNode1D(&node, graph, after.data(), after.size(), in ? device : host,
                                    in ? host : device, bytes,
                                    in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost));
    } else {
      long long cycles = (3 + next.below(40)) * microsecond;
      void* arguments[] = {&cycles};
      cudaKernelNodeParams params{};
      params.func = reinterpret_cast<void*>(wait_cycles);
      params.gridDim = dim3(1 + next.below(16));
      params.blockDim = dim3(64);
      params.kernelParams = arguments;
      MUST(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
    }
    made.push_back(node);
  }
  return graph;
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  const streams s(1);
  char *device, *host;
  MUST(cudaMalloc(&device, most_bytes));
  MUST(cudaMallocHost(&host, most_bytes));
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const cudaGraph_t graph = random_graph(seed, device, host);
    cudaGraphExec_t made;
    MUST(cudaGraphInstantiate(&made, graph, 0));
    const std::string key = std::to_string(seed);
    wall(key, [&] { MUST(cudaGraphLaunch(made, s[0])); });
    between_events(key + ".behind", s[0], [&] {
      wait_cycles<<<1, 32, 0, s[0]>>>(100 * microsecond);
      MUST(cudaGraphLaunch(made, s[0]));
    });
    wall(key + ".twice", [&] {
      MUST(cudaGraphLaunch(made, s[0]));
      MUST(cudaGraphLaunch(made, s[0]));
    });
    MUST(cudaGraphExecDestroy(made));
    MUST(cudaGraphDestroy(graph));
  }
  return end();
}
