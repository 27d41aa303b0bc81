// Threads that do one guarded thing after the other.
#include "device.h"

// Several elements of each thread, a block's width apart.
extern "C" __global__ void in_a_loop(int a, const int* x, int* y, int n, int per) {
  int first = blockIdx.x * blockDim.x * per + threadIdx.x;
  for (int k = 0; k < per; ++k) {
    int i = first + k * blockDim.x;
    if (i < n) y[i] = a * x[i] + y[i];
  }
}

extern "C" __global__ void unrolled(int a, const int* x, int* y, int n) {
  int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    int i = first + k * blockDim.x;
    if (i < n) y[i] = a * x[i] + y[i];
  }
}

extern "C" __global__ void by_hand(int a, const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
  i += blockDim.x;
  if (i < n) y[i] = a * x[i] + y[i];
  i += blockDim.x;
  if (i < n) y[i] = a * x[i] + y[i];
  i += blockDim.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// One guard for all four.
extern "C" __global__ void all_or_none(int a, const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  unsigned w = blockDim.x;
  if (i + 3 * w < n) {
    y[i] = a * x[i] + y[i];
    y[i + w] = a * x[i + w] + y[i + w];
    y[i + 2 * w] = a * x[i + 2 * w] + y[i + 2 * w];
    y[i + 3 * w] = a * x[i + 3 * w] + y[i + 3 * w];
  }
}

// What the first piece loads the second needs, and what a thread stores first it overwrites.
extern "C" __global__ void kept(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
  int sum = 0;
  if (i < n) {
    int own = x[i];
    sum = own * 3;
    y[i] = own;
    if (threadIdx.x == 1) y[i] = own + 100;
    if (i + blockDim.x < n) y[i + blockDim.x] = own + x[i + blockDim.x];
  }
  if (sum > 20) y[i] += sum;
}

// Borders of a tile behind a guard: who has nothing in the middle brings nothing of the border.
extern "C" __global__ void borders_inside(const int* in, int* out, int width, int height) {
  __shared__ int tile[10][10];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  for (int r = threadIdx.y; r < 10; r += blockDim.y)
    for (int c = threadIdx.x; c < 10; c += blockDim.x) tile[r][c] = -7;
  __syncthreads();
  if (x < width && y < height) {
    tile[ty][tx] = in[y * width + x];
    if (threadIdx.x == 0) tile[ty][0] = x > 0 ? in[y * width + x - 1] : -1;
    if (threadIdx.x == 4 && x + 1 < width) tile[ty][tx + 1] = in[y * width + x + 1];
    if (threadIdx.y == 0)
      tile[0][tx] = y > 0 ? in[(y - 1) * width + x] : -2;
    else if (threadIdx.y == blockDim.y - 1)
      tile[ty + 1][tx] = y + 1 < height ? in[(y + 1) * width + x] : -3;
  }
  __syncthreads();
  if (x < width && y < height)
    out[y * width + x] = tile[ty][tx] + 3 * tile[ty][tx - 1] + 5 * tile[ty][tx + 1] +
                         7 * tile[ty - 1][tx] + 11 * tile[ty + 1][tx];
}

// Only some rows, layers or single threads have anything to do between two barriers.
extern "C" __global__ void few_threads(int* out, int row, int from, int layer) {
  int at = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[at] = 1;
  __syncthreads();
  if ((int)threadIdx.y < row) out[at] += 10;
  __syncthreads();
  if (threadIdx.y >= from) out[at] += 100;
  __syncthreads();
  if (threadIdx.z == layer && threadIdx.x + 2 == blockDim.x) out[at] += 1000;
  __syncthreads();
  if (threadIdx.x == from && (int)threadIdx.y >= row) out[at] += 10000;
}
