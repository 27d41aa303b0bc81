// What operations take, for bench/recording.py, which runs this with a trace and without:
// `name<TAB>nanoseconds<TAB>nanoseconds of all processors` lines.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdint>
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
// Each round counts: what is left tells how many there were.
__host__ __device__ unsigned next(unsigned x) { return x * 1664525u + 1013904223u; }
__global__ void work(unsigned* out, int rounds) {
  unsigned x = out[threadIdx.x];
  for (int i = 0; i < rounds; ++i) x = next(x);
  out[threadIdx.x] = x;
}

// What so many rounds make of 0.
static unsigned after(std::uint64_t rounds) {
  unsigned factor = 1664525u, addend = 1013904223u, x = 0;
  for (; rounds != 0; rounds /= 2) {
    if (rounds % 2 != 0) x = x * factor + addend;
    addend = addend * factor + addend;
    factor *= factor;
  }
  return x;
}

static void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "%s: wrong\n", what);
  std::exit(1);
}

// How many rounds each thread's number has behind it, and whether it says so.
struct numbers {
  static constexpr int count = 256;
  unsigned* on_device = nullptr;
  std::array<std::uint64_t, count> rounds{};

  numbers() {
    CHECK(cudaMalloc(&on_device, count * sizeof(unsigned)));
    CHECK(cudaMemset(on_device, 0, count * sizeof(unsigned)));
  }
  void expect_more(int first, int threads, std::uint64_t more, const char* what) {
    for (int i = first; i < first + threads; ++i) rounds[i] += more;
    std::array<unsigned, count> got;
    CHECK(cudaMemcpy(got.data(), on_device, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = first; i < first + threads; ++i) expect(got[i] == after(rounds[i]), what);
  }
};

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
  for (int i = 0; i < (1 << 18); ++i) h[i] = static_cast<float>(i % 1000);
  std::vector<float> got(2048);
  const auto fetch = [&] {
    CHECK(cudaMemcpy(got.data(), d, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
  };
  const auto clear = [&] {
    std::fill(got.begin(), got.end(), 0.0f);
    got[1] = 1, got[2] = 2;
    CHECK(cudaMemcpy(d, got.data(), got.size() * sizeof(float), cudaMemcpyHostToDevice));
  };
  numbers w;
  clear();
  small<<<1, 1, 0, s>>>(d, d + 1, d + 2);
  CHECK(cudaDeviceSynchronize());
  measure("kernels", 101, 500, [&](int n) {
    for (int i = 0; i < n; ++i) small<<<1, 1, 0, s>>>(d, d + 1, d + 2);
  });
  fetch();
  expect(got[0] == 3, "kernels");
  measure("copies", 101, 500, [&](int n) {
    for (int i = 0; i < n; ++i) cudaMemcpyAsync(d, h, 256, cudaMemcpyHostToDevice, s);
  });
  fetch();
  expect(std::equal(h, h + 64, got.begin()) && got[64] == 0, "copies");
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
  fetch();
  expect(std::equal(h, h + 2048, got.begin()), "copies, in a row");
  // Kernels that workers run: in one stream, in four that wait for each other, by two threads.
  measure("kernels, in a row", 41, 500, [&](int n) {
    for (int i = 0; i < n; ++i) work<<<1, 32, 0, s>>>(w.on_device, 10);
  });
  w.expect_more(0, 32, 41 * 500 * 10, "kernels, in a row");
  // More than a stream takes: calls wait for room.
  measure("kernels, full queue", 11, 10000, [&](int n) {
    for (int i = 0; i < n; ++i) work<<<1, 32, 0, s>>>(w.on_device, 10);
  });
  w.expect_more(0, 32, std::uint64_t{11 * 10000} * 10, "kernels, full queue");
  std::array<cudaStream_t, 4> four;
  for (cudaStream_t& one : four) CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  measure("four streams, events", 41, 504, [&](int n) {
    for (int i = 0; i < n; i += 3) {
      work<<<1, 32, 0, four[i % 4]>>>(w.on_device + 64 * (i % 4), 10);
      cudaEventRecord(e, four[i % 4]);
      cudaStreamWaitEvent(four[(i + 1) % 4], e, 0);
    }
  });
  for (int of = 0; of < 4; ++of) w.expect_more(64 * of, 32, 41 * 504 / 3 / 4 * 10, "four streams");
  measure("two threads", 41, 500, [&](int n) {
    const auto launch = [&](int of) {
      for (int i = 0; i < n / 2; ++i) work<<<1, 32, 0, four[of]>>>(w.on_device + 64 * of, 10);
    };
    std::thread other(launch, 1);
    launch(0);
    other.join();
  });
  for (int of = 0; of < 2; ++of) w.expect_more(64 * of, 32, 41 * 250 * 10, "two threads");
  clear();
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
  fetch();
  expect(got[0] == 3, "kernels of a graph");
  // As many rounds as make a kernel of 20 us; both runs take the same number.
  int rounds = argc > 1 ? std::atoi(argv[1]) : 0;
  for (int tried = 100; rounds == 0; tried += tried / 4) {
    double least = 1e30;
    for (int again = 0; again < 5; ++again) {
      const double begin = nanoseconds(CLOCK_MONOTONIC);
      for (int i = 0; i < 20; ++i) work<<<1, 128, 0, s>>>(w.on_device, tried);
      CHECK(cudaDeviceSynchronize());
      least = std::min(least, (nanoseconds(CLOCK_MONOTONIC) - begin) / 20);
    }
    w.expect_more(0, 128, std::uint64_t{5 * 20} * tried, "kernels");
    if (least > 20000) rounds = tried;
  }
  std::printf("rounds\t%d\t0\n", rounds);
  measure("kernels of 20 us", 41, 200, [&](int n) {
    for (int i = 0; i < n; ++i) work<<<1, 128, 0, s>>>(w.on_device, rounds);
  });
  w.expect_more(0, 128, std::uint64_t{41 * 200} * rounds, "kernels of 20 us");
}
