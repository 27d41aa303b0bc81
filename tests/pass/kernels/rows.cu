// Kernels for rows_test.cpp: how neighbouring blocks run in one call.
#include "device.h"

// Joined: the place in the grid is all that a thread knows.
extern "C" __global__ void plain(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += i;
}

extern "C" __global__ void wide(int* data, long n) {
  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}

extern "C" __global__ void with_offset(int* data, int offset, int n) {
  int i = offset + threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= 0 && i < n) data[i] = 2 * i;
}

extern "C" __global__ void of_width_32(int* data) {
  int i = blockIdx.x * 32 + threadIdx.x;
  data[i] = i + 1;
}

extern "C" __global__ void four_each(int* data) {
  unsigned i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < 4; ++k) data[i + k] = i + 10 * k;
}

extern "C" __global__ void plane(const int* in, int* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
    int i = y * width + x;
    out[i] = in[i - 1] + in[i + 1] + in[i - width] + in[i + width];
  }
}

extern "C" __global__ void strided_sums(const int* in, int* out, int n) {
  int first = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (int i = first; i < n; i += blockDim.x * gridDim.x) sum += in[i];
  out[first] = sum;
}

// Near the end of the numbers the index wraps: between two threads of a row, or from one round to
// the next.
extern "C" __global__ void counted_rounds(unsigned* counts, unsigned start, unsigned n,
                                          unsigned step) {
  unsigned place = blockIdx.x * blockDim.x + threadIdx.x, found = 0, last = 7;
  for (unsigned i = start + place; i < n; i += step) {
    found += 1 + (i & 1);
    last = i;
  }
  counts[2 * place] = found;
  counts[2 * place + 1] = last;
}

// The same with something to read, of which several rounds may go together.
extern "C" __global__ void read_rounds(const unsigned* odd, unsigned* counts, unsigned start,
                                       unsigned n, unsigned step) {
  unsigned place = blockIdx.x * blockDim.x + threadIdx.x, found = 0, last = 7;
  for (unsigned i = start + place; i < n; i += step) {
    found += 1 + odd[i & 3];
    last = i;
  }
  counts[2 * place] = found;
  counts[2 * place + 1] = last;
}

// The sums of the row first, as one block; then what each block makes of its own.
extern "C" __global__ void block_sums(const int* in, int* out, int n) {
  __shared__ int part[64];
  int sum = 0, odd = 1;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    sum += in[i];
    if (in[i] & 1) odd += 1;
  }
  int t = threadIdx.x + blockDim.x * threadIdx.y;
  part[t] = sum * odd;
  __sb_rt_barrier(0, 0);
  int threads = blockDim.x * blockDim.y;
  out[blockIdx.x * threads + t] = part[t] + 3 * part[threads - 1 - t] + blockIdx.x;
}

// In turn: a thread can tell its block from others.
extern "C" __global__ void knows_block(int* data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
}

extern "C" __global__ void knows_thread(int* data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}

extern "C" __global__ void knows_lane(int* data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = __sb_laneid();
}

// What is cut off before the thread is added is not what is cut off behind.
extern "C" __global__ void extends_early(int* data, unsigned far) {
  unsigned long start = (unsigned)(blockIdx.x * blockDim.x + far);
  data[(start + threadIdx.x) % 100] += 1;
}

extern "C" __global__ void other_stride(int* data) { data[blockIdx.x * 3 + threadIdx.x] += 1; }

extern "C" __global__ void turned_round(int* out) {
  __shared__ int part[64];
  part[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
  __sb_rt_barrier(0, 0);
  out[blockIdx.x * blockDim.x + threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void sums_of_rounds(const int* in, int* out, int n) {
  __shared__ int part[64];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += in[i];
  part[threadIdx.x] = sum;
  __sb_rt_barrier(0, 0);
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __sb_rt_barrier(0, 0);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// One at a time: the engine is asked.
extern "C" __global__ void prints() {
  if (threadIdx.x == 0) printf("%u ", blockIdx.x);
}

extern "C" __global__ void reads_clock(u64* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = __sb_rt_clock();
}

// Threads of a row go to lines that those of the next row use again.
extern "C" __global__ void turned(const int* in, int* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

extern "C" __global__ void kept_upright(const int* in, int* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = in[y * width + x];
}

// Each thread has a row, and some have a sign: all of them go round equally often.
extern "C" __global__ void sums_of_rows(const float* in, float* out, int width, int height) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= height) return;
  float sum = 0, last = 1;
  for (int x = 0; x < width; ++x) {
    float one = in[y * width + x];
    sum = 2 * sum + one * last;
    last = y % 3 == 0 ? -one : one;
  }
  out[y] = sum - last;
}
// What one thread stores and reads again is its own.
extern "C" __global__ void steps_of_rows(float* data, int width) {
  float* own = data + (blockIdx.x * blockDim.x + threadIdx.x) * width;
  float sum = 1;
  for (int x = 1; x < width; ++x) {
    own[x] = own[x - 1] + sum;
    sum = own[x] - own[0];
  }
}

// Threads of a column store side by side, behind guards of all kinds.
template <class T>
__device__ void turn(const T* in, T* out, int width, int height, bool inside) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (inside) out[x * height + y] = static_cast<T>(in[y * width + x] + 1);
}
extern "C" __global__ void turned_bytes(const unsigned char* in, unsigned char* out, int width,
                                        int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  turn(in, out, width, height, x < width && y < height);
}
extern "C" __global__ void turned_inside(const int* in, int* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width - 1 || y >= height - 1 || x < 1 || y < 2) return;
  turn(in, out, width, height, true);
}
extern "C" __global__ void turned_unsigned(const int* in, int* out, unsigned width,
                                           unsigned height) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < height && x < width) out[x * height + y] = in[y * width + x] + 1;
}
extern "C" __global__ void turned_doubles(const double* in, double* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y % 3 != 1 && x < width && y < height) {
    out[x * height + y] = 2 * in[y * width + x] - in[y * width];
  }
}
