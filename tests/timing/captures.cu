// What calls cost inside of a capture and beside it: nanoseconds of each, by the host's clock.
#include <chrono>
#include <cstdio>

__global__ void nothing() {}

template <class F>
void say(const char* what, F call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
  std::printf("%s %lld\n", what, static_cast<long long>(took.count()));
}

int main() {
  cudaStream_t s, other;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  char *device, *pinned;
  cudaMalloc(&device, 4096);
  cudaMallocHost(&pinned, 4096);
  nothing<<<1, 1, 0, other>>>();
  cudaDeviceSynchronize();

  const auto copy = [&](cudaStream_t into) {
    cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice, into);
  };
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
  say("captured.kernel", [&] { nothing<<<1, 1, 0, s>>>(); });
  say("captured.copy", [&] { copy(s); });
  say("beside.kernel", [&] { nothing<<<1, 1, 0, other>>>(); });
  say("beside.copy", [&] { copy(other); });
  say("beside.malloc", [&] {
    void* p;
    cudaMalloc(&p, 4096);
  });
  cudaStreamEndCapture(s, &graph);
  cudaDeviceSynchronize();
  say("after.kernel", [&] { nothing<<<1, 1, 0, other>>>(); });
  say("after.copy", [&] { copy(other); });
  say("after.malloc", [&] {
    void* p;
    cudaMalloc(&p, 4096);
  });

  cudaGraphExec_t first, second, third;
  cudaGraphInstantiate(&first, graph, 0);
  say("instantiate", [&] { cudaGraphInstantiate(&second, graph, 0); });
  cudaGraphInstantiate(&third, graph, 0);
  say("launch.first", [&] { cudaGraphLaunch(second, s); });
  say("launch.again", [&] { cudaGraphLaunch(second, s); });
  say("upload", [&] { cudaGraphUpload(third, s); });
  say("upload.again", [&] { cudaGraphUpload(third, s); });
  say("launch.uploaded", [&] { cudaGraphLaunch(third, s); });
  cudaDeviceSynchronize();
}
