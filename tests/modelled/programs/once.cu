// Threads that come while another does what is done once, or has a spin lock: each for as long as
// the other takes, and what an exception left is done by the next.
#include <cuda_runtime.h>
#include <pthread.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

static void work(long long cycles) {
  spin<<<1, 1, 0, cudaStreamPerThread>>>(cycles);
  cudaStreamSynchronize(cudaStreamPerThread);
}

static std::chrono::steady_clock::time_point begin;
static std::mutex printing;
static void print(const char* what, int who) {
  const std::chrono::duration<double, std::micro> since = std::chrono::steady_clock::now() - begin;
  const std::lock_guard held(printing);
  std::printf("%s %d at %.3f\n", what, who, since.count());
}

static void together(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(body, i);
  for (std::thread& t : threads) t.join();
}

static pthread_once_t control = PTHREAD_ONCE_INIT;
static std::once_flag flag, failing;
static pthread_spinlock_t lock;
static int tries = 0;

int main() {
  work(1000);
  begin = std::chrono::steady_clock::now();
  together([](int i) {
    pthread_once(&control, [] { work(300'000'000); });  // longer than a thread may be silent
    print("pthread_once", i);
  });
  together([](int i) {
    std::call_once(flag, [] { work(100'000); });
    print("call_once", i);
  });
  together([](int i) {
    try {
      std::call_once(failing, [] {
        work(100'000);
        if (++tries < 3) throw tries;
      });
      print("did it or found it done", i);
    } catch (int which) {
      print("failed", i * 10 + which);
    }
  });
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  together([](int i) {
    for (int k = 0; k < 3; ++k) {
      pthread_spin_lock(&lock);
      work(100'000 * (i + 1));
      pthread_spin_unlock(&lock);
      print("spin lock", i);
    }
  });
}
