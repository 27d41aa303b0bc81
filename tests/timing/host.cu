// What calls of graphs cost the host, by the number and kinds of their nodes, and how soon host
// functions begin behind kernels.
#include "unseen/measure.h"

namespace {

__global__ void with_parameters(int* p, int n) {
  if (n < 0) *p = n;
}

char *device_memory, *pinned;

void CUDART_CB do_nothing(void*) {}

/// What one call takes, again and again, under its name.
class times {
 public:
  template <class F>
  void call(const std::string& name, F f) {
    const auto begin = clk::now();
    f();
    const double took = microseconds(begin, clk::now());
    if (counts_) of(name).push_back(took);
  }
  void per(const std::string& name, double took) {
    if (counts_) of(name).push_back(took);
  }
  void count() { counts_ = true; }
  void say_all(const std::string& key) {
    for (auto& [name, values] : all_) say(key + "." + name, values);
  }

 private:
  std::vector<double>& of(const std::string& name) {
    for (auto& [known, values] : all_)
      if (known == name) return values;
    return all_.emplace_back(name, std::vector<double>{}).second;
  }
  std::vector<std::pair<std::string, std::vector<double>>> all_;
  bool counts_ = false;
};

/// The life of a graph with n nodes, which `work` gives a stream one by one.
template <class F>
void graph_calls(const std::string& key, int n, cudaStream_t s, F work) {
  times t;
  for (int i = 0; i <= measurements; ++i) {
    const auto record = [&] {
      cudaGraph_t graph;
      MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
      const auto begin = clk::now();
      for (int k = 0; k < n; ++k) work(k);
      t.per("captured_call", microseconds(begin, clk::now()) / n);
      MUST(cudaStreamEndCapture(s, &graph));
      return graph;
    };
    const cudaGraph_t graph = record(), other = record();
    cudaGraph_t copy;
    cudaGraphExec_t x, y;
    const auto launch = [&](const std::string& name, cudaGraphExec_t which) {
      MUST(cudaDeviceSynchronize());
      t.call(name, [&] { MUST(cudaGraphLaunch(which, s)); });
    };
    t.call("clone", [&] { MUST(cudaGraphClone(&copy, graph)); });
    t.call("instantiate", [&] { MUST(cudaGraphInstantiate(&x, graph, 0)); });
    launch("first_launch", x);
    launch("launch", x);
    cudaGraphExecUpdateResultInfo info;
    t.call("update", [&] { MUST(cudaGraphExecUpdate(x, other, &info)); });
    launch("launch_updated", x);
    MUST(cudaDeviceSynchronize());
    t.call("destroy_exec", [&] { MUST(cudaGraphExecDestroy(x)); });
    MUST(cudaGraphInstantiate(&y, other, 0));
    t.call("upload", [&] { MUST(cudaGraphUpload(y, s)); });
    launch("launch_uploaded", y);
    MUST(cudaDeviceSynchronize());
    MUST(cudaGraphExecDestroy(y));
    MUST(cudaGraphDestroy(copy));
    MUST(cudaGraphDestroy(other));
    t.call("destroy", [&] { MUST(cudaGraphDestroy(graph)); });
    t.count();
  }
  t.say_all(key + "." + std::to_string(n));
}

/// Of the process: later ones are made executable sooner.
void first_graph() {
  const streams s(1);
  cudaGraph_t graph;
  cudaGraphExec_t x;
  MUST(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 20; ++i) nothing<<<1, 1, 0, s[0]>>>();
  MUST(cudaStreamEndCapture(s[0], &graph));
  times t;
  t.count();
  t.call("instantiate", [&] { MUST(cudaGraphInstantiate(&x, graph, 0)); });
  t.call("launch", [&] { MUST(cudaGraphLaunch(x, s[0])); });
  MUST(cudaDeviceSynchronize());
  t.say_all("graph.first");
  MUST(cudaGraphExecDestroy(x));
  MUST(cudaGraphDestroy(graph));
}

void graphs() {
  const streams s(1);
  const auto kernel = [&](int i) {
    with_parameters<<<1, 1, 0, s[0]>>>(reinterpret_cast<int*>(device_memory), i);
  };
  const auto copy = [&](int) {
    MUST(cudaMemcpyAsync(device_memory, pinned, 4096, cudaMemcpyHostToDevice, s[0]));
  };
  const auto fill = [&](int) { MUST(cudaMemsetAsync(device_memory, 0, 4096, s[0])); };
  const auto host = [&](int) { MUST(cudaLaunchHostFunc(s[0], do_nothing, nullptr)); };
  for (const int n : {1, 4, 20, 100}) {
    graph_calls("graph.kernels", n, s[0], kernel);
    graph_calls("graph.copies", n, s[0], copy);
    graph_calls("graph.fills", n, s[0], fill);
    graph_calls("graph.hosts", n, s[0], host);
  }
  // A step of an application: data in, kernels, data out.
  graph_calls("graph.step", 20, s[0], [&](int i) {
    if (i == 0 || i == 19)
      copy(i);
    else if (i == 1)
      fill(i);
    else
      kernel(i);
  });
}

void host_functions() {
  const streams s(1);
  for (const int us : {0, 5, 20, 50, 100, 200, 400, 1000})
    for (const int n : {1, 5})
      wall("function.us" + std::to_string(us) + ".x" + std::to_string(n), [&] {
        for (int i = 0; i < n; ++i) {
          wait_cycles<<<1, 1, 0, s[0]>>>(us * microsecond);
          MUST(cudaLaunchHostFunc(s[0], do_nothing, nullptr));
        }
      });
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(cudaMalloc(reinterpret_cast<void**>(&device_memory), mib));
  MUST(cudaMallocHost(reinterpret_cast<void**>(&pinned), mib));
  first_graph();
  graphs();
  host_functions();
  return end();
}
