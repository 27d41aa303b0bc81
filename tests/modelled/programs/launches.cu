// Kernels of two streams, or graphs of them, which overlap if launches do not wait.
#include <cuda_runtime.h>

#include <string>

__global__ void wait_for(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

int main(int, char** words) {
  cudaStream_t s[2];
  for (cudaStream_t& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaGraphExec_t made[2] = {};
  for (int i = 0; i < 2 && words[1] == std::string("graph"); ++i) {
    cudaGraph_t graph;
    cudaStreamBeginCapture(s[i], cudaStreamCaptureModeGlobal);
    for (int k = 0; k < 4; ++k) wait_for<<<1, 32, 0, s[i]>>>(60000);
    cudaStreamEndCapture(s[i], &graph);
    cudaGraphInstantiate(&made[i], graph, 0);
  }
  for (int turn = 0; turn < 6; ++turn)
    for (int i = 0; i < 2; ++i) {
      if (made[i] != nullptr)
        cudaGraphLaunch(made[i], s[i]);
      else
        wait_for<<<1, 32, 0, s[i]>>>(150000);
    }
  for (cudaStream_t one : s) cudaStreamSynchronize(one);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
