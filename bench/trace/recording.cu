// What operations take, for bench/recording.py, which runs this with a trace and without:
// `name<TAB>nanoseconds<TAB>nanoseconds of all processors` lines.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#define CHECK(call)                                                        \
  do {                                                                     \
    if (const cudaError_t error_ = (call); error_ != cudaSuccess) {        \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                        \
    }                                                                      \
  } while (0)

__global__ void small(float* out, const float* a, const float* b) { *out = *a + *b; }
__global__ void work(float* out, int rounds) {
  float x = out[threadIdx.x];
  for (int i = 0; i < rounds; ++i) x = x * 1.0001f + 0.5f;
  out[threadIdx.x] = x;
}

static double nanoseconds(clockid_t which) {
  timespec t;
  clock_gettime(which, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

template <class Body>
static void measure(const char* name, int rounds, int operations, Body body) {
  std::vector<double> wall, used;
  for (int r = 0; r < rounds; ++r) {
    const double w = nanoseconds(CLOCK_MONOTONIC), u = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    body(operations);
    CHECK(cudaDeviceSynchronize());
    wall.push_back((nanoseconds(CLOCK_MONOTONIC) - w) / operations);
    used.push_back((nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - u) / operations);
  }
  std::sort(wall.begin(), wall.end());
  std::sort(used.begin(), used.end());
  std::printf("%s\t%.1f\t%.1f\n", name, wall[wall.size() / 4], used[used.size() / 4]);
}

int main(int argc, char** argv) {
  cudaStream_t s, t;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t e;
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  float *d, *h;
  CHECK(cudaMalloc(&d, 1 << 20));
  CHECK(cudaMallocHost(&h, 1 << 20));
  small<<<1, 1, 0, s>>>(d, d + 1, d + 2);
  CHECK(cudaDeviceSynchronize());
  measure("kernels", 101, 500, [&](int n) {
    for (int i = 0; i < n; ++i) small<<<1, 1, 0, s>>>(d, d + 1, d + 2);
  });
  measure("copies", 101, 500, [&](int n) {
    for (int i = 0; i < n; ++i) cudaMemcpyAsync(d, h, 256, cudaMemcpyHostToDevice, s);
  });
  measure("events", 101, 500, [&](int n) {
    for (int i = 0; i < n; i += 2) {
      cudaEventRecord(e, i % 4 ? s : t);
      cudaStreamWaitEvent(i % 4 ? t : s, e, 0);
    }
  });
  // Copies that find others in front of them, and kernels of a graph.
  measure("copies, in a row", 41, 500, [&](int n) {
    for (int i = 0; i < n; ++i) cudaMemcpyAsync(d, h, 8192, cudaMemcpyHostToDevice, s);
  });
  // Kernels that workers run: in one stream, in four that wait for each other, by two threads.
  measure("kernels, in a row", 41, 500, [&](int n) {
    for (int i = 0; i < n; ++i) work<<<1, 32, 0, s>>>(d, 10);
  });
  std::array<cudaStream_t, 4> four;
  for (cudaStream_t& one : four) CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  measure("four streams, events", 41, 504, [&](int n) {
    for (int i = 0; i < n; i += 3) {
      work<<<1, 32, 0, four[i % 4]>>>(d + 64 * (i % 4), 10);
      cudaEventRecord(e, four[i % 4]);
      cudaStreamWaitEvent(four[(i + 1) % 4], e, 0);
    }
  });
  measure("two threads", 41, 500, [&](int n) {
    const auto launch = [&](int of) {
      for (int i = 0; i < n / 2; ++i) work<<<1, 32, 0, four[of]>>>(d + 64 * of, 10);
    };
    std::thread other(launch, 1);
    launch(0);
    other.join();
  });
  constexpr int nodes = 20;
  cudaGraph_t graph;
  cudaGraphExec_t launched;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < nodes; ++i) small<<<1, 1, 0, s>>>(d, d + 1, d + 2);
  CHECK(cudaStreamEndCapture(s, &graph));
  CHECK(cudaGraphInstantiate(&launched, graph, 0));
  measure("kernels of a graph", 101, 500, [&](int n) {
    for (int i = 0; i < n; i += nodes) cudaGraphLaunch(launched, s);
  });
  // As many rounds as make a kernel of 20 us; both runs take the same number.
  int rounds = argc > 1 ? std::atoi(argv[1]) : 0;
  for (int tried = 100; rounds == 0; tried += tried / 4) {
    double least = 1e30;
    for (int again = 0; again < 5; ++again) {
      const double begin = nanoseconds(CLOCK_MONOTONIC);
      for (int i = 0; i < 20; ++i) work<<<1, 128, 0, s>>>(d, tried);
      CHECK(cudaDeviceSynchronize());
      least = std::min(least, (nanoseconds(CLOCK_MONOTONIC) - begin) / 20);
    }
    if (least > 20000) rounds = tried;
  }
  std::printf("rounds\t%d\t0\n", rounds);
  measure("kernels of 20 us", 41, 200, [&](int n) {
    for (int i = 0; i < n; ++i) work<<<1, 128, 0, s>>>(d, rounds);
  });
}
