// A default stream for each host thread.
//
// cudaStreamPerThread is a default stream that every host thread has for itself. With
// `nvcc --default-stream per-thread` it also becomes the stream of calls that name none. Per-thread
// default streams behave as blocking streams: they order with the legacy stream, but not with each
// other.
#include <thread>
#include <vector>

#include "common.h"

__global__ void fill(int* data, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = value;
}

int main() {
  const int threads = 4, n = 1 << 14;
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  std::printf("compiled with --default-stream per-thread\n");
#else
  std::printf("compiled with the legacy default stream\n");
#endif

  std::vector<int*> results(threads);
  for (auto& r : results) CHECK(cudaMallocHost(&r, n * sizeof(int)));
  int* managed;
  CHECK(cudaMallocManaged(&managed, 256 * sizeof(int)));
  load(fill);

  // The main thread's per-thread stream is held ...
  gate hold;
  hold.close(cudaStreamPerThread);

  // ... and the other threads work all the same, each in its own default stream.
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      int* device;
      CHECK(cudaMallocAsync(&device, n * sizeof(int), cudaStreamPerThread));
      fill<<<n / 256, 256, 0, cudaStreamPerThread>>>(device, n, t + 1);
      CHECK(cudaMemcpyAsync(results[t], device, n * sizeof(int), cudaMemcpyDeviceToHost,
                            cudaStreamPerThread));
      CHECK(cudaFreeAsync(device, cudaStreamPerThread));
      CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    });
  }
  for (auto& w : workers) w.join();
  EXPECT(cudaStreamQuery(cudaStreamPerThread) == cudaErrorNotReady);
  std::printf("%d threads finished in their default streams while the main thread's was held\n",
              threads);

  // A launch that names no stream goes to the one that the program was compiled for. The legacy
  // stream waits for the held one; the main thread's own default stream is the held one.
  fill<<<1, 256>>>(managed, 256, 7);
  CHECK(cudaGetLastError());
  hold.open();
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i) EXPECT(managed[i] == 7);

  for (int t = 0; t < threads; ++t) {
    for (int i = 0; i < n; ++i) EXPECT(results[t][i] == t + 1);
    CHECK(cudaFreeHost(results[t]));
  }
  CHECK(cudaFree(managed));
  std::printf("ok\n");
  return 0;
}
