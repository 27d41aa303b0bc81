// Threads with streams and memory of their own and one lock, which they hold until their work is
// done (as_is), or only while they issue it (applied). `timed`: they take it with a time limit;
// `again`: with a short one, until they have it.
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

__global__ void work(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = p[i];
  for (int r = 0; r < 2000; ++r) a = a * 0.99f + 1;
  p[i] = a;
}

int main(int count, char** words) {
  constexpr int n = 1 << 14;
  const bool applied = std::strcmp(words[1], "applied") == 0, timed = count > 2;
  const bool again = timed && std::strcmp(words[2], "again") == 0;
  std::timed_mutex lock;
  const auto turns = [&] {
    cudaStream_t s;
    float *device, *host;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMalloc(&device, n * sizeof(float));
    cudaMallocHost(&host, n * sizeof(float));
    for (int turn = 0; turn < 6; ++turn) {
      std::unique_lock held(lock, std::defer_lock);
      if (again)
        while (!held.try_lock_for(std::chrono::microseconds(30))) {
        }
      else if (timed)
        static_cast<void>(held.try_lock_for(std::chrono::seconds(5)));
      else
        held.lock();
      cudaMemcpyAsync(device, host, n * sizeof(float), cudaMemcpyHostToDevice, s);
      work<<<n / 256, 256, 0, s>>>(device, n);
      cudaMemcpyAsync(host, device, n * sizeof(float), cudaMemcpyDeviceToHost, s);
      if (applied) held.unlock();
      cudaStreamSynchronize(s);
    }
  };
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) all.emplace_back(turns);
  for (std::thread& one : all) one.join();
}
