// The same work from streams, from a graph, and from host threads.
//
// The work is a diamond: b and c need a, and d needs both. Streams say it with events, issue by
// issue. A graph is captured once from the same calls and then launched as a whole. Host threads
// can each wait for their part themselves, which needs no events but keeps the threads busy
// waiting.
#include <functional>
#include <thread>

#include "common.h"

const int n = 1 << 15;

__global__ void fill(int* x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void times(const int* in, int* out, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * k + i;
}
__global__ void join(const int* a, const int* b, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = a[i] - b[i];
}

int *a, *b, *c, *d;
cudaStream_t s, t;
cudaEvent_t forked, joined;

// Enough for a diamond on two streams, and for a capture of it: the second stream joins the capture
// by waiting for an event of the first.
void issue(int value) {
  fill<<<n / 256, 256, 0, s>>>(a, value);
  CHECK(cudaEventRecord(forked, s));
  CHECK(cudaStreamWaitEvent(t, forked, 0));
  times<<<n / 256, 256, 0, s>>>(a, b, 5);
  times<<<n / 256, 256, 0, t>>>(a, c, 3);
  CHECK(cudaEventRecord(joined, t));
  CHECK(cudaStreamWaitEvent(s, joined, 0));
  join<<<n / 256, 256, 0, s>>>(b, c, d);
}

void run(const char* name, const std::function<void()>& once) {
  const int rounds = 10;
  CHECK(cudaMemset(d, 0, n * sizeof(int)));
  double ms = milliseconds([&] {
    for (int r = 0; r < rounds; ++r) once();
  });
  static int host[n];
  CHECK(cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(host[i] == 2 * 21);
  std::printf("%-12s %d diamonds in %6.2f ms, right\n", name, rounds, ms);
}

int main() {
  for (int** p : {&a, &b, &c, &d}) CHECK(cudaMalloc(p, n * sizeof(int)));
  for (cudaStream_t* q : {&s, &t}) CHECK(cudaStreamCreateWithFlags(q, cudaStreamNonBlocking));
  for (cudaEvent_t* e : {&forked, &joined}) {
    CHECK(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
  }

  run("streams", [] { issue(21); });

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  issue(21);
  CHECK(cudaStreamEndCapture(s, &graph));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 4);
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  run("a graph", [&] { CHECK(cudaGraphLaunch(executable, s)); });

  run("host threads", [] {
    fill<<<n / 256, 256, 0, s>>>(a, 21);
    CHECK(cudaStreamSynchronize(s));
    std::thread other([] {
      times<<<n / 256, 256, 0, t>>>(a, c, 3);
      CHECK(cudaStreamSynchronize(t));
    });
    times<<<n / 256, 256, 0, s>>>(a, b, 5);
    CHECK(cudaStreamSynchronize(s));
    other.join();
    join<<<n / 256, 256, 0, s>>>(b, c, d);
  });

  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  std::printf("ok\n");
  return 0;
}
