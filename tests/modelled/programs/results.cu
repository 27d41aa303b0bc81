// A solver that brings a number to the host in every so many turns and looks at it there: by a
// synchronous copy (copied), or by one that it waits for, with its stream (waited) or an event
// (recorded). symbol, rows: it sends coefficients in each turn instead.
#include <string>

namespace {

constexpr int turns = 64, count = 1 << 14;

__constant__ float factors[16];
float sent[4 * 16];

__global__ void step(float* p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = p[i];
  for (int k = 0; k < 4000; ++k) v = v * factors[k % 16] + 0.5f;
  p[i] = v;
}

}  // namespace

int main(int words, char** word) {
  if (words != 3) return 2;
  const std::string how = word[1];
  const int looks = std::stoi(word[2]);
  float *p, *result;
  cudaEvent_t there;
  cudaMalloc(&p, count * sizeof(float));
  cudaMallocHost(&result, sizeof(float));
  cudaEventCreateWithFlags(&there, cudaEventDisableTiming);
  *result = 0;
  for (int i = 0; i < turns && *result >= 0; ++i) {
    if (how == "symbol") cudaMemcpyToSymbol(factors, sent, sizeof(factors));
    if (how == "rows") cudaMemcpy2D(p, 64, sent, 64, 32, 4, cudaMemcpyHostToDevice);
    step<<<count / 256, 256>>>(p);
    if (i % looks != looks - 1) continue;
    if (how == "copied") cudaMemcpy(result, p, sizeof(float), cudaMemcpyDeviceToHost);
    if (how != "waited" && how != "recorded") continue;
    cudaMemcpyAsync(result, p, sizeof(float), cudaMemcpyDeviceToHost);
    if (how == "recorded") {
      cudaEventRecord(there);
      cudaEventSynchronize(there);
    } else {
      cudaStreamSynchronize(0);
    }
  }
  cudaDeviceSynchronize();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
