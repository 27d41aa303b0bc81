// Copies in, kernels and copies out of three streams, with kernels that are loaded when they are
// used first, behind everything that is pending then:
//   depth      everything of one stream, then of the next
//   breadth    the first operation of every stream, then the second of every stream
//   threads    one thread for each stream, which waits in each turn
#include <cstring>
#include <thread>
#include <vector>

__global__ void scale(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i] * 2 + 1;
}

namespace {

constexpr int n = 1 << 18, streams = 3, turns = 4;

struct lane {
  cudaStream_t stream;
  float *device, *host;

  void in() const {
    cudaMemcpyAsync(device, host, n * sizeof(float), cudaMemcpyHostToDevice, stream);
  }
  void work() const { scale<<<n / 256, 256, 0, stream>>>(device, n); }
  void out() const {
    cudaMemcpyAsync(host, device, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  }
};

}  // namespace

int main(int, char** words) {
  std::vector<lane> lanes(streams);
  for (lane& l : lanes) {
    cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking);
    cudaMalloc(&l.device, n * sizeof(float));
    cudaMallocHost(&l.host, n * sizeof(float));
  }
  const auto all_of = [&](const lane& l, bool waits) {
    for (int turn = 0; turn < turns; ++turn) {
      l.in();
      l.work();
      l.out();
      if (waits) cudaStreamSynchronize(l.stream);
    }
  };
  if (std::strcmp(words[1], "depth") == 0) {
    for (const lane& l : lanes) all_of(l, false);
  } else if (std::strcmp(words[1], "threads") == 0) {
    std::vector<std::thread> all;
    for (const lane& l : lanes) all.emplace_back(all_of, std::cref(l), true);
    for (std::thread& one : all) one.join();
  } else {
    for (int turn = 0; turn < turns; ++turn) {
      for (const lane& l : lanes) l.in();
      for (const lane& l : lanes) l.work();
      for (const lane& l : lanes) l.out();
    }
  }
  cudaDeviceSynchronize();
}
