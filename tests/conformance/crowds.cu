// Which streams with nothing to wait for are held while others wait. crowds N: that many streams
// wait for an event of a stream whose kernel runs; twelve others were made before them, twelve
// after.
#include "probe.h"

static cudaStream_t stream() {
  cudaStream_t made;
  MUST(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
  return made;
}

static std::string held_of(const char* name, const std::vector<cudaStream_t>& streams) {
  std::string held;
  for (size_t i = 0; i < streams.size(); ++i) {
    nop_kernel<<<1, 1, 0, streams[i]>>>();
    const auto idle = [&] { return cudaStreamQuery(streams[i]) == cudaSuccess; };
    if (!wait_until(idle, 60)) held += std::string(" ") + name + std::to_string(i);
  }
  return held;
}

int main(int, char** argv) {
  const int count = atoi(argv[1]);
  const char* connections = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  cudaStream_t root = stream();
  std::vector<cudaStream_t> before(12), after(12);
  for (cudaStream_t& one : before) {
    one = stream();
    nop_kernel<<<1, 1, 0, one>>>();
  }
  nop_kernel<<<1, 1, 0, root>>>();
  MUST(cudaDeviceSynchronize());
  cudaEvent_t event;
  MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  Gate gate;
  gate.close(root);
  MUST(cudaEventRecord(event, root));
  for (int i = 0; i < count; ++i) {
    cudaStream_t waiting = stream();
    MUST(cudaStreamWaitEvent(waiting, event, 0));
    nop_kernel<<<1, 1, 0, waiting>>>();
  }
  for (cudaStream_t& one : after) one = stream();
  const std::string held = held_of("b", before) + held_of("a", after);
  say("crowd." + std::string(connections ? connections : "unset") + "." + std::to_string(count),
      held.empty() ? std::string("none") : held);
  gate.open();
  MUST(cudaDeviceSynchronize());
}
