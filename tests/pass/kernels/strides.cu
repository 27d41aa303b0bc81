// Kernels for strides_test.cpp: loops whose rounds a block goes together.
#include "device.h"

extern "C" __global__ void add_one(int* data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    data[i] += 1;
  }
}

extern "C" __global__ void thread_sums(const int* data, int* sums, unsigned n) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0, rounds = 100;
  for (unsigned i = t; i < n; i += blockDim.x * gridDim.x) {
    if (data[i] & 1) sum += data[i];
    rounds = sum ^ (int)i;
  }
  sums[2 * t] = sum;
  sums[2 * t + 1] = rounds;
}

extern "C" __global__ void wide_index(int* data, long n) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i <= n;
       i += (long)blockDim.x * gridDim.x) {
    data[i] += 2;
  }
}

// Near the end of the numbers the index wraps between two threads of a block.
extern "C" __global__ void wraps(unsigned* counts, unsigned start, unsigned n, unsigned step) {
  unsigned found = 0;
  for (unsigned i = start + threadIdx.x; i < n; i += step) {
    found += 1 + (i & 1);
    if (found > 1000) break;
  }
  counts[threadIdx.x] = found;
}

extern "C" __global__ void then_a_barrier(const int* data, int* out, int n) {
  __shared__ int sums[64];
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += data[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = sums[0] - data[i];
}

// What is computed from a sum behind the loop belongs to the ways out of it.
extern "C" __global__ void after_the_loop(const int* data, int* out, int n) {
  int sum = 3;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += data[i];
  __syncthreads();
  out[threadIdx.x] = 5 * sum;
}

// All threads go round equally often: a product of matrices without tiles.
extern "C" __global__ void product(const float* a, const float* b, float* c, int n, int width) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= width) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * width + column];
  c[row * width + column] = sum;
}

// Before and behind barriers, with sums and their order.
extern "C" __global__ void fold(const float* in, float* out, int n) {
  __shared__ float part[64];
  float sum = in[threadIdx.x], last = 0;
  for (int round = 0; round < 3; ++round) {
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int j = 0; j < n; ++j) {
      sum = sum * 0.5f + part[j];
      last = part[j] - sum;
    }
    __syncthreads();
  }
  out[threadIdx.x] = sum + last;
}

// Each round computes two values from the last one's, in several steps.
extern "C" __global__ void iterate(const float* in, float* out, int n) {
  float v = in[threadIdx.x], w = 1;
  for (int j = 0; j < n; ++j) {
    const float t = (v - 2.0f) * 0.5f + w;
    w = w * 0.25f + v;
    v = t;
  }
  out[threadIdx.x] = v - w;
}

// Behind guards: what threads compute there, what others do instead, and what comes after both.
extern "C" __global__ void guarded(const float* in, float* out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = -1;
  if (i < n) {
    v = in[i];
    for (int j = 0; j < rounds; ++j) v = v * 0.5f + 1.0f;
  }
  out[i] = v;
}
extern "C" __global__ void guarded_twice(const float* in, float* out, int width, int height,
                                         int rounds) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float v = in[y * width + x];
  if (v > 100) {
    out[y * width + x] = v;
    return;
  }
  for (int j = 0; j < rounds; ++j) v = v * 0.5f + 1.0f;
  out[y * width + x] = v;
}
extern "C" __global__ void guarded_else(const float* in, float* out, int n, int rounds) {
  int i = threadIdx.x;
  float v = 0;
  if (i >= n) {
    for (int j = 0; j < rounds; ++j) v = v * 0.25f + in[i];
  } else {
    for (int j = 0; j < rounds; ++j) v = v * 0.5f - in[i];
  }
  out[i] = v * 2.0f;
}

// The index takes two ways round.
extern "C" __global__ void two_ways(const float* a, float* out, int n, int step) {
  float sum = 0;
  unsigned i = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    sum += a[i & 63];
    i = (i + step) * 3 + 1;
  }
  out[threadIdx.x] = sum;
}

// Down a column each: what a row needs of the one before it is written by then.
extern "C" __global__ void down_columns(const int* in, int* out, int width, int rows) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  for (int y = 1; y < rows; ++y) {
    out[y * width + x] = in[y * width + x] + out[(y - 1) * width + x];
  }
}

// The same upwards, the next column of the last row too, which nobody has written yet.
extern "C" __global__ void up_columns(const int* in, int* out, int width, int rows) {
  int x = threadIdx.x + 1;
  for (int y = rows - 2; y >= 0; --y) {
    out[y * width + x] = in[y * width + x] + in[(y + 1) * width + x - 1] + in[y * width + x + 1];
  }
}
