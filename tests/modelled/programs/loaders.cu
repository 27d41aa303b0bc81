// A host that prepares each batch in a thread of its own: one that lives as long as the loop
// (kept), or a new one for each batch (made, by std::thread; async, by std::async). It does so with
// code that takes a while, here a sleep. The loop waits for the device in each turn (as_is), or not
// (unwaited); with `applied`, preparing takes no time. A thread that has one buffer alone
// (semaphore, atomic, by what they wait) prepares it when the loop gives it back; one that meets
// the loop behind each turn (meeting) is always the later one, and never waits.
#include <cuda_runtime.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>

constexpr int n = 1 << 18, turns = 16;

__global__ void work(float* p, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = p[i];
  for (int r = 0; r < rounds; ++r) a = a * 0.99f + 1;
  p[i] = a;
}

static float *host[2], *device[2];
static cudaStream_t stream;
static bool waits = true;
static int us = 0;

static void load() {
  if (us != 0) std::this_thread::sleep_for(std::chrono::microseconds(us));
}

static void compute(int turn) {
  const int k = turn % 2;
  cudaMemcpyAsync(device[k], host[k], n * sizeof(float), cudaMemcpyHostToDevice, stream);
  work<<<n / 256, 256, 0, stream>>>(device[k], 2000);
  if (waits) cudaStreamSynchronize(stream);
}

static void kept() {
  std::mutex lock;
  std::condition_variable more;
  int ready = 0;
  std::thread loader([&] {
    for (int turn = 0; turn < turns; ++turn) {
      load();
      const std::lock_guard held(lock);
      ++ready;
      more.notify_one();
    }
  });
  for (int turn = 0; turn < turns; ++turn) {
    {
      std::unique_lock held(lock);
      more.wait(held, [&] { return ready > turn; });
    }
    compute(turn);
  }
  loader.join();
}

struct by_semaphore {
  std::counting_semaphore<1> count;
  explicit by_semaphore(int n) : count(n) {}
  void take() { count.acquire(); }
  void give() { count.release(); }
};
struct by_atomic {
  std::atomic<int> count;
  explicit by_atomic(int n) : count(n) {}
  void take() {
    count.wait(0);
    --count;
  }
  void give() {
    ++count;
    count.notify_one();
  }
};

template <class Token>
static void given_back() {
  Token empty(1), full(0);
  std::thread loader([&] {
    for (int turn = 0; turn < turns; ++turn) {
      empty.take();
      load();
      full.give();
    }
  });
  for (int turn = 0; turn < turns; ++turn) {
    full.take();
    compute(0);
    empty.give();
  }
  loader.join();
}

static void meeting() {
  std::barrier meet(2);
  std::thread loader([&] {
    for (int turn = 0; turn < turns; ++turn) {
      load();
      meet.arrive_and_wait();
    }
    meet.arrive_and_wait();
  });
  for (int turn = 0; turn < turns; ++turn) {
    meet.arrive_and_wait();
    compute(0);
  }
  meet.arrive_and_wait();
  loader.join();
}

static void made() {
  std::thread loader(load);
  for (int turn = 0; turn < turns; ++turn) {
    loader.join();
    if (turn + 1 < turns) loader = std::thread(load);
    compute(turn);
  }
}

static void async() {
  std::future<void> loaded = std::async(std::launch::async, load);
  for (int turn = 0; turn < turns; ++turn) {
    loaded.get();
    if (turn + 1 < turns) loaded = std::async(std::launch::async, load);
    compute(turn);
  }
}

int main(int, char** words) {
  const std::string what = words[1], how = words[2];
  us = how == "applied" ? 0 : std::stoi(words[3]);
  waits = how != "unwaited";
  for (int k = 0; k < 2; ++k) {
    cudaMallocHost(&host[k], n * sizeof(float));
    cudaMalloc(&device[k], n * sizeof(float));
  }
  cudaStreamCreate(&stream);
  work<<<n / 256, 256>>>(device[0], 0);
  cudaDeviceSynchronize();
  if (what == "kept") kept();
  if (what == "made") made();
  if (what == "async") async();
  if (what == "semaphore") given_back<by_semaphore>();
  if (what == "atomic") given_back<by_atomic>();
  if (what == "meeting") meeting();
  cudaDeviceSynchronize();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
