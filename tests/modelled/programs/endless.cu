// A kernel that never ends and does nothing else: to a compiler for hosts a place that nobody comes
// to.
#include <cstdio>

__global__ void turns(unsigned* out) {
  unsigned x = 1;
  while (x != 0) x = (x * 3 + (x >> 7)) | 1;
  *out = x;
}

int main() {
  unsigned* out;
  cudaStream_t stream;
  cudaMalloc(&out, sizeof *out);
  cudaStreamCreate(&stream);
  std::puts("all is pending");
  std::fflush(stdout);
  turns<<<1, 32, 0, stream>>>(out);
  cudaStreamSynchronize(stream);
  std::puts("wrong: it came to an end");
}
