// One stream against several: kernels that only wait.
//
// The same work (copy in, a kernel that waits, copy out) is issued `count` times, first into one
// stream, then into a stream for each. With one stream everything is in a row; with several, the
// copies of one run beside the kernels of another, and small kernels run beside each other.
//
//   03_sleep_streams [STREAMS [pageable]]   4 kernels in so many streams, once; without: all
#include <cstring>
#include <vector>

#include "common.h"

__global__ void count_and_wait(int* data, int n, long long cycles) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
  wait_cycles(cycles);
}

int main(int argc, char** argv) {
  const int only = argc > 1 ? std::atoi(argv[1]) : 0;
  const bool pinned = argc < 3 || std::strcmp(argv[2], "pageable") != 0;
  const int n = 16 * 256;  // a small grid: it leaves most of the device free
  const size_t bytes = n * sizeof(int);
  const int most = 8;
  const long long cycles = 2000 * cycles_per_microsecond();

  cudaStream_t stream[most];
  int *host[most], *device[most];
  for (int s = 0; s < most; ++s) {
    CHECK(cudaStreamCreate(&stream[s]));
    if (pinned)
      CHECK(cudaMallocHost(&host[s], bytes));
    else
      host[s] = static_cast<int*>(std::malloc(bytes));
    CHECK(cudaMalloc(&device[s], bytes));
    for (int i = 0; i < n; ++i) host[s][i] = s;
  }

  auto issue = [&](int count, int streams) {
    for (int k = 0; k < count; ++k) {
      cudaStream_t q = stream[k % streams];
      CHECK(cudaMemcpyAsync(device[k], host[k], bytes, cudaMemcpyHostToDevice, q));
      count_and_wait<<<n / 256, 256, 0, q>>>(device[k], n, cycles);
      CHECK(cudaMemcpyAsync(host[k], device[k], bytes, cudaMemcpyDeviceToHost, q));
    }
  };

  load(count_and_wait);
  std::vector<int> runs(most, 0);
  if (only > 0 && only <= most) {
    std::printf("4 kernels of 2 ms in %d streams: %6.2f ms\n", only,
                milliseconds([&] { issue(4, only); }));
    for (int k = 0; k < 4; ++k) runs[k] += 1;
  }
  for (int count : {1, 4, 8}) {
    if (only != 0) break;
    double single = milliseconds([&] { issue(count, 1); });
    double several = milliseconds([&] { issue(count, count); });
    for (int k = 0; k < count; ++k) runs[k] += 2;
    std::printf("%d kernels of 2 ms: in one stream %6.2f ms, in %d stream%s %6.2f ms\n", count,
                single, count, count == 1 ? " " : "s", several);
  }

  for (int s = 0; s < most; ++s) {
    for (int i = 0; i < n; ++i) EXPECT(host[s][i] == s + runs[s]);
    CHECK(cudaFree(device[s]));
    if (pinned)
      CHECK(cudaFreeHost(host[s]));
    else
      std::free(host[s]);
    CHECK(cudaStreamDestroy(stream[s]));
  }
  std::printf("ok\n");
  return 0;
}
