// Kernels that share no data in one stream, and in several.
// divided between as_is|streams|applied|needed: with a fill in the default stream between them
// divided created as_is|applied TURNS: in four streams, which become sixteen
#include <cstdlib>
#include <string_view>

namespace {

constexpr int part = 2048, kernels = 16;

__global__ void compute(float* p, int turns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = p[i];
  for (int k = 0; k < turns; ++k) v = v * 1.0001f + 0.5f;
  p[i] = v;
}

void between(std::string_view how) {
  cudaStream_t s[4];
  for (cudaStream_t& one : s)
    cudaStreamCreateWithFlags(&one, how == "applied" ? cudaStreamNonBlocking : cudaStreamDefault);
  float *device, *filled;
  cudaMalloc(&device, kernels * part * sizeof(float));
  cudaMalloc(&filled, 4096);
  const bool several = how == "streams" || how == "applied";
  for (int i = 0; i < kernels; ++i) {
    compute<<<part / 256, 256, 0, s[several ? i % 4 : 0]>>>(device + i * part, 40000);
    // The whole memory: the kernels in front of it need it, and those behind it.
    if (how == "needed")
      cudaMemsetAsync(device, 0, kernels * part * sizeof(float));
    else
      cudaMemsetAsync(filled, 0, 64);
  }
  cudaDeviceSynchronize();
}

void created(bool applied, int turns) {
  cudaStream_t s[16];
  const int streams = applied ? 16 : 4;
  for (int i = 0; i < streams; ++i) cudaStreamCreate(&s[i]);
  float* device;
  cudaMalloc(&device, 2 * kernels * part * sizeof(float));
  for (int i = 0; i < 2 * kernels; ++i)
    compute<<<part / 256, 256, 0, s[i % streams]>>>(device + i * part, turns);
  cudaDeviceSynchronize();
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  if (words[1] == std::string_view("between")) between(words[2]);
  if (count > 3 && words[1] == std::string_view("created"))
    created(words[2] == std::string_view("applied"), std::atoi(words[3]));
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
