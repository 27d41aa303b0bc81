// Kernels of two streams with memory of their own, which each turn frees. applied: it is freed
// behind the loop. takes_too: each turn takes it as well.
#include <string_view>

namespace {

constexpr int turns = 20, count = 2048;

__global__ void compute(float* p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = p[i];
  for (int k = 0; k < 40000; ++k) v = v * 1.0001f + 0.5f;
  p[i] = v;
}

void take(float*& memory) { cudaMalloc(&memory, count * sizeof(float)); }

}  // namespace

int main(int words, char** word) {
  const std::string_view how = words > 1 ? word[1] : "";
  cudaStream_t s[2];
  for (cudaStream_t& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  float* memory[turns];
  if (how != "takes_too")
    for (float*& one : memory) take(one);
  for (int i = 0; i < turns; ++i) {
    if (how == "takes_too") take(memory[i]);
    compute<<<count / 256, 256, 0, s[i % 2]>>>(memory[i]);
    if (how != "applied") cudaFree(memory[i]);
  }
  cudaDeviceSynchronize();
  if (how == "applied")
    for (float* one : memory) cudaFree(one);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
