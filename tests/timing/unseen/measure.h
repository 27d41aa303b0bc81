// What the programs here share: they print `key<TAB>microseconds`, the median of several
// measurements after one that does not count. The argument is the number of measurements.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using clk = std::chrono::steady_clock;
constexpr std::size_t kib = 1024, mib = 1024 * kib;
inline int measurements = 11;

#define MUST(call) must((call), #call, __LINE__)
inline void must(cudaError_t e, const char* what, int line) {
  if (e == cudaSuccess) return;
  std::printf("FATAL\t%s line %d: %s\n", what, line, cudaGetErrorName(e));
  std::fflush(stdout);
  std::exit(3);
}

inline void say(const std::string& key, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::printf("%s\t%.3f\n", key.c_str(), values[values.size() / 2]);
  std::fflush(stdout);
}

inline double microseconds(clk::time_point a, clk::time_point b) {
  return std::chrono::duration<double, std::micro>(b - a).count();
}

/// What f says it took.
template <class F>
void told(const std::string& key, F f) {
  std::vector<double> values;
  f();
  for (int i = 0; i < measurements; ++i) values.push_back(f());
  say(key, values);
}

/// From an idle device until it is idle again.
template <class F>
void wall(const std::string& key, F f) {
  told(key, [&] {
    MUST(cudaDeviceSynchronize());
    const auto begin = clk::now();
    f();
    MUST(cudaDeviceSynchronize());
    return microseconds(begin, clk::now());
  });
}

/// Between two events around f's work in s.
template <class F>
void between_events(const std::string& key, cudaStream_t s, F f) {
  cudaEvent_t a, b;
  MUST(cudaEventCreate(&a));
  MUST(cudaEventCreate(&b));
  told(key, [&] {
    MUST(cudaDeviceSynchronize());
    MUST(cudaEventRecord(a, s));
    f();
    MUST(cudaEventRecord(b, s));
    MUST(cudaEventSynchronize(b));
    float ms;
    MUST(cudaEventElapsedTime(&ms, a, b));
    return ms * 1000.0;
  });
  MUST(cudaEventDestroy(a));
  MUST(cudaEventDestroy(b));
}

class streams {
 public:
  explicit streams(int count) : all_(count) {
    for (auto& s : all_) MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  }
  streams(const streams&) = delete;
  ~streams() {
    for (auto s : all_) cudaStreamDestroy(s);
  }
  cudaStream_t operator[](std::size_t i) const { return all_[i % all_.size()]; }
  std::size_t count() const { return all_.size(); }

 private:
  std::vector<cudaStream_t> all_;
};

class event {
 public:
  event() { MUST(cudaEventCreateWithFlags(&e_, cudaEventDisableTiming)); }
  event(const event&) = delete;
  ~event() { cudaEventDestroy(e_); }
  operator cudaEvent_t() const { return e_; }

 private:
  cudaEvent_t e_;
};

/// `later` waits for what `earlier` has now.
inline void order(cudaStream_t earlier, cudaEvent_t e, cudaStream_t later) {
  MUST(cudaEventRecord(e, earlier));
  MUST(cudaStreamWaitEvent(later, e, 0));
}

static __global__ void nothing() {}
static __global__ void wait_cycles(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
/// Cycles of a microsecond on an H200 at work.
constexpr long long microsecond = 1980;

inline void begin(int argc, char** argv) {
  if (argc > 1) measurements = std::atoi(argv[1]);
  MUST(cudaFree(nullptr));
  cudaDeviceProp p;
  MUST(cudaGetDeviceProperties(&p, 0));
  std::printf("dev.name\t%s\n", p.name);
  for (int i = 0; i < 200; ++i) nothing<<<1, 1>>>();
  MUST(cudaDeviceSynchronize());
}

inline int end() {
  MUST(cudaDeviceSynchronize());
  MUST(cudaGetLastError());
  std::printf("end\tok\n");
  return 0;
}
