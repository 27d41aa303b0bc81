// What launching costs: `name<TAB>nanoseconds` lines for bench/launches.py.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CHECK(call)                                                        \
  do {                                                                     \
    if (const cudaError_t error_ = (call); error_ != cudaSuccess) {        \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                        \
    }                                                                      \
  } while (0)

__global__ void nothing() {}
// Nobody knows how long a loop will take: such a kernel is handed to another thread.
__global__ void nothing_often(int times, volatile int* out) {
  for (int i = 0; i < times; ++i) *out = i;
}
__global__ void count(int* n) { *n += 1; }
__global__ void wait_for(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

static double now_ns() {
  using namespace std::chrono;
  return duration<double, std::nano>(steady_clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  return v[v.size() / 2];
}

template <class Work>
static double median_of(int runs, Work work) {
  std::vector<double> v;
  for (int i = 0; i < runs; ++i) v.push_back(work());
  return median(v);
}

static void say(const std::string& name, double ns) { std::printf("%s\t%.1f\n", name.c_str(), ns); }

// Bursts stay below what a stream takes before a launch waits for room.
constexpr int burst = 500;

// The same with streams beside it that had work once and have none now.
static void beside_idle_streams(const std::string& beside, cudaStream_t s, cudaStream_t other,
                                cudaEvent_t e) {
  const auto each = [&](const char* name, auto&& body) {
    say(name + beside, median_of(101, [&] {
          const double begin = now_ns();
          for (int i = 0; i < burst; ++i) body();
          CHECK(cudaDeviceSynchronize());
          return (now_ns() - begin) / burst;
        }));
  };
  each("kernel, ", [&] { nothing<<<1, 1, 0, s>>>(); });
  each("handed over, ", [&] { nothing_often<<<1, 1, 0, s>>>(0, nullptr); });
  each("legacy stream, ", [&] { nothing<<<1, 1>>>(); });
  each("legacy, handed over, ", [&] { nothing_often<<<1, 1>>>(0, nullptr); });
  each("record and wait, ", [&] {
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(other, e, 0);
  });
}

int main() {
  cudaStream_t s, t;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t e;
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  for (int i = 0; i < 1000; ++i) nothing<<<1, 1, 0, s>>>();
  CHECK(cudaDeviceSynchronize());

  const auto bursts = [&](const char* enqueue_name, const char* through_name, auto&& launch) {
    std::vector<double> enqueue, through;
    for (int r = 0; r < 201; ++r) {
      const double begin = now_ns();
      for (int i = 0; i < burst; ++i) launch();
      const double issued = now_ns();
      CHECK(cudaStreamSynchronize(s));
      enqueue.push_back((issued - begin) / burst);
      through.push_back((now_ns() - begin) / burst);
    }
    say(enqueue_name, median(enqueue));
    say(through_name, median(through));
  };
  bursts("enqueue", "end to end", [&] { nothing<<<1, 1, 0, s>>>(); });
  bursts("handed over: enqueue", "handed over: end to end",
         [&] { nothing_often<<<1, 1, 0, s>>>(0, nullptr); });

  say("launch and synchronize", median_of(5001, [&] {
        const double begin = now_ns();
        nothing<<<1, 1, 0, s>>>();
        cudaStreamSynchronize(s);
        return now_ns() - begin;
      }));
  say("handed over: launch, sync", median_of(5001, [&] {
        const double begin = now_ns();
        nothing_often<<<1, 1, 0, s>>>(0, nullptr);
        cudaStreamSynchronize(s);
        return now_ns() - begin;
      }));
  say("record and wait", median_of(201, [&] {
        const double begin = now_ns();
        for (int i = 0; i < burst; ++i) {
          cudaEventRecord(e, i % 2 ? s : t);
          cudaStreamWaitEvent(i % 2 ? t : s, e, 0);
        }
        CHECK(cudaDeviceSynchronize());
        return (now_ns() - begin) / burst;
      }));

  cudaGraph_t graph;
  cudaGraphExec_t chain;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 20; ++i) nothing<<<1, 1, 0, s>>>();
  CHECK(cudaStreamEndCapture(s, &graph));
  CHECK(cudaGraphInstantiate(&chain, graph, 0));
  say("graph of 20", median_of(201, [&] {
        const double begin = now_ns();
        for (int i = 0; i < 20; ++i) CHECK(cudaGraphLaunch(chain, s));
        CHECK(cudaStreamSynchronize(s));
        return (now_ns() - begin) / 20;
      }));

  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  int khz = 0;
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  cudaStream_t four[4];
  for (auto& q : four) CHECK(cudaStreamCreateWithFlags(&q, cudaStreamNonBlocking));
  say("4 x 4 x 20 ms", median_of(3, [&] {
        const double begin = now_ns();
        for (int k = 0; k < 4; ++k)
          for (auto q : four) wait_for<<<1, 32, 0, q>>>(20LL * khz);
        CHECK(cudaDeviceSynchronize());
        return now_ns() - begin;
      }));

  cudaStream_t blocking[2];
  for (auto& q : blocking) CHECK(cudaStreamCreate(&q));
  beside_idle_streams("no idle streams", blocking[0], blocking[1], e);
  for (int i = 0; i < 10000; ++i) {
    cudaStream_t idle;
    CHECK(cudaStreamCreate(&idle));
    nothing_often<<<1, 1, 0, idle>>>(0, nullptr);
  }
  CHECK(cudaDeviceSynchronize());
  beside_idle_streams("10000 idle", blocking[0], blocking[1], e);

  int *n, host = 0;
  CHECK(cudaMalloc(&n, sizeof *n));
  CHECK(cudaMemset(n, 0, sizeof *n));
  for (int i = 0; i < 3000; ++i) count<<<1, 1, 0, s>>>(n);
  CHECK(cudaMemcpyAsync(&host, n, sizeof host, cudaMemcpyDeviceToHost, s));
  CHECK(cudaStreamSynchronize(s));
  if (host != 3000) return std::printf("wrong: %d\n", host), 1;
}
