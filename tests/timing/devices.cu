// What a program sees of its device, and what overlaps there. Prints `key<TAB>value`, times in
// microseconds.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using clk = std::chrono::steady_clock;

void must(cudaError_t e) {
  if (e == cudaSuccess) return;
  std::printf("FATAL\t%s\n", cudaGetErrorName(e));
  std::exit(3);
}

__global__ void sleep_kernel(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

template <class F>
void time(const char* key, F f) {
  must(cudaDeviceSynchronize());
  const auto begin = clk::now();
  f();
  must(cudaDeviceSynchronize());
  std::printf("%s\t%.1f\n", key,
              std::chrono::duration<double, std::micro>(clk::now() - begin).count());
}

}  // namespace

int main() {
  std::printf("main\tbegins\n");
  std::fflush(stdout);
  cudaDeviceProp p;
  must(cudaGetDeviceProperties(&p, 0));
  int overlap = 0, khz = 0, least = 0, greatest = 0;
  must(cudaDeviceGetAttribute(&overlap, cudaDevAttrGpuOverlap, 0));
  must(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  must(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  std::printf("name\t%s\nmultiprocessors\t%d\nasync_engines\t%d\noverlap\t%d\ngreatest\t%d\n",
              p.name, p.multiProcessorCount, p.asyncEngineCount, overlap, greatest);

  const std::size_t bytes = std::size_t{32} << 20;
  char *device, *host;
  must(cudaMalloc(reinterpret_cast<void**>(&device), 2 * bytes));
  must(cudaMallocHost(reinterpret_cast<void**>(&host), 2 * bytes));
  cudaStream_t s[4];
  for (cudaStream_t& x : s) must(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
  const auto in = [&] { cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, s[0]); };
  const auto out = [&] {
    cudaMemcpyAsync(host + bytes, device + bytes, bytes, cudaMemcpyDeviceToHost, s[1]);
  };
  const auto hold = [&](int us, cudaStream_t q) {
    sleep_kernel<<<1, 32, 0, q>>>(static_cast<long long>(us) * khz / 1000);
  };
  time("in", in);
  time("out", out);
  time("kernel", [&] { hold(1000, s[2]); });
  time("in_and_out", [&] {
    in();
    out();
  });
  time("in_and_kernel", [&] {
    in();
    hold(1000, s[2]);
  });
  time("two_kernels", [&] {
    hold(1000, s[2]);
    hold(1000, s[3]);
  });
  // Two kernels in each of four streams, stream after stream: with one queue the second of a stream
  // holds the first of the next.
  time("depth_first", [&] {
    for (cudaStream_t x : s) {
      hold(1000, x);
      hold(1000, x);
    }
  });
  std::printf("end\tok\n");
}
