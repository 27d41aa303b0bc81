// One thread prepares on the device what another one goes on with, turn by turn. The second waits
// for its own kernel in each turn (as_is), or behind all of them (applied), and then comes so soon
// that it has to wait for the first; with `late` it does not even then.
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

__global__ void work(float* p, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = p[i];
  for (int r = 0; r < rounds; ++r) a = a * 0.99f + 1;
  p[i] = a;
}

int main(int count, char** words) {
  constexpr int n = 1 << 14, turns = 16, rounds = 4000;
  const bool applied = words[1] == std::string("applied"), late = count > 2;
  std::mutex lock;
  std::condition_variable more;
  int ready = 0;
  float *first, *second;
  cudaMalloc(&first, n * sizeof(float));
  cudaMalloc(&second, n * sizeof(float));
  work<<<1, 32>>>(first, 0, 0);
  cudaDeviceSynchronize();
  const auto prepare = [&] {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    for (int turn = 0; turn < turns; ++turn) {
      work<<<n / 256, 256, 0, s>>>(first, n, rounds);
      cudaStreamSynchronize(s);
      const std::lock_guard held(lock);
      ++ready;
      more.notify_one();
    }
  };
  const auto go_on = [&] {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    for (int turn = 0; turn < turns; ++turn) {
      {
        std::unique_lock held(lock);
        more.wait(held, [&] { return ready > turn; });
      }
      work<<<n / 256, 256, 0, s>>>(second, n, late ? 3 * rounds : rounds + rounds / 3);
      if (!applied || turn + 1 == turns) cudaStreamSynchronize(s);
    }
  };
  std::thread one(prepare), other(go_on);
  one.join();
  other.join();
}
