// Loops that a finding is about, or that are healthy.
//   turns small STREAMS as_is|applied    short work in many streams, and a wait for each of them
//   turns need as_is|applied             two streams that need each other's results
//   turns timed by_clock|by_nothing      each turn is timed by the host's clock
//   turns nothing                        what has nothing to give back, in front of work
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

constexpr int turns = 20;

__global__ void step(float* data, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = data[i];
  for (int k = 0; k < steps; ++k) x = x * 0.5f + 1;
  data[i] = x;
}

__global__ void other(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 0.5f + 1;
}

struct lane {
  cudaStream_t stream;
  cudaEvent_t event;
  float *device, *in, *out;
};

lane make_lane(int floats) {
  lane l;
  cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&l.event, cudaEventDisableTiming);
  cudaMalloc(&l.device, floats * sizeof(float));
  cudaMallocHost(&l.in, floats * sizeof(float));
  cudaMallocHost(&l.out, floats * sizeof(float));
  return l;
}

void small(int streams, bool applied) {
  constexpr int floats = 1024, bytes = floats * sizeof(float);
  std::vector<lane> lanes;
  while (lanes.size() < static_cast<std::size_t>(streams)) lanes.push_back(make_lane(floats));
  const auto work = [](const lane& l) {
    cudaMemcpyAsync(l.device, l.in, bytes, cudaMemcpyHostToDevice, l.stream);
    step<<<floats / 256, 256, 0, l.stream>>>(l.device, 1);
    cudaMemcpyAsync(l.out, l.device, bytes, cudaMemcpyDeviceToHost, l.stream);
  };
  step<<<1, 256>>>(lanes[0].device, 0);
  cudaDeviceSynchronize();
  if (!applied) {
    for (int i = 0; i < turns; ++i) {
      for (const lane& l : lanes) work(l);
      for (const lane& l : lanes) cudaStreamSynchronize(l.stream);
    }
    return;
  }
  const lane& first = lanes[0];
  cudaStreamBeginCapture(first.stream, cudaStreamCaptureModeGlobal);
  cudaEventRecord(first.event, first.stream);
  for (int i = 1; i < streams; ++i) cudaStreamWaitEvent(lanes[i].stream, first.event);
  for (const lane& l : lanes) work(l);
  for (int i = 1; i < streams; ++i) {
    cudaEventRecord(lanes[i].event, lanes[i].stream);
    cudaStreamWaitEvent(first.stream, lanes[i].event);
  }
  cudaGraph_t graph;
  cudaGraphExec_t launched;
  cudaStreamEndCapture(first.stream, &graph);
  cudaGraphInstantiate(&launched, graph, 0);
  for (int i = 0; i < turns; ++i) {
    cudaGraphLaunch(launched, first.stream);
    cudaStreamSynchronize(first.stream);
  }
}

void need(bool applied) {
  constexpr int floats = 1 << 16;
  const lane lanes[2] = {make_lane(floats), make_lane(floats)};
  other<<<1, 256>>>(lanes[0].device, lanes[1].device);
  cudaDeviceSynchronize();
  for (int i = 0; i < 2 * turns; ++i) {
    const lane &from = lanes[i % 2], &to = lanes[1 - i % 2];
    other<<<floats / 256, 256, 0, to.stream>>>(from.device, to.device);
    if (!applied) {
      cudaStreamSynchronize(to.stream);
    } else {
      cudaEventRecord(to.event, to.stream);
      cudaStreamWaitEvent(from.stream, to.event);
    }
  }
  cudaDeviceSynchronize();
}

volatile double seen;

void timed(bool by_clock) {
  constexpr int floats = 1 << 16;
  const lane l = make_lane(floats);
  for (int i = 0; i < turns; ++i) {
    const auto begin =
        by_clock ? std::chrono::steady_clock::now() : decltype(std::chrono::steady_clock::now()){};
    step<<<floats / 256, 256, 0, l.stream>>>(l.device, 100);
    cudaStreamSynchronize(l.stream);
    if (by_clock)
      seen = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
}

void nothing() {
  const lane l = make_lane(256);
  step<<<1, 256, 0, l.stream>>>(l.device, 1'000'000);
  for (int i = 0; i < 1000; ++i) {
    cudaFree(nullptr);
    cudaFreeHost(nullptr);
  }
  cudaDeviceSynchronize();
}

}  // namespace

int main(int count, char** words) {
  const std::string_view what = words[1], how = words[count - 1];
  if (what == "small") small(std::atoi(words[2]), how == "applied");
  if (what == "need") need(how == "applied");
  if (what == "timed") timed(how == "by_clock");
  if (what == "nothing") nothing();
  return cudaDeviceSynchronize();
}
