// Copy in, kernel, copy out, over four streams, issued in two orders.
//
// Depth first: all three operations of a chunk, then the next chunk. Breadth first: all copies in,
// then all kernels, then all copies out. With a hardware queue for each stream both overlap. With
// one queue (CUDA_DEVICE_MAX_CONNECTIONS=1) an operation that is not ready holds everything issued
// after it.
#include <cmath>

#include "common.h"

__global__ void kernel(float* a, int offset) {
  int i = offset + blockIdx.x * blockDim.x + threadIdx.x;
  float x = static_cast<float>(i);
  float s = sinf(x), c = cosf(x);
  a[i] = a[i] + sqrtf(s * s + c * c);  // adds 1, up to rounding
}

int main() {
  const int block = 256, streams = 4;
  const int n = 1024 * block * streams;
  const int chunk = n / streams;
  const size_t bytes = n * sizeof(float), chunk_bytes = chunk * sizeof(float);

  float *host, *device;
  CHECK(cudaMallocHost(&host, bytes));
  CHECK(cudaMalloc(&device, bytes));
  cudaStream_t stream[streams];
  for (auto& s : stream) CHECK(cudaStreamCreate(&s));

  auto copy_in = [&](int i) {
    CHECK(cudaMemcpyAsync(device + i * chunk, host + i * chunk, chunk_bytes, cudaMemcpyHostToDevice,
                          stream[i]));
  };
  auto compute = [&](int i) { kernel<<<chunk / block, block, 0, stream[i]>>>(device, i * chunk); };
  auto copy_out = [&](int i) {
    CHECK(cudaMemcpyAsync(host + i * chunk, device + i * chunk, chunk_bytes, cudaMemcpyDeviceToHost,
                          stream[i]));
  };

  auto run = [&](const char* name, auto issue) {
    for (int i = 0; i < n; ++i) host[i] = 0;
    double ms = milliseconds(issue);
    float worst = 0;
    for (int i = 0; i < n; ++i) worst = std::fmax(worst, std::fabs(host[i] - 1.0f));
    std::printf("%-40s %7.2f ms, largest error %g\n", name, ms, worst);
    EXPECT(worst < 1e-5f);
  };

  run("one after another, no streams", [&] {
    CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    kernel<<<n / block, block>>>(device, 0);
    CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
  });
  run("depth first: copy, kernel, copy", [&] {
    for (int i = 0; i < streams; ++i) {
      copy_in(i);
      compute(i);
      copy_out(i);
    }
  });
  run("breadth first: copies, kernels, copies", [&] {
    for (int i = 0; i < streams; ++i) copy_in(i);
    for (int i = 0; i < streams; ++i) compute(i);
    for (int i = 0; i < streams; ++i) copy_out(i);
  });

  for (auto& s : stream) CHECK(cudaStreamDestroy(s));
  CHECK(cudaFree(device));
  CHECK(cudaFreeHost(host));
  std::printf("ok\n");
  return 0;
}
