// Pieces that are copied in, computed and copied out, on so many streams in turn.
#include <cstdlib>
#include <vector>

__global__ void work(float* a, int turns) {
  float x = a[threadIdx.x];
  for (int i = 0; i < turns; ++i) x = x * 0.999f + 0.5f;
  a[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int main(int count, char** words) {
  if (count < 4) return 2;
  constexpr int pieces = 64, blocks = 8, threads = 32;
  const int streams = std::atoi(words[1]), turns = std::atoi(words[2]);
  const std::size_t n = std::atoi(words[3]);  // floats of a piece
  float *host, *device;
  cudaMallocHost(&host, pieces * n * sizeof(float));
  cudaMalloc(&device, pieces * n * sizeof(float));
  work<<<1, 32>>>(device, 1);
  cudaDeviceSynchronize();
  std::vector<cudaStream_t> s(streams);
  for (cudaStream_t& each : s) cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking);
  for (int k = 0; k < pieces; ++k) {
    const cudaStream_t mine = s[k % streams];
    cudaMemcpyAsync(device + k * n, host + k * n, n * sizeof(float), cudaMemcpyHostToDevice, mine);
    work<<<blocks, threads, 0, mine>>>(device + k * n, turns);
    cudaMemcpyAsync(host + k * n, device + k * n, n * sizeof(float), cudaMemcpyDeviceToHost, mine);
  }
  cudaDeviceSynchronize();
  for (const cudaStream_t each : s) cudaStreamDestroy(each);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
