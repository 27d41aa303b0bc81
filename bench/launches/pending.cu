// What an operation that waits for its turn costs: 10,000 streams, held by one kernel, with 100 of
// a kind in each. `kind<TAB>bytes<TAB>bytes of the second time<TAB>nanoseconds` for
// bench/pending.py.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                        \
  do {                                                                     \
    if (const cudaError_t error_ = (call); error_ != cudaSuccess) {        \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                        \
    }                                                                      \
  } while (0)

__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {
  }
}
struct arguments {
  int words[64];
};
__global__ void count(int* n) { *n += 1; }
__global__ void count_much(int* n, arguments a) { *n += a.words[63]; }
static void CUDART_CB count_here(void* n) { *static_cast<int*>(n) += 1; }

static long resident_bytes() {
  long pages = 0;
  if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(f);
  }
  return pages * 4096;
}
static double now_ns() {
  using namespace std::chrono;
  return duration<double, std::nano>(steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char** argv) {
  constexpr int streams = 10'000, each = 100;
  const char* kind = argc > 1 ? argv[1] : "";
  std::vector<cudaStream_t> stream(streams);
  for (auto& s : stream) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  int *n, *flag, *host;
  CHECK(cudaMalloc(&n, streams * sizeof(int)));
  CHECK(cudaMallocHost(&flag, sizeof(int)));
  CHECK(cudaMallocHost(&host, streams * sizeof(int)));
  cudaFuncAttributes loaded;
  CHECK(cudaFuncGetAttributes(&loaded, count));
  CHECK(cudaFuncGetAttributes(&loaded, count_much));
  cudaStream_t gate;
  CHECK(cudaStreamCreateWithFlags(&gate, cudaStreamNonBlocking));
  cudaEvent_t open, other;
  CHECK(cudaEventCreateWithFlags(&open, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&other, cudaEventDisableTiming));
  arguments ones{};
  ones.words[63] = 1;

  const auto enqueue = [&](int s) {
    if (!std::strcmp(kind, "kernel"))
      count<<<1, 1, 0, stream[s]>>>(n + s);
    else if (!std::strcmp(kind, "kernel, 264 bytes of parameters"))
      count_much<<<1, 1, 0, stream[s]>>>(n + s, ones);
    else if (!std::strcmp(kind, "copy"))
      cudaMemcpyAsync(host + s, n + s, sizeof *n, cudaMemcpyDeviceToHost, stream[s]);
    else if (!std::strcmp(kind, "record"))
      cudaEventRecord(other, stream[s]);
    else if (!std::strcmp(kind, "wait"))
      cudaStreamWaitEvent(stream[s], open, 0);
    else if (!std::strcmp(kind, "host function"))
      cudaLaunchHostFunc(stream[s], count_here, host + s);
    else
      std::exit(2);
  };
  long bytes[2];
  double took = 0;
  for (long& of_this_time : bytes) {
    CHECK(cudaMemset(n, 0, streams * sizeof(int)));
    std::fill(host, host + streams, std::strcmp(kind, "copy") == 0 ? -1 : 0);
    *reinterpret_cast<volatile int*>(flag) = 0;
    CHECK(cudaDeviceSynchronize());
    wait_for<<<1, 1, 0, gate>>>(flag);
    CHECK(cudaEventRecord(open, gate));
    for (auto s : stream) CHECK(cudaStreamWaitEvent(s, open, 0));
    const long before = resident_bytes();
    const double begin = now_ns();
    for (int k = 0; k < each; ++k)
      for (int s = 0; s < streams; ++s) enqueue(s);
    took = (now_ns() - begin) / (1.0 * streams * each);
    CHECK(cudaGetLastError());
    of_this_time = resident_bytes() - before;
    if (cudaStreamQuery(stream[0]) != cudaErrorNotReady) return std::puts("not held"), 1;
    *reinterpret_cast<volatile int*>(flag) = 1;
    CHECK(cudaDeviceSynchronize());
    std::vector<int> result(streams);
    CHECK(cudaMemcpy(result.data(), n, streams * sizeof(int), cudaMemcpyDeviceToHost));
    const bool kernels = std::strncmp(kind, "kernel", 6) == 0;
    for (int s = 0; s < streams; ++s) {
      if (result[s] != (kernels ? each : 0)) return std::puts("wrong"), 1;
      if (host[s] != (std::strcmp(kind, "host function") == 0 ? each : 0))
        return std::puts("wrong"), 1;
    }
  }
  constexpr double all = 1.0 * streams * each;
  std::printf("%s\t%.1f\t%.1f\t%.1f\n", kind, static_cast<double>(bytes[0]) / all,
              static_cast<double>(bytes[1]) / all, took);
}
