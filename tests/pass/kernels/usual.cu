// Kernels that are written for one width of blocks.
#include "device.h"

extern "C" __global__ void running_sums(const int* in, int* out) {
  __shared__ int part[2][64];
  int i = blockIdx.x * blockDim.x + threadIdx.x, from = 0;
  part[0][threadIdx.x] = in[i];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    int value = part[from][threadIdx.x];
    if (threadIdx.x >= distance) value += part[from][threadIdx.x - distance];
    part[1 - from][threadIdx.x] = value;
    from = 1 - from;
    __syncthreads();
  }
  out[i] = part[from][threadIdx.x];
}

// In place, with a value of each thread that outlives a barrier.
extern "C" __global__ void running_sums_in_place(const double* in, double* out) {
  __shared__ double part[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = in[i];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    double before = threadIdx.x >= distance ? part[threadIdx.x - distance] : 0;
    __syncthreads();
    part[threadIdx.x] += before;
    __syncthreads();
  }
  out[i] = part[threadIdx.x];
}

// Of tiles: blocks may be smaller than those.
template <class T>
__device__ void multiply(const T* a, const T* b, T* c, int n, int rounds) {
  __shared__ T left[16][16], right[16][17];
  const int x = threadIdx.x, y = threadIdx.y, width = blockDim.x, height = blockDim.y;
  const int row = blockIdx.y * height + y, column = blockIdx.x * width + x;
  T sum = 0;
  for (int r = 0; r < rounds; ++r) {
    left[y][x] = a[row * n + r * width + x];
    right[y][x] = b[(r * width + y) * n + column];
    __syncthreads();
    if (width == 16 && height == 16) {
      for (int k = 0; k < 16; ++k) sum += left[y][k] * right[k][x];
    } else {
      for (int k = 0; k < (width < height ? width : height); ++k) sum += left[y][k] * right[k][x];
    }
    __syncthreads();
  }
  c[row * n + column] = sum;
}
extern "C" __global__ void product(const float* a, const float* b, float* c, int n, int rounds) {
  multiply(a, b, c, n, rounds);
}
extern "C" __global__ void product_of_bytes(const unsigned char* a, const unsigned char* b,
                                            unsigned char* c, int n, int rounds) {
  multiply(a, b, c, n, rounds);
}
extern "C" __global__ void product_of_doubles(const double* a, const double* b, double* c, int n,
                                              int rounds) {
  multiply(a, b, c, n, rounds);
}

// What a row of threads adds to another is seen by nobody before the barrier.
extern "C" __global__ void rows_and_columns(int* data) {
  __shared__ int tile[8][8];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = data[y * blockDim.x + x];
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 8; ++k) {
    if (k < blockDim.y) sum += tile[k][x];
    if (y % 2 && k < blockDim.x) sum -= 3 * tile[y][k];
  }
  data[y * blockDim.x + x] = sum;
}

// Each thread needs the same of the tile as the others of its column.
__device__ int sum_of_column() {
  __shared__ int tile[8][8];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = x + y;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += k < blockDim.y ? tile[k][x] : 0;
  return sum;
}

// What the rows add up, and what one of them says for all.
extern "C" __global__ void votes_of_rows(int* out, int limit) {
  const int x = threadIdx.x, y = threadIdx.y, sum = sum_of_column();
  const int count = __sb_rt_barrier(1, sum + y > limit), all = __sb_rt_barrier(2, sum + y > limit),
            any = __sb_rt_barrier(3, sum + y > limit);
  out[y * blockDim.x + x] = count * 100 + all * 10 + any;
}

extern "C" __global__ void rows_leave(int* out, int gone) {
  const int x = threadIdx.x, y = threadIdx.y, sum = sum_of_column();
  if (y == gone) {
    out[y * blockDim.x + x] = -1;
    return;
  }
  __syncthreads();
  out[y * blockDim.x + x] = sum;
}

