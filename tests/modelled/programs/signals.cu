// A thread that goes on when a host function says so, turn by turn, in several ways. Beside what
// the function waits for there is work on the default stream, which other streams wait for (as_is),
// or this one does not (applied).
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>

__global__ void work(float* p, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  p[threadIdx.x] = 1;
}

struct signals {
  std::mutex lock;
  std::condition_variable more;
  std::counting_semaphore<64> rises{0};
  std::atomic<int> done{0};
};

void CUDART_CB over(void* of) {
  signals& s = *static_cast<signals*>(of);
  {
    const std::lock_guard held(s.lock);
    ++s.done;
  }
  s.done.notify_all();
  s.more.notify_one();
  s.rises.release();
}

int main(int, char** words) {
  constexpr int turns = 16;
  const std::string how = words[1];
  const bool applied = words[2] == std::string("applied");
  signals s;
  float *p, *q;
  cudaStream_t stream;
  cudaMalloc(&p, 32 * sizeof(float));
  cudaMalloc(&q, 32 * sizeof(float));
  cudaStreamCreateWithFlags(&stream, applied ? cudaStreamNonBlocking : cudaStreamDefault);
  for (int turn = 0; turn < turns; ++turn) {
    work<<<1, 32, 0, stream>>>(p, 100000);
    cudaLaunchHostFunc(stream, over, &s);
    work<<<1, 32>>>(q, 60000);
    if (how == "condition") {
      std::unique_lock held(s.lock);
      s.more.wait(held, [&] { return s.done > turn; });
    } else if (how == "semaphore") {
      s.rises.acquire();
    } else if (how == "atomic") {
      for (int seen = turn; seen <= turn; seen = s.done) s.done.wait(seen);
    } else {
      while (s.done <= turn) std::this_thread::sleep_for(std::chrono::microseconds(2));
    }
  }
  cudaDeviceSynchronize();
}
