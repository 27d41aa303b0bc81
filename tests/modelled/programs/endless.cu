// Kernels that never end and do nothing else: to a compiler for hosts a place that nobody comes to.
// In the first nothing but arithmetic says so; of the next two some threads stay in a loop. The
// last one does something.
#include <cstdio>
#include <string>

__global__ void turns(unsigned* out) {
  unsigned x = 1;
  while (x != 0) x = (x * 3 + (x >> 7)) | 1;
  *out = x;
}

__global__ void stays(unsigned* out) {
  if (threadIdx.x == 0) {
    for (;;) {
    }
  }
  __syncthreads();
  out[threadIdx.x] = 1;
}

__global__ void hides(unsigned* out) {
  if (threadIdx.x > 16) {
    for (;;) asm volatile("");
  }
  __syncwarp();
  out[threadIdx.x] = 1;
}

__global__ void works(unsigned* out) {
  while (out[threadIdx.x] < 10) {
    atomicAdd(&out[32 + threadIdx.x], 1);
    out[threadIdx.x] ^= 1;
  }
}

int main(int, char** words) {
  const std::string which = words[1];
  unsigned* out;
  cudaStream_t stream;
  cudaMalloc(&out, 64 * sizeof *out);
  cudaMemset(out, 0, 64 * sizeof *out);
  cudaStreamCreate(&stream);
  std::puts("all is pending");
  std::fflush(stdout);
  const auto kernel = which == "turns"   ? turns
                      : which == "stays" ? stays
                      : which == "hides" ? hides
                                         : works;
  kernel<<<1, 32, 0, stream>>>(out);
  cudaStreamSynchronize(stream);
  std::puts("wrong: it came to an end");
}
