// Kernels of image processing: what a file of them takes to compile (bench/compile_time.py).
#include <cmath>
#include <cstdio>

#include <cuda_runtime.h>

__global__ void brighten(unsigned char* p, int n, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int x = p[i] + v;
    p[i] = x > 255 ? 255 : x < 0 ? 0 : x;
  }
}
__global__ void gray(const unsigned char* rgb, unsigned char* g, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    g[i] = (unsigned char)(0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2]);
}
__constant__ float filter[25];
__global__ void conv5(const float* in, float* out, int w, int h) {
  __shared__ float tile[20][20];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int j = threadIdx.y; j < 20; j += 16)
    for (int i = threadIdx.x; i < 20; i += 16) {
      int xx = min(max((int)(blockIdx.x * 16) + i - 2, 0), w - 1);
      int yy = min(max((int)(blockIdx.y * 16) + j - 2, 0), h - 1);
      tile[j][i] = in[yy * w + xx];
    }
  __syncthreads();
  if (x < w && y < h) {
    float s = 0;
    for (int j = 0; j < 5; j++)
      for (int i = 0; i < 5; i++) s += filter[j * 5 + i] * tile[threadIdx.y + j][threadIdx.x + i];
    out[y * w + x] = s;
  }
}
__global__ void sobel(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  float gx = in[(y - 1) * w + x + 1] + 2 * in[y * w + x + 1] + in[(y + 1) * w + x + 1] -
             in[(y - 1) * w + x - 1] - 2 * in[y * w + x - 1] - in[(y + 1) * w + x - 1];
  float gy = in[(y + 1) * w + x - 1] + 2 * in[(y + 1) * w + x] + in[(y + 1) * w + x + 1] -
             in[(y - 1) * w + x - 1] - 2 * in[(y - 1) * w + x] - in[(y - 1) * w + x + 1];
  out[y * w + x] = sqrtf(gx * gx + gy * gy);
}
__global__ void median3(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  float v[9];
  int k = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++) v[k++] = in[(y + j) * w + x + i];
  for (int a = 0; a < 5; a++)
    for (int b = a + 1; b < 9; b++)
      if (v[b] < v[a]) {
        float t = v[a];
        v[a] = v[b];
        v[b] = t;
      }
  out[y * w + x] = v[4];
}
__global__ void histo(const unsigned char* in, unsigned* h, int n) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&s[in[i]], 1u);
  __syncthreads();
  atomicAdd(&h[threadIdx.x], s[threadIdx.x]);
}
__global__ void erode(const unsigned char* in, unsigned char* out, int w, int h, int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int m = 255;
  for (int j = -r; j <= r; j++)
    for (int i = -r; i <= r; i++) {
      int xx = x + i, yy = y + j;
      if (xx >= 0 && yy >= 0 && xx < w && yy < h) m = min(m, (int)in[yy * w + xx]);
    }
  out[y * w + x] = m;
}
__global__ void resize(const float* in, float* out, int w, int h, int W, int H) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= W || y >= H) return;
  float fx = (x + 0.5f) * w / W - 0.5f, fy = (y + 0.5f) * h / H - 0.5f;
  int ix = (int)floorf(fx), iy = (int)floorf(fy);
  fx -= ix;
  fy -= iy;
  int x0 = max(ix, 0), x1 = min(ix + 1, w - 1), y0 = max(iy, 0), y1 = min(iy + 1, h - 1);
  out[y * W + x] = (1 - fy) * ((1 - fx) * in[y0 * w + x0] + fx * in[y0 * w + x1]) +
                   fy * ((1 - fx) * in[y1 * w + x0] + fx * in[y1 * w + x1]);
}
int main() {
  const int w = 640, h = 480, n = w * h;
  float *in, *out;
  unsigned char *bytes, *other;
  unsigned* bins;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMalloc(&bytes, 3 * n);
  cudaMalloc(&other, n);
  cudaMalloc(&bins, 256 * sizeof(unsigned));
  const dim3 block(16, 16), grid(w / 16, h / 16);
  brighten<<<n / 256, 256>>>(bytes, n, 5);
  gray<<<n / 256, 256>>>(bytes, other, n);
  conv5<<<grid, block>>>(in, out, w, h);
  sobel<<<grid, block>>>(in, out, w, h);
  median3<<<grid, block>>>(in, out, w, h);
  histo<<<32, 256>>>(other, bins, n);
  erode<<<grid, block>>>(bytes, other, w, h, 2);
  resize<<<grid, block>>>(in, out, w, h, w, h);
  return cudaDeviceSynchronize();
}
