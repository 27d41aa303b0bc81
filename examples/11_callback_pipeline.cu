// A pipeline that host functions drive.
//
// When a stream comes to a host function, all earlier work of the stream is done, and later work
// waits until it returns. It must not call CUDA: here it only hands the finished item to a host
// thread, which post-processes it while the device works on the next ones.
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "common.h"

__global__ void scale(int* data, int n, int factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}

class finished_items {
 public:
  void push(int item) {
    std::lock_guard<std::mutex> lock(mutex_);
    items_.push(item);
    changed_.notify_one();
  }
  int pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return !items_.empty(); });
    int item = items_.front();
    items_.pop();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<int> items_;
};

struct job {
  finished_items* out;
  int index;
};

void CUDART_CB hand_over(void* user) {
  job* j = static_cast<job*>(user);
  j->out->push(j->index);
}

int main() {
  const int items = 9, streams = 3, n = 1 << 14;
  const size_t bytes = n * sizeof(int);
  cudaStream_t stream[streams];
  for (auto& s : stream) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  std::vector<int*> host(items), device(items);
  std::vector<job> jobs(items);
  finished_items finished;

  for (int k = 0; k < items; ++k) {
    CHECK(cudaMallocHost(&host[k], bytes));
    CHECK(cudaMalloc(&device[k], bytes));
    for (int i = 0; i < n; ++i) host[k][i] = i;
    jobs[k] = {&finished, k};
  }

  std::vector<long long> sums(items, -1);
  std::thread post_process([&] {
    for (int done = 0; done < items; ++done) {
      int k = finished.pop();
      sums[k] = 0;
      for (int i = 0; i < n; ++i) sums[k] += host[k][i];
      std::printf("item %d came out of stream %d\n", k, k % streams);
    }
  });
  for (int k = 0; k < items; ++k) {
    cudaStream_t s = stream[k % streams];
    CHECK(cudaMemcpyAsync(device[k], host[k], bytes, cudaMemcpyHostToDevice, s));
    scale<<<n / 256, 256, 0, s>>>(device[k], n, k + 1);
    CHECK(cudaMemcpyAsync(host[k], device[k], bytes, cudaMemcpyDeviceToHost, s));
    CHECK(cudaLaunchHostFunc(s, hand_over, &jobs[k]));
  }
  post_process.join();
  CHECK(cudaDeviceSynchronize());

  for (int k = 0; k < items; ++k) {
    EXPECT(sums[k] == static_cast<long long>(k + 1) * n * (n - 1) / 2);
    CHECK(cudaFree(device[k]));
    CHECK(cudaFreeHost(host[k]));
  }
  for (auto& s : stream) CHECK(cudaStreamDestroy(s));
  std::printf("ok\n");
  return 0;
}
