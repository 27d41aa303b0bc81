// Each turn takes memory of the default pool, gives it back and waits. applied: the pool keeps it.
// A third word: no turn has a result for the host. once: only the last turn waits; kept_once: and
// the pool keeps its memory.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

__global__ void add(float* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = static_cast<float>(i);
}

int main(int count, char** words) {
  constexpr int n = 1 << 20;
  const std::string how = words[1];
  const bool has_results = count < 4, once = how == "once" || how == "kept_once";
  if (how == "applied" || how == "kept_once") {
    cudaMemPool_t pool;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    std::uint64_t all = UINT64_MAX;
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
  }
  cudaStream_t s;
  cudaStreamCreate(&s);
  float* result;
  cudaMallocHost(&result, n * sizeof(float));
  std::vector<float*> pieces(std::atoi(words[2]));
  for (int turn = 0; turn < 12; ++turn) {
    for (float*& piece : pieces) cudaMallocAsync(&piece, n * sizeof(float), s);
    for (float* piece : pieces) add<<<n / 256, 256, 0, s>>>(piece, n);
    if (has_results)
      cudaMemcpyAsync(result, pieces[0], n * sizeof(float), cudaMemcpyDeviceToHost, s);
    for (float* piece : pieces) cudaFreeAsync(piece, s);
    if (!once || turn == 11) cudaStreamSynchronize(s);
  }
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
