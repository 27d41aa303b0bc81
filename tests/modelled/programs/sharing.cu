// Kernels in one stream and side by side: those that compute share the multiprocessors' arithmetic,
// those that move data share the memory, those that wait share nothing.
#include <cstdio>

__global__ void compute(float* out, int turns) {
  float x = threadIdx.x, y = 1, z = 2, w = 3;
  for (int i = 0; i < turns; ++i) {
    x = x * 0.999f + 0.5f;
    y = y * 0.999f + 0.5f;
    z = z * 0.999f + 0.5f;
    w = w * 0.999f + 0.5f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x + y + z + w;
}
__global__ void move(const float4* in, float4* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = in[i];
}
__global__ void wait(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

constexpr int kernels = 4;
constexpr size_t part = size_t{32} << 20;

// What the work of all streams takes, with as many streams as that.
template <class F>
float took(int count, F launch) {
  cudaStream_t s[kernels];
  cudaEvent_t begin, end, done;
  for (auto& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  cudaStream_t gate;
  cudaStreamCreateWithFlags(&gate, cudaStreamNonBlocking);
  wait<<<1, 1, 0, gate>>>(500'000);
  cudaEventRecord(begin, gate);
  for (auto& one : s) cudaStreamWaitEvent(one, begin, 0);
  for (int i = 0; i < kernels; ++i) launch(i, s[i % count]);
  for (auto& one : s) {
    cudaEventRecord(done, one);
    cudaStreamWaitEvent(gate, done, 0);
  }
  cudaEventRecord(end, gate);
  cudaEventSynchronize(end);
  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);
  return ms * 1000;
}

int main() {
  char* memory;
  cudaMalloc(&memory, 2 * kernels * part);
  const auto computes = [&](int blocks) {
    return [=](int i, cudaStream_t s) {
      compute<<<blocks, 256, 0, s>>>(reinterpret_cast<float*>(memory + i * part), 2000);
    };
  };
  const auto moves = [&](int i, cudaStream_t s) {
    auto* from = reinterpret_cast<float4*>(memory + 2 * i * part);
    move<<<264, 256, 0, s>>>(from, from + part / sizeof(float4), part / sizeof(float4));
  };
  const auto waits = [](int, cudaStream_t s) { wait<<<264, 256, 0, s>>>(40'000); };
  for (int streams : {1, kernels}) {
    std::printf("compute %d %.1f\n", streams, took(streams, computes(264)));
    std::printf("few %d %.1f\n", streams, took(streams, computes(33)));
    std::printf("move %d %.1f\n", streams, took(streams, moves));
    std::printf("wait %d %.1f\n", streams, took(streams, waits));
  }
  return 0;
}