extern "C" __global__ void largest(const unsigned char* in, unsigned char* out) {
  __shared__ unsigned char part[128];
  part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half && threadIdx.x + half < blockDim.x) {
      unsigned char other = part[threadIdx.x + half];
      part[threadIdx.x] = other < part[threadIdx.x] ? part[threadIdx.x] : other;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// What one round leaves in shared memory the next one finds.
extern "C" __global__ void turns(const int* in, int* out, int rounds) {
  __shared__ int ring[64];
  ring[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    int next = ring[threadIdx.x + 1 < blockDim.x ? threadIdx.x + 1 : 0];
    __syncthreads();
    ring[threadIdx.x] = next + r;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = ring[threadIdx.x];
}

// As much as the launch bounds say; two kinds of elements in one memory.
extern "C" __global__ void __launch_bounds__(64) mixed(const int* in, float* out) {
  __shared__ int whole[200];
  __shared__ float halves[200];
  unsigned t = threadIdx.x;
  whole[t] = in[t];
  halves[blockDim.x - 1 - t] = 0.5f * t;
  __syncthreads();
  float sum = whole[blockDim.x - 1 - t] + halves[t];
  __syncthreads();
  if (t >= 3) whole[t] = whole[t] - 7;
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = sum + whole[0] + whole[t];
}

// All places are read before any is written, whatever the pointers are.
extern "C" __global__ void shifted(const int* in, int* out) {
  __shared__ int part[64];
  part[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x] + 1;
}

// Each thread has two rows of the tile: blocks of 16 x 8, or with twice that, one row.
extern "C" __global__ void turned(const int* in, int* out, int width, int height) {
  __shared__ int tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int j = 0; j < 16; j += 8)
    if (threadIdx.y < 8 && x < width && y + j < height)
      tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  for (int j = 0; j < 16; j += 8)
    if (threadIdx.y < 8 && x < height && y + j < width)
      out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// A tree in which every second, fourth ... thread has something to do, up to n elements.
extern "C" __global__ void spread_sums(const float* in, float* out, int n) {
  __shared__ float part[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int k = 1; k < blockDim.x; k *= 2) {
    if (t % (2 * k) == 0 && t + k < blockDim.x) part[t] += part[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
// The same with threads side by side whose places lie apart; of blocks of 64 only.
extern "C" __global__ void spread_places(const int* in, int* out, unsigned n) {
  __shared__ int part[64];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? in[i] : 1000;
  __syncthreads();
  for (unsigned k = 1; k < blockDim.x; k *= 2) {
    unsigned j = 2 * k * t;
    if (j < blockDim.x) part[j] += part[j + k];
    __syncthreads();
  }
  if (i < n) out[i] = part[t];
}
// Every thread has two guards, of which one may let all pass and the other some.
extern "C" __global__ void two_guards(const int* in, int* out, int n) {
  __shared__ int part[64];
  int t = threadIdx.x, i = blockIdx.x * 2 * blockDim.x + t, sum = 0;
  if (i < n) sum = in[i];
  if (i + static_cast<int>(blockDim.x) < n) sum += in[i + blockDim.x];
  part[t] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

// Places that go round within a vector.
extern "C" __global__ void __launch_bounds__(64) places_go_round(const int* in, int* out) {
  __shared__ long long part[128];
  unsigned t = threadIdx.x;
  part[t] = in[t];
  part[t + 64] = in[t] + 7;
  __syncthreads();
  out[t] = static_cast<int>(part[t * 3 % 64]) + 3 * static_cast<int>(part[t * 5 % 32 + 64]);
}

// Where the launch says how much shared memory there is: halves, threads that lie apart, two places
// for each thread.
extern "C" __global__ void dynamic_halves(const float* in, float* out, int n) {
  extern __shared__ float dynamic_floats[];
  float* part = dynamic_floats;
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
extern "C" __global__ void dynamic_spread(const int* in, int* out, int n) {
  extern __shared__ int dynamic_ints[];
  __shared__ int more;
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  dynamic_ints[t] = i < n ? in[i] : 0;
  if (t == 1) more = 5;
  __syncthreads();
  for (int k = 1; k < blockDim.x; k *= 2) {
    if (t % (2 * k) == 0) dynamic_ints[t] += dynamic_ints[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = dynamic_ints[0] + more;
}
extern "C" __global__ void dynamic_rounds(const int* in, int* out) {
  extern __shared__ int dynamic_ints[];
  int *from = dynamic_ints, *to = dynamic_ints + blockDim.x;
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  from[t] = in[i];
  __syncthreads();
  for (int distance = 1; distance < blockDim.x; distance *= 2) {
    to[t] = from[t] + (t >= distance ? from[t - distance] : 0);
    int* other = from;
    from = to;
    to = other;
    __syncthreads();
  }
  out[i] = from[t];
}

__device__ int padded(int i) { return i + (i >> 5); }
// A tree over two elements of each thread, up and down again, of blocks of 64.
extern "C" __global__ void padded_tree(const int* in, int* out) {
  __shared__ int part[128 + 4];
  int t = threadIdx.x, first = blockIdx.x * 128, apart = 1;
  part[padded(t)] = in[first + t];
  part[padded(t + 64)] = in[first + t + 64];
  for (int k = 64; k > 0; k /= 2) {
    __syncthreads();
    if (t < k) part[padded(apart * (2 * t + 2) - 1)] += part[padded(apart * (2 * t + 1) - 1)];
    apart *= 2;
  }
  if (t == 0) part[padded(127)] = 0;
  for (int k = 1; k < 128; k *= 2) {
    apart /= 2;
    __syncthreads();
    if (t < k) {
      int from = padded(apart * (2 * t + 1) - 1), to = padded(apart * (2 * t + 2) - 1);
      int before = part[from];
      part[from] = part[to];
      part[to] += before;
    }
  }
  __syncthreads();
  out[first + 2 * t] = part[padded(2 * t)];
  out[first + 2 * t + 1] = part[padded(2 * t + 1)];
}
// Places with padding and places without it are not to be confused.
extern "C" __global__ void padded_in_part(const int* in, int* out) {
  __shared__ int part[64 + 2], ends[64 + 2];
  int t = threadIdx.x;
  part[t] = ends[padded(t)] = in[t];
  if (t == 0) part[64] = part[65] = ends[32] = 7;
  __syncthreads();
  out[t] = part[padded(t)] + 3 * ends[padded(63 - t)] + (t == 5 ? ends[32] : 0);
}

// Warps add up, then the first of them adds up what they have.
template <int kind>
__device__ int sum_of_warp(int value) {
  for (int d = 16; d > 0; d /= 2)
    value +=
        static_cast<int>(__sb_rt_shuffle(~0u, kind, static_cast<unsigned>(value), d, 32, nullptr));
  return value;
}
template <int kind>
__device__ void add_up_by_warps(const int* in, int* out, int n) {
  __shared__ int of_warps[32];
  int t = threadIdx.x, lane = t % 32, i = blockIdx.x * blockDim.x + t;
  int sum = sum_of_warp<kind>(i < n ? in[i] : 0);
  if (lane == 0) of_warps[t / 32] = sum;
  __syncthreads();
  if (t / 32 == 0) {
    sum = sum_of_warp<kind>(lane < (blockDim.x + 31) / 32 ? of_warps[lane] : 0);
    if (lane == 0) out[blockIdx.x] = sum;
  }
}
extern "C" __global__ void warps_add_downwards(const int* in, int* out, int n) {
  add_up_by_warps<2>(in, out, n);
}
extern "C" __global__ void warps_add_crosswise(const int* in, int* out, int n) {
  add_up_by_warps<3>(in, out, n);
}
