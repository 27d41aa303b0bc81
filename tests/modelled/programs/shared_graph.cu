// A graph that is launched in two streams in turn, 12 times in all.
// shared_graph as_is|applied|writes|one_stream: one executable graph; one for each stream; one
// whose kernel writes the same memory each time; one, launched in one stream
#include <string_view>

namespace {

__global__ void take(long clocks, float* result) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
  if (result != nullptr) result[threadIdx.x] += 1;
}

__global__ void take_alone(long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const std::string_view how = words[1];
  cudaStream_t s[2];
  for (cudaStream_t& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  float* device;
  cudaMalloc(&device, 1024);
  cudaGraph_t graph;
  cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal);
  if (how == "writes")
    take<<<1, 32, 0, s[0]>>>(200000, device);
  else
    take_alone<<<1, 32, 0, s[0]>>>(200000);
  cudaStreamEndCapture(s[0], &graph);
  cudaGraphExec_t executable[2];
  for (int i = 0; i < (how == "applied" ? 2 : 1); ++i)
    cudaGraphInstantiate(&executable[i], graph, 0);
  for (int i = 0; i < 12; ++i)
    cudaGraphLaunch(executable[how == "applied" ? i % 2 : 0], s[how == "one_stream" ? 0 : i % 2]);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
