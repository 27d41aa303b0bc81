// Sizes that nobody means: textures without a width read 0, those without a height have one row,
// and boxes whose bytes no number holds are refused.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call) expect(#call, (call), cudaSuccess, __LINE__)
#define EXPECT(call, error) expect(#call, (call), error, __LINE__)

static void expect(const char* what, cudaError_t is, cudaError_t wanted, int line) {
  if (is == wanted) return;
  std::printf("%d: %s: %s, not %s\n", line, what, cudaGetErrorName(is), cudaGetErrorName(wanted));
  std::exit(1);
}

__global__ void look(cudaTextureObject_t t, float* to) {
  to[threadIdx.x] = tex2D<float>(t, 0.7f + threadIdx.x, 0.3f - threadIdx.x);
}

static void expect_everywhere(float wanted, std::size_t width, cudaTextureAddressMode mode,
                              cudaTextureFilterMode filter) {
  float *memory, *to;
  CHECK(cudaMalloc(&memory, 4096));
  CHECK(cudaMemset(memory, 0x3f, 4096));
  CHECK(cudaMallocHost(&to, 32 * sizeof(float)));
  for (int i = 0; i < 32; ++i) to[i] = 1;
  for (const std::size_t height : {0, 4}) {
    if (width != 0 && height != 0) continue;
    cudaResourceDesc r{};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D = {memory, cudaCreateChannelDesc<float>(), width, height, 512};
    cudaTextureDesc d{};
    d.normalizedCoords = 1;
    d.filterMode = filter;
    d.addressMode[0] = d.addressMode[1] = mode;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &r, &d, nullptr));
    look<<<1, 32>>>(texture, to);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; ++i) {
      if (to[i] == wanted) continue;
      std::printf("%zu x %zu: %g, not %g\n", width, height, to[i], wanted);
      std::exit(1);
    }
    CHECK(cudaDestroyTextureObject(texture));
  }
  CHECK(cudaFreeHost(to));
  CHECK(cudaFree(memory));
}

static void copy_a_box_that_wraps() {
  constexpr std::size_t wraps = (std::size_t{1} << 62) + 1;  // floats: 4 bytes
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, {16, 4, 2}));
  static float host[16 * 4 * 2];
  cudaMemcpy3DParms p{};
  p.srcPtr = {host, 64, 16, 4};
  p.dstArray = array;
  p.kind = cudaMemcpyHostToDevice;
  p.extent = {16, 4, 2};
  CHECK(cudaMemcpy3D(&p));
  p.srcPtr.pitch = wraps;
  p.extent.width = wraps;
  EXPECT(cudaMemcpy3D(&p), cudaErrorInvalidValue);
  CHECK(cudaFreeArray(array));
}

int main() {
  float filled;
  std::memset(&filled, 0x3f, sizeof filled);
  for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    for (const auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror}) {
      expect_everywhere(0, 0, mode, filter);
      expect_everywhere(filled, 4, mode, filter);
    }
    expect_everywhere(0, 0, cudaAddressModeBorder, filter);
  }
  copy_a_box_that_wraps();
  std::puts("ok");
}
