// A batch of images over several streams.
//
// Each image is copied in, turned to grey, blurred with a 3 x 3 box and copied out, in the stream
// whose turn it is. Images that share a stream also share its device buffers: the stream keeps
// their order, so nothing else has to. The number of streams, not of images, decides how much
// device memory is needed.
#include <algorithm>
#include <vector>

#include "common.h"

const int width = 320, height = 200, pixels = width * height;

__global__ void to_grey(const uchar4* rgba, unsigned char* grey) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  uchar4 p = rgba[y * width + x];
  grey[y * width + x] = static_cast<unsigned char>((p.x * 77 + p.y * 150 + p.z * 29) >> 8);
}

__host__ __device__ inline int blurred(const unsigned char* grey, int x, int y) {
  int sum = 0, count = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      int u = x + dx, v = y + dy;
      if (u < 0 || v < 0 || u >= width || v >= height) continue;
      sum += grey[v * width + u];
      ++count;
    }
  }
  return sum / count;
}

__global__ void blur(const unsigned char* grey, unsigned char* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    out[y * width + x] = static_cast<unsigned char>(blurred(grey, x, y));
  }
}

int main() {
  const int images = 12, streams = 3;
  uchar4* in;
  unsigned char* out;
  CHECK(cudaMallocHost(&in, images * pixels * sizeof(uchar4)));
  CHECK(cudaMallocHost(&out, images * pixels));
  for (int i = 0; i < images * pixels; ++i) {
    in[i] = make_uchar4(i * 7 % 256, i / width * 3 % 256, (i / pixels) * 20, 255);
  }

  cudaStream_t stream[streams];
  uchar4* rgba[streams];
  unsigned char *grey[streams], *smooth[streams];
  for (int s = 0; s < streams; ++s) {
    CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
    CHECK(cudaMalloc(&rgba[s], pixels * sizeof(uchar4)));
    CHECK(cudaMalloc(&grey[s], pixels));
    CHECK(cudaMalloc(&smooth[s], pixels));
  }

  const dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
  double ms = milliseconds([&] {
    for (int k = 0; k < images; ++k) {
      int s = k % streams;
      CHECK(cudaMemcpyAsync(rgba[s], in + k * pixels, pixels * sizeof(uchar4),
                            cudaMemcpyHostToDevice, stream[s]));
      to_grey<<<grid, block, 0, stream[s]>>>(rgba[s], grey[s]);
      blur<<<grid, block, 0, stream[s]>>>(grey[s], smooth[s]);
      CHECK(
          cudaMemcpyAsync(out + k * pixels, smooth[s], pixels, cudaMemcpyDeviceToHost, stream[s]));
    }
  });
  std::printf("%d images over %d streams in %.2f ms\n", images, streams, ms);

  std::vector<unsigned char> expected(pixels);
  for (int k = 0; k < images; ++k) {
    std::transform(in + k * pixels, in + (k + 1) * pixels, expected.begin(), [](uchar4 p) {
      return static_cast<unsigned char>((p.x * 77 + p.y * 150 + p.z * 29) >> 8);
    });
    for (int i = 0; i < pixels; ++i) {
      EXPECT(out[k * pixels + i] == blurred(expected.data(), i % width, i / width));
    }
  }
  std::printf("ok\n");
  return 0;
}
