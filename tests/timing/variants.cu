// Programs that no number was fitted on, with bounds that follow from their structure: no run is
// faster than its busiest engine, and none is slower than everything one after the other. Prints
// `key<TAB>microseconds<TAB>least<TAB>most`.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using clk = std::chrono::steady_clock;
constexpr std::size_t mib = std::size_t{1} << 20;

#define MUST(call) must((call), #call)
void must(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::printf("FATAL\t%s: %s\n", what, cudaGetErrorName(e));
  std::exit(3);
}

__global__ void sleep_kernel(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
__global__ void add(const float* a, const float* b, float* c, std::size_t n) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float x[16][16], y[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    x[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += x[threadIdx.y][k] * y[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

double wall(const std::function<void()>& f) {
  double least = 1e30;
  for (int i = 0; i < 3; ++i) {
    MUST(cudaDeviceSynchronize());
    const auto begin = clk::now();
    f();
    MUST(cudaDeviceSynchronize());
    least = std::min(least, std::chrono::duration<double, std::micro>(clk::now() - begin).count());
  }
  return least;
}

void say(const std::string& key, double us, double least, double most) {
  std::printf("%s\t%.1f\t%.1f\t%.1f\n", key.c_str(), us, least, most);
  std::fflush(stdout);
}

struct device {
  char *memory, *host;
  int multiprocessors, khz;
  cudaStream_t s[8];

  device() {
    MUST(cudaMalloc(reinterpret_cast<void**>(&memory), 192 * mib));
    MUST(cudaMallocHost(reinterpret_cast<void**>(&host), 192 * mib));
    MUST(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    MUST(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    for (cudaStream_t& x : s) MUST(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
  }
  long long cycles(double us) const { return static_cast<long long>(us * khz / 1000); }
};

constexpr double overhead = 40;  // of a few calls and latencies

// a + b, both copied in and the result copied out, in chunks over streams.
void vector_add(device& d) {
  const std::size_t n = 4 * mib;  // elements
  auto *a = reinterpret_cast<float*>(d.memory), *b = a + n, *c = b + n;
  auto *ha = reinterpret_cast<float*>(d.host), *hb = ha + n, *hc = hb + n;
  const auto part = [&](std::size_t at, std::size_t m, cudaStream_t q) {
    MUST(cudaMemcpyAsync(a + at, ha + at, m * 4, cudaMemcpyHostToDevice, q));
    MUST(cudaMemcpyAsync(b + at, hb + at, m * 4, cudaMemcpyHostToDevice, q));
    add<<<static_cast<unsigned>((m + 255) / 256), 256, 0, q>>>(a + at, b + at, c + at, m);
    MUST(cudaMemcpyAsync(hc + at, c + at, m * 4, cudaMemcpyDeviceToHost, q));
  };
  const double in =
      wall([&] { MUST(cudaMemcpyAsync(a, ha, n * 8, cudaMemcpyHostToDevice, d.s[0])); });
  const double kernel =
      wall([&] { add<<<static_cast<unsigned>(n / 256), 256, 0, d.s[0]>>>(a, b, c, n); });
  const double all = wall([&] { part(0, n, d.s[0]); });
  say("add.one_piece", all, in * 1.4, in * 1.7 + kernel + overhead);
  for (const int chunks : {4, 10, 20})
    for (const int streams : {2, 5, 8}) {
      const double us = wall([&] {
        for (int i = 0; i < chunks; ++i) part(n / chunks * i, n / chunks, d.s[i % streams]);
      });
      const double switches = chunks * 8.0;
      say("add.chunks" + std::to_string(chunks) + ".streams" + std::to_string(streams), us,
          in * 0.99, all + switches);
    }
}

// Grids around one, two and three waves: as many waves as the device needs.
void waves(device& d) {
  const double us = 300;
  for (const int percent : {25, 50, 100, 101, 200, 201, 300}) {
    const int per_wave = d.multiprocessors * 2;  // blocks of 1024 threads
    const int blocks = (per_wave * percent + 99) / 100;
    const double count = (blocks + per_wave - 1) / per_wave;
    const double t = wall([&] { sleep_kernel<<<blocks, 1024, 0, d.s[0]>>>(d.cycles(us)); });
    say("waves." + std::to_string(percent), t, us * count, us * count + overhead);
  }
}

// Two kernels of a third of the device each run together; two of two thirds do not, or only in
// part.
void shares(device& d) {
  const double us = 300;
  for (const int thirds : {1, 2}) {
    const int blocks = d.multiprocessors * 2 * thirds / 3;
    const double t = wall([&] {
      for (int i = 0; i < 2; ++i) sleep_kernel<<<blocks, 1024, 0, d.s[i]>>>(d.cycles(us));
    });
    say("shares." + std::to_string(thirds) + "of3", t, us * thirds, us * thirds + overhead);
  }
}

// Arithmetic with tiles in shared memory: faster than the peak it is not, nor a hundred times
// slower.
void matrices(device& d) {
  auto *a = reinterpret_cast<float*>(d.memory), *b = a + mib, *c = b + mib;
  const double peak = d.multiprocessors * 128 * 2.0 * d.khz / 1000;  // operations in a microsecond
  for (const int n : {256, 512}) {
    const double operations = 2.0 * n * n * n;
    const double t =
        wall([&] { multiply<<<dim3(n / 16, n / 16), dim3(16, 16), 0, d.s[0]>>>(a, b, c, n); });
    say("multiply.n" + std::to_string(n), t, operations / peak, 100 * operations / peak + overhead);
  }
}

// A copy one way, one the other way, one inside and a kernel: four engines.
void four_engines(device& d) {
  const std::size_t n = 24 * mib;
  const std::function<void()> work[] = {
      [&] { MUST(cudaMemcpyAsync(d.memory, d.host, n, cudaMemcpyHostToDevice, d.s[0])); },
      [&] { MUST(cudaMemcpyAsync(d.host + n, d.memory + n, n, cudaMemcpyDeviceToHost, d.s[1])); },
      [&] {
        MUST(cudaMemcpyAsync(d.memory + 3 * n, d.memory + 2 * n, n, cudaMemcpyDeviceToDevice,
                             d.s[2]));
      },
      [&] { sleep_kernel<<<16, 128, 0, d.s[3]>>>(d.cycles(400)); },
  };
  int copy_engines = 0;
  MUST(cudaDeviceGetAttribute(&copy_engines, cudaDevAttrAsyncEngineCount, 0));
  double longest = 0, sum = 0, alone[4];
  for (int i = 0; i < 4; ++i) {
    alone[i] = wall(work[i]);
    longest = std::max(longest, alone[i]);
    sum += alone[i];
  }
  // With two engines, copies inside of the device have that of the copies to it.
  if (copy_engines < 3) longest = std::max(longest, alone[0] + alone[2]);
  const double together = wall([&] {
    for (const auto& f : work) f();
  });
  say("four_engines.together", together, longest, longest * 1.15 + overhead);
  const double one_stream = wall([&] {
    MUST(cudaMemcpyAsync(d.memory, d.host, n, cudaMemcpyHostToDevice, d.s[0]));
    sleep_kernel<<<16, 128, 0, d.s[0]>>>(d.cycles(400));
    MUST(cudaMemcpyAsync(d.host, d.memory, n, cudaMemcpyDeviceToHost, d.s[0]));
  });
  say("four_engines.one_stream", one_stream, 2 * n / 60e3 + 400, sum + overhead);
}

// A fork into `width` branches and a join, by events and as a graph.
void fork_and_join(device& d) {
  const double us = 50;
  cudaEvent_t fork, join[4];
  MUST(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  for (cudaEvent_t& e : join) MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  const auto diamond = [&] {
    const auto hold = [&](cudaStream_t q) { sleep_kernel<<<4, 64, 0, q>>>(d.cycles(us)); };
    hold(d.s[0]);
    MUST(cudaEventRecord(fork, d.s[0]));
    for (int i = 1; i < 4; ++i) {
      MUST(cudaStreamWaitEvent(d.s[i], fork, 0));
      hold(d.s[i]);
      MUST(cudaEventRecord(join[i], d.s[i]));
      MUST(cudaStreamWaitEvent(d.s[0], join[i], 0));
    }
    hold(d.s[0]);
  };
  say("diamond.events", wall(diamond), 3 * us, 3 * us + overhead);
  cudaGraph_t graph;
  cudaGraphExec_t made;
  MUST(cudaStreamBeginCapture(d.s[0], cudaStreamCaptureModeGlobal));
  diamond();
  MUST(cudaStreamEndCapture(d.s[0], &graph));
  MUST(cudaGraphInstantiate(&made, graph, 0));
  say("diamond.graph", wall([&] { MUST(cudaGraphLaunch(made, d.s[0])); }), 3 * us,
      3 * us + overhead / 2);
}

}  // namespace

int main() {
  device d;
  vector_add(d);
  waves(d);
  shares(d);
  matrices(d);
  four_engines(d);
  fork_and_join(d);
  std::printf("end\tok\n");
}
