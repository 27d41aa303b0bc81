// Pieces of pageable memory that several streams in turn copy in, compute and copy out; applied:
// pinned where they are.
#include <cstdlib>
#include <string>
#include <vector>

__global__ void compute(float* out, int turns) {
  float x = threadIdx.x;
  for (int i = 0; i < turns; ++i) x = x * 0.999f + 0.5f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int main(int count, char** words) {
  if (count < 5) return 2;
  const bool applied = words[1] == std::string("applied");
  const int streams = std::atoi(words[2]), pieces = std::atoi(words[3]);
  const int turns = std::atoi(words[4]);
  constexpr std::size_t n = 1 << 18, bytes = n * sizeof(float);
  float* in = static_cast<float*>(std::calloc(pieces, bytes));
  float* out = static_cast<float*>(std::calloc(pieces, bytes));
  float* device;
  cudaMalloc(&device, pieces * bytes);
  std::vector<cudaStream_t> s(streams);
  for (cudaStream_t& each : s) cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking);
  compute<<<1, 32, 0, s[0]>>>(device, 1);
  cudaDeviceSynchronize();
  for (float* memory : {in, out})
    if (applied) cudaHostRegister(memory, pieces * bytes, 0);
  for (int k = 0; k < pieces; ++k) {
    const cudaStream_t mine = s[k % streams];
    cudaMemcpyAsync(device + k * n, in + k * n, bytes, cudaMemcpyHostToDevice, mine);
    compute<<<8, 256, 0, mine>>>(device + k * n, turns);
    cudaMemcpyAsync(out + k * n, device + k * n, bytes, cudaMemcpyDeviceToHost, mine);
  }
  cudaDeviceSynchronize();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
