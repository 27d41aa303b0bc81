// 10,000 streams with 1,000,000 pending operations: all of them run, in a bounded amount of memory
// for each. The kernel is loaded behind what is pending in all of the streams.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                 \
  do {                                                              \
    if (const cudaError_t error_ = (call); error_ != cudaSuccess) { \
      std::printf("%s: %s\n", #call, cudaGetErrorString(error_));   \
      std::exit(1);                                                 \
    }                                                               \
  } while (0)

__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void count(int* n) { *n += 1; }

static long resident_bytes() {
  long pages = 0;
  if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(f);
  }
  return pages * 4096;
}

int main() {
  constexpr int streams = 10'000, each = 100;
  std::vector<cudaStream_t> stream(streams);
  for (auto& s : stream) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  int *n, *flag;
  CHECK(cudaMalloc(&n, streams * sizeof(int)));
  CHECK(cudaMemset(n, 0, streams * sizeof(int)));
  CHECK(cudaMallocHost(&flag, sizeof(int)));
  *flag = 0;
  cudaStream_t gate;
  CHECK(cudaStreamCreateWithFlags(&gate, cudaStreamNonBlocking));
  cudaEvent_t open;
  CHECK(cudaEventCreateWithFlags(&open, cudaEventDisableTiming));
  wait_for<<<1, 1, 0, gate>>>(flag);
  CHECK(cudaEventRecord(open, gate));
  for (auto s : stream) CHECK(cudaStreamWaitEvent(s, open, 0));

  const long before = resident_bytes();
  for (int k = 0; k < each; ++k)
    for (int s = 0; s < streams; ++s) count<<<1, 1, 0, stream[s]>>>(n + s);
  CHECK(cudaGetLastError());
  const double bytes = static_cast<double>(resident_bytes() - before) / (1.0 * streams * each);
  if (cudaStreamQuery(stream[0]) != cudaErrorNotReady) return std::printf("not held\n"), 1;
  *reinterpret_cast<volatile int*>(flag) = 1;
  CHECK(cudaDeviceSynchronize());

  std::vector<int> host(streams);
  CHECK(cudaMemcpy(host.data(), n, streams * sizeof(int), cudaMemcpyDeviceToHost));
  for (int s = 0; s < streams; ++s)
    if (host[s] != each) return std::printf("stream %d ran %d of %d\n", s, host[s], each), 1;
  std::printf("%d pending operations over %d streams, %.0f bytes each\n", streams * each, streams,
              bytes);
  if (bytes > 2048) return std::printf("too much\n"), 1;
  for (auto s : stream) CHECK(cudaStreamDestroy(s));
  std::printf("ok\n");
}
