// A bit of everything that programs with streams do: copies, pipelines, fans of events, small
// kernels, waits of the host, host functions, graphs with branches, priorities, pools.
#include "measure.h"

namespace {

__global__ void add(const float* a, const float* b, float* c, int n) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x))
    c[i] = a[i] + b[i];
}
__global__ void multiply_often(float* x, int rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int k = 0; k < rounds; ++k) v = v * 1.0001f + 0.5f;
  x[i] = v;
}
void CUDART_CB does_nothing(void*) {}

struct memory {
  float *in, *out, *a, *b, *c;  // two of the host, three of the device
  memory() {
    MUST(cudaMallocHost(&in, 64 * mib));
    MUST(cudaMallocHost(&out, 64 * mib));
    for (float** p : {&a, &b, &c}) {
      MUST(cudaMalloc(p, 64 * mib));
      MUST(cudaMemset(*p, 0, 64 * mib));
    }
  }
};

void copies(const memory& m, const streams& s) {
  for (const std::size_t size : {130 * kib, 900 * kib, 5 * mib, 33 * mib}) {
    wall("copy.to." + std::to_string(size),
         [&] { MUST(cudaMemcpyAsync(m.a, m.in, size, cudaMemcpyHostToDevice, s[0])); });
    wall("copy.from." + std::to_string(size),
         [&] { MUST(cudaMemcpyAsync(m.out, m.a, size, cudaMemcpyDeviceToHost, s[0])); });
  }
  wall("copy.both", [&] {
    MUST(cudaMemcpyAsync(m.a, m.in, 18 * mib, cudaMemcpyHostToDevice, s[0]));
    MUST(cudaMemcpyAsync(m.out, m.b, 30 * mib, cudaMemcpyDeviceToHost, s[1]));
  });
  wall("copy.inside",
       [&] { MUST(cudaMemcpyAsync(m.b, m.a, 24 * mib, cudaMemcpyDeviceToDevice, s[0])); });
  wall("fill", [&] { MUST(cudaMemsetAsync(m.a, 0, 24 * mib, s[0])); });
}

void pipelines(const memory& m) {
  for (const int count : {2, 4, 7}) {
    const streams s(count);
    for (const int us : {10, 60, 130})
      wall("pipe.streams" + std::to_string(count) + ".us" + std::to_string(us), [&] {
        for (std::size_t i = 0; i < 14; ++i) {
          const std::size_t part = i * 600 * kib / sizeof(float), size = 600 * kib;
          MUST(cudaMemcpyAsync(m.a + part, m.in + part, size, cudaMemcpyHostToDevice, s[i]));
          wait_cycles<<<24, 96, 0, s[i]>>>(us * microsecond);
          MUST(cudaMemcpyAsync(m.out + part, m.a + part, size, cudaMemcpyDeviceToHost, s[i]));
        }
      });
  }
}

void orders() {
  const streams s(7);
  const std::vector<event> e(12);
  wall("fan", [&] {
    MUST(cudaEventRecord(e[0], s[0]));
    for (std::size_t i = 1; i < 7; ++i) {
      MUST(cudaStreamWaitEvent(s[i], e[0], 0));
      wait_cycles<<<6, 64, 0, s[i]>>>(35 * microsecond);
      order(s[i], e[i], s[0]);
    }
    wait_cycles<<<1, 32, 0, s[0]>>>(20 * microsecond);
  });
  wall("to_and_fro", [&] {
    for (std::size_t i = 0; i < 12; ++i) {
      wait_cycles<<<1, 32, 0, s[i % 2]>>>(7 * microsecond);
      order(s[i % 2], e[i], s[(i + 1) % 2]);
    }
  });
  wall("functions", [&] {
    for (int i = 0; i < 4; ++i) {
      wait_cycles<<<1, 32, 0, s[0]>>>(12 * microsecond);
      MUST(cudaLaunchHostFunc(s[0], does_nothing, nullptr));
    }
  });
}

void kernels(const memory& m, const streams& s) {
  for (const int n : {500'000, 3'000'000, 14'000'000})
    wall("add." + std::to_string(n), [&] { add<<<792, 256, 0, s[0]>>>(m.a, m.b, m.c, n); });
  for (const int rounds : {800, 7000})
    wall("multiply." + std::to_string(rounds),
         [&] { multiply_often<<<1584, 256, 0, s[0]>>>(m.a, rounds); });
  wall("multiply.two", [&] {
    multiply_often<<<132, 128, 0, s[0]>>>(m.a, 8000);
    multiply_often<<<132, 128, 0, s[1]>>>(m.b, 8000);
  });
  wall("short.80", [&] {
    for (int i = 0; i < 80; ++i) wait_cycles<<<4, 32, 0, s[0]>>>(9 * microsecond);
  });
  wall("synchronized.15", [&] {
    for (int i = 0; i < 15; ++i) {
      wait_cycles<<<4, 32, 0, s[0]>>>(14 * microsecond);
      MUST(cudaStreamSynchronize(s[0]));
    }
  });
  wall("waves", [&] { wait_cycles<<<132 * 16 * 4 + 3, 128, 0, s[0]>>>(18 * microsecond); });
}

void graphs(const streams& s) {
  for (const int branches : {1, 3, 6}) {
    const std::vector<event> e(8);
    cudaGraph_t graph;
    cudaGraphExec_t made;
    MUST(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal));
    MUST(cudaEventRecord(e[0], s[0]));
    for (int b = 1; b <= branches; ++b) {
      MUST(cudaStreamWaitEvent(s[b], e[0], 0));
      for (int k = 0; k < 4; ++k) wait_cycles<<<2, 32, 0, s[b]>>>(9 * microsecond);
      order(s[b], e[b], s[0]);
    }
    wait_cycles<<<1, 32, 0, s[0]>>>(9 * microsecond);
    MUST(cudaStreamEndCapture(s[0], &graph));
    MUST(cudaGraphInstantiate(&made, graph, 0));
    const std::string name = "graph.branches" + std::to_string(branches);
    wall(name, [&] { MUST(cudaGraphLaunch(made, s[0])); });
    wall(name + ".four_times", [&] {
      for (int i = 0; i < 4; ++i) MUST(cudaGraphLaunch(made, s[0]));
    });
    MUST(cudaGraphExecDestroy(made));
    MUST(cudaGraphDestroy(graph));
  }
}

void priorities() {
  cudaStream_t low, high;
  MUST(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, 0));
  MUST(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, -5));
  between_events("urgent", high, [&] {
    wait_cycles<<<132 * 16 * 5, 128, 0, low>>>(40 * microsecond);
    wait_cycles<<<264, 128, 0, high>>>(25 * microsecond);
  });
}

void pools(const streams& s) {
  wall("pool.6", [&] {
    for (int i = 0; i < 6; ++i) {
      void* p;
      MUST(cudaMallocAsync(&p, 3 * mib, s[0]));
      MUST(cudaMemsetAsync(p, 0, 3 * mib, s[0]));
      wait_cycles<<<8, 64, 0, s[0]>>>(20 * microsecond);
      MUST(cudaFreeAsync(p, s[0]));
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  const memory m;
  const streams s(8);
  copies(m, s);
  pipelines(m);
  orders();
  kernels(m, s);
  graphs(s);
  priorities();
  pools(s);
  return end();
}
