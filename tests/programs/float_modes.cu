// Kernels compute as on the device whatever the host has set for itself, on whichever thread they
// run, and leave the host's floating-point state alone.
#include <cuda_runtime.h>

#include <cfenv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                            \
  do {                                                                                         \
    const cudaError_t e = (call);                                                              \
    if (e != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorString(e)), std::exit(1); \
  } while (0)

__global__ void straight(float* out, float a, float b) {
  out[0] = a * 0.5f;
  out[1] = b / 3.0f;
  out[2] = b / (a - a);
}
__global__ void looping(float* out, float a, float b, int n) {
  for (int i = 0; i < n; ++i) {
    out[0] = a * 0.5f;
    out[1] = b / 3.0f;
    out[2] = b / (a - a);
  }
}

// Flushes denormals to zero from now on.
static void flush_denormals() {
#if defined(__aarch64__)
  std::uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  asm volatile("msr fpcr, %0" : : "r"(mode | 1u << 24));
#else
  std::uint32_t mode;
  asm volatile("stmxcsr %0" : "=m"(mode));
  mode |= 0x8040;
  asm volatile("ldmxcsr %0" : : "m"(mode));
#endif
}

static void expect(const float* out, const char* what) {
  std::uint32_t bits[2];
  std::memcpy(bits, out, sizeof bits);
  if (bits[0] == 0x00008b61 && bits[1] == 0x3eaaaaab) return;
  std::printf("%s: %08x %08x\n", what, bits[0], bits[1]);
  std::exit(1);
}

int main() {
  // Before the runtime has any thread: they would inherit it.
  flush_denormals();
  std::fesetround(FE_UPWARD);
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  float* out;
  CHECK(cudaHostAlloc(&out, 3 * sizeof(float), cudaHostAllocMapped));
  for (int i = 0; i < 200; ++i) {  // the later ones run in the call
    std::memset(out, 0, 3 * sizeof(float));
    std::feclearexcept(FE_ALL_EXCEPT);
    straight<<<1, 1, 0, s>>>(out, 1e-40f, 1.0f);
    CHECK(cudaStreamSynchronize(s));
    if (std::fetestexcept(FE_DIVBYZERO)) return std::printf("the host has a flag\n"), 1;
    expect(out, "straight");
    std::memset(out, 0, 3 * sizeof(float));
    looping<<<1, 1, 0, s>>>(out, 1e-40f, 1.0f, 3);
    CHECK(cudaStreamSynchronize(s));
    expect(out, "looping");
  }
  if (std::fegetround() != FE_UPWARD) return std::printf("the host rounds otherwise\n"), 1;
  std::puts("ok");
}
