// Kernels of different residency in several streams, chosen by a seed: they compute, move data or
// wait, fill the device or a few multiprocessors, and some streams wait for others.
#include <cstdio>
#include <cstdlib>

__global__ void compute(float* out, int turns) {
  float x = threadIdx.x, y = 1;
  for (int i = 0; i < turns; ++i) {
    x = x * 0.999f + 0.5f;
    y = y * 0.999f + 0.5f;
  }
  out[(blockIdx.x * blockDim.x + threadIdx.x) % 65536] = x + y;
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

unsigned state;
unsigned below(unsigned n) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % n;
}

int main(int argc, char** argv) {
  state = argc > 1 ? std::atoi(argv[1]) : 1;
  constexpr int streams = 4;
  constexpr size_t part = 16 << 20;
  char *memory, *pinned;
  cudaMalloc(&memory, 2 * streams * part);
  cudaMallocHost(&pinned, streams * part);
  cudaStream_t s[streams];
  cudaEvent_t e;
  for (auto& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  compute<<<1, 32>>>(reinterpret_cast<float*>(memory), 1);  // loaded before they are measured
  move<<<1, 32>>>(reinterpret_cast<float4*>(memory), reinterpret_cast<float4*>(memory), 1);
  wait<<<1, 32>>>(1);
  cudaDeviceSynchronize();
  for (int i = 0; i < 28; ++i) {
    const unsigned q = below(streams), threads = 64u << below(5);
    const unsigned blocks = below(2) ? 1 + below(100) : 100 + below(1200);
    char* mine = memory + 2 * q * part;
    switch (below(5)) {
      case 0:
      case 1:
        compute<<<blocks, threads, 0, s[q]>>>(reinterpret_cast<float*>(mine), 50 + below(300));
        break;
      case 2:
        move<<<blocks, threads, 0, s[q]>>>(reinterpret_cast<float4*>(mine),
                                           reinterpret_cast<float4*>(mine + part), 1 << below(20));
        break;
      case 3:
        wait<<<blocks, threads, 0, s[q]>>>(2000 + below(40'000));
        break;
      case 4:
        cudaMemcpyAsync(mine, pinned + q * part, 1 << (10 + below(14)), cudaMemcpyHostToDevice,
                        s[q]);
        break;
    }
    if (below(6) == 0) {
      cudaEventRecord(e, s[q]);
      cudaStreamWaitEvent(s[below(streams)], e, 0);
    }
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
