// Turns that use buffers of the host in turn, as many as the second argument says. as_is: each turn
// waits for itself; applied: for the last one that had its buffers, before it uses them.
#include <cuda_runtime.h>

#include <cstdlib>
#include <string>
#include <vector>

__global__ void work(float* p, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = p[i];
  for (int r = 0; r < rounds; ++r) a = a * 0.99f + 1;
  p[i] = a;
}

struct buffer {
  cudaStream_t stream;
  float *device, *in, *out;
  explicit buffer(int n) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&device, n * sizeof(float));
    cudaMallocHost(&in, n * sizeof(float));
    cudaMallocHost(&out, n * sizeof(float));
  }
};

int main(int, char** words) {
  const bool applied = words[1] == std::string("applied");
  const int buffers = std::atoi(words[2]), n = std::atoi(words[3]), rounds = std::atoi(words[4]);
  std::vector<buffer> all;
  for (int i = 0; i < buffers; ++i) all.emplace_back(n);
  work<<<1, 32, 0, all[0].stream>>>(all[0].device, 0, 0);
  cudaDeviceSynchronize();
  for (int turn = 0; turn < 20; ++turn) {
    const buffer& b = all[turn % buffers];
    if (applied && turn >= buffers) cudaStreamSynchronize(b.stream);
    cudaMemcpyAsync(b.device, b.in, n * sizeof(float), cudaMemcpyHostToDevice, b.stream);
    work<<<n / 256, 256, 0, b.stream>>>(b.device, n, rounds);
    cudaMemcpyAsync(b.out, b.device, n * sizeof(float), cudaMemcpyDeviceToHost, b.stream);
    if (!applied) cudaStreamSynchronize(b.stream);
  }
  cudaDeviceSynchronize();
}
