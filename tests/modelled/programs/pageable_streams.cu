// Parts of pageable memory that several streams in turn copy in, compute and copy out, in several
// rounds; `own`: each part is allocated by itself. Applied: pinned where they are.
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
  const int streams = std::atoi(words[2]), parts = std::atoi(words[3]);
  const int turns = std::atoi(words[4]);
  const bool own = count > 5 && words[5] == std::string("own");
  const int rounds = count > 6 ? std::atoi(words[6]) : 1;
  constexpr std::size_t n = 1 << 18, bytes = n * sizeof(float);
  std::vector<float*> in, out;
  for (std::vector<float*>* side : {&in, &out}) {
    float* whole = own ? nullptr : static_cast<float*>(std::calloc(parts, bytes));
    for (int k = 0; k < parts; ++k)
      side->push_back(own ? static_cast<float*>(std::calloc(1, bytes)) : whole + k * n);
  }
  float* device;
  cudaMalloc(&device, parts * bytes);
  std::vector<cudaStream_t> s(streams);
  for (cudaStream_t& each : s) cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking);
  compute<<<1, 32, 0, s[0]>>>(device, 1);
  cudaDeviceSynchronize();
  for (const std::vector<float*>* side : {&in, &out})
    for (int k = 0; applied && k < (own ? parts : 1); ++k)
      cudaHostRegister((*side)[k], own ? bytes : parts * bytes, 0);
  for (int k = 0; k < rounds * parts; ++k) {
    const int part = k % parts;
    const cudaStream_t mine = s[part % streams];
    cudaMemcpyAsync(device + part * n, in[part], bytes, cudaMemcpyHostToDevice, mine);
    compute<<<8, 256, 0, mine>>>(device + part * n, turns);
    cudaMemcpyAsync(out[part], device + part * n, bytes, cudaMemcpyDeviceToHost, mine);
  }
  cudaDeviceSynchronize();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
