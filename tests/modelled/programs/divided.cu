// Kernels that share no data in one stream, and in several.
// divided between as_is|streams|applied|needed: with a fill in the default stream between them
// divided created as_is|applied TURNS: in four streams, which become sixteen
// divided recorded as_is|applied: with a record behind each
// divided ring as_is|applied: each behind a copy from one of three buffers of the host, which is
// used again when the event behind its copy is over
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

void recorded(bool applied) {
  cudaStream_t s[4];
  for (cudaStream_t& one : s) cudaStreamCreate(&one);
  cudaEvent_t done;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  float* device[4];
  for (float*& one : device) cudaMalloc(&one, part * sizeof(float));
  for (int i = 0; i < kernels; ++i) {
    const int which = i % 4;
    compute<<<part / 256, 256, 0, s[applied ? which : 0]>>>(device[which], 40000);
    cudaEventRecord(done, s[applied ? which : 0]);
  }
  cudaDeviceSynchronize();
}

void ring(bool applied) {
  constexpr int buffers = 3, size = 1 << 18;
  float *host[buffers], *device[buffers];
  cudaStream_t s[buffers];
  cudaEvent_t copied[buffers];
  for (int i = 0; i < buffers; ++i) {
    cudaMallocHost(&host[i], size * sizeof(float));
    cudaMalloc(&device[i], size * sizeof(float));
    cudaStreamCreate(&s[i]);
    cudaEventCreateWithFlags(&copied[i], cudaEventDisableTiming);
  }
  for (int i = 0; i < 20; ++i) {
    const int which = i % buffers;
    const cudaStream_t own = s[applied ? which : 0];
    if (i >= buffers) cudaEventSynchronize(copied[which]);
    host[which][0] = static_cast<float>(i);
    cudaMemcpyAsync(device[which], host[which], size * sizeof(float), cudaMemcpyHostToDevice, own);
    cudaEventRecord(copied[which], own);
    compute<<<part / 256, 256, 0, own>>>(device[which], 20000);
  }
  cudaDeviceSynchronize();
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const bool applied = words[2] == std::string_view("applied");
  if (words[1] == std::string_view("between")) between(words[2]);
  if (count > 3 && words[1] == std::string_view("created")) created(applied, std::atoi(words[3]));
  if (words[1] == std::string_view("recorded")) recorded(applied);
  if (words[1] == std::string_view("ring")) ring(applied);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
