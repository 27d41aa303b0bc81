// Threads with streams and memory of their own and one lock, which they hold until their work is
// done (as_is), or only while they issue it (applied), without a wait in each turn (unwaited).
// `timed`: they take it with a time limit; `again`: with a short one, until they have it; `nested`:
// once more around the kernel's launch. `kernels`: without copies.
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
  const auto is = [&](int word, const char* what) {
    return count > word && std::strcmp(words[word], what) == 0;
  };
  const bool waits = !is(1, "unwaited"), applied = is(1, "applied") || !waits;
  const bool again = is(2, "again"), timed = again || is(2, "timed"), copies = !is(2, "kernels"),
             nested = is(2, "nested");
  std::timed_mutex lock;
  std::recursive_mutex twice;
  const auto turns = [&] {
    cudaStream_t s;
    float *device, *host = nullptr;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMalloc(&device, n * sizeof(float));
    if (copies) cudaMallocHost(&host, n * sizeof(float));
    for (int turn = 0; turn < (copies ? 6 : 10); ++turn) {
      std::unique_lock held(lock, std::defer_lock);
      std::unique_lock outer(twice, std::defer_lock), inner(twice, std::defer_lock);
      if (again)
        while (!held.try_lock_for(std::chrono::microseconds(30))) {
        }
      else if (timed)
        static_cast<void>(held.try_lock_for(std::chrono::seconds(5)));
      else if (nested)
        outer.lock();
      else
        held.lock();
      if (copies) cudaMemcpyAsync(device, host, n * sizeof(float), cudaMemcpyHostToDevice, s);
      if (nested) inner.lock();
      work<<<n / 256, 256, 0, s>>>(device, n);
      if (nested) inner.unlock();
      if (copies) cudaMemcpyAsync(host, device, n * sizeof(float), cudaMemcpyDeviceToHost, s);
      if (applied) nested ? outer.unlock() : held.unlock();
      if (waits) cudaStreamSynchronize(s);
    }
    cudaStreamSynchronize(s);
  };
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) all.emplace_back(turns);
  for (std::thread& one : all) one.join();
}
