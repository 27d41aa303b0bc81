// A host that prepares each batch in a thread of its own: one that lives as long as the loop
// (kept), or a new one for each batch (made, by std::thread; async, by std::async). It does so with
// code that takes a while, here a sleep. The loop waits for the device in each turn (as_is), or not
// (unwaited); with `applied`, preparing takes no time.
#include <cuda_runtime.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
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
  cudaDeviceSynchronize();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
