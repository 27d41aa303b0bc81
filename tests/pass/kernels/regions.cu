// Kernels for regions_test.cpp: where barriers divide a kernel, and where they cannot.
#include "device.h"

extern "C" __global__ void tiles(const float* a, const float* b, float* c, int n) {
  __shared__ float left[4][4], above[4][4];
  unsigned x = threadIdx.x, y = threadIdx.y;
  unsigned row = blockIdx.y * 4 + y, column = blockIdx.x * 4 + x;
  float sum = 0;
  for (int t = 0; t < n; t += 4) {
    left[y][x] = a[row * n + t + x];
    above[y][x] = b[(t + y) * n + column];
    __syncthreads();
    for (int k = 0; k < 4; ++k) sum += left[y][k] * above[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void same_branch(int* data, int mode) {
  __shared__ int tile[64];
  int value = data[threadIdx.x];
  if (mode > 0) {
    tile[threadIdx.x] = value;
    __syncthreads();
    value += tile[(threadIdx.x + 1) % blockDim.x];
  } else {
    value = -value;
  }
  data[threadIdx.x] = value;
}

extern "C" __global__ void same_return(int* data, int rounds) {
  __shared__ int tile[64];
  for (int i = 0; i < rounds; ++i) {
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    if (tile[0] > 100) return;
    data[threadIdx.x] = tile[(threadIdx.x + 1) % blockDim.x] + 10;
    __syncthreads();
  }
  data[threadIdx.x] += 1000;
}

// The flag is one address for all threads, and nobody writes it between the two barriers.
extern "C" __global__ void until_flag(int* data, int* rounds) {
  __shared__ int again;
  int n = 0;
  do {
    __syncthreads();
    if (threadIdx.x == 0) again = 0;
    __syncthreads();
    if (data[threadIdx.x] > 0) {
      data[threadIdx.x] -= 1;
      again = 1;
    }
    __syncthreads();
    ++n;
  } while (again);
  rounds[threadIdx.x] = n;
}

extern "C" __global__ void private_array(int* data) {
  __shared__ int tile[64];
  int own[4];
  for (int k = 0; k < 4; ++k) own[k] = data[threadIdx.x] + k;
  for (int r = 0; r < 3; ++r) {
    tile[threadIdx.x] = own[(threadIdx.x + r) % 4];
    __syncthreads();
    own[tile[(threadIdx.x + 1) % blockDim.x] % 4] += r;
    __syncthreads();
  }
  data[threadIdx.x] = own[0] + 10 * own[1] + 100 * own[2] + 1000 * own[3];
}

extern "C" __global__ void counted(const int* data, int* out) {
  int odd = __sb_rt_barrier(1, data[threadIdx.x] & 1);
  int all = __sb_rt_barrier(2, data[threadIdx.x] > 0);
  int any = __sb_rt_barrier(3, data[threadIdx.x] > 63);
  out[threadIdx.x] = odd * 100 + all * 10 + any;
}

extern "C" __global__ void fails_in_a_region(int* data, int limit) {
  data[threadIdx.x] += 1;
  __syncthreads();
  assert(data[(threadIdx.x + 1) % blockDim.x] < limit);
  __syncthreads();
  assert(limit > 1);
  data[threadIdx.x] += 1;
}

extern "C" __global__ void rounds_differ(int* data) {
  for (unsigned i = 0; i <= threadIdx.x; ++i) {
    data[threadIdx.x] += 1;
    __syncthreads();
  }
}

extern "C" __global__ void guarded_twice(int* data, int n) {
  __shared__ int tile[4];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int others =
      n - blockIdx.x * blockDim.x < blockDim.x ? n - blockIdx.x * blockDim.x : blockDim.x;
  if (i < n) tile[threadIdx.x] = data[i];
  __syncthreads();
  if (i < n) data[i] = tile[(threadIdx.x + 1) % others];
}

extern "C" __global__ void some_leave(int* data, int n) {
  __shared__ int tile[8];
  const int t = threadIdx.x;
  if (t >= n) {
    data[t] = -data[t];
    return;
  }
  tile[t] = data[t] + 1;
  __syncthreads();
  for (int r = 0; r < n - 4; ++r) {
    const int other = tile[(t + 1) % n];
    __syncthreads();
    tile[t] = other;
    __syncthreads();
  }
  data[t] = n == 4 ? tile[t] + tile[n - 1 - t] : t < 4 ? t + 1 : 8 - t;
}

extern "C" __global__ void counted_after_leaving(const int* data, int* out, int n) {
  if ((int)threadIdx.x >= n) return;
  int odd = __sb_rt_barrier(1, data[threadIdx.x] & 1);
  int all = __sb_rt_barrier(2, data[threadIdx.x] > 0);
  int any = __sb_rt_barrier(3, data[threadIdx.x] > 63);
  out[threadIdx.x] = odd * 100 + all * 10 + any;
}

// The last of them wait at the second barrier while the first are at the first.

// The threads at the edges of a tile bring what lies beside it, and the last of a row overwrites
// what it has just written.
extern "C" __global__ void with_borders(const int* in, int* out, int width, int height) {
  __shared__ int tile[6][10];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) tile[ty][tx] = in[y * width + x];
  if (tx == 1) tile[ty][0] = x > 0 && y < height ? in[y * width + x - 1] : -1;
  if (tx == blockDim.x && x < width) tile[ty][tx] += 1000;
  if (threadIdx.y == 0 && x < width) tile[0][tx] = y > 0 ? in[(y - 1) * width + x] : -2;
  __syncthreads();
  if (x < width && y < height)
    out[y * width + x] = tile[ty][tx] + 3 * tile[ty][tx - 1] + 7 * tile[ty - 1][tx];
}

// More for each thread than there is on a stack for 1024 of them.
extern "C" __global__ void keeps_much(int* data, int n) {
  __shared__ int tile[1024];
  int own[2048];
  short more[3000];
  int t = (int)threadIdx.x;
  for (int i = 0; i < 2048; ++i) own[(i * 5 + t) % 2048] = i + data[t];
  for (int i = 0; i < 3000; ++i) more[i] = (short)(i ^ t);
  tile[t] = own[t];
  __syncthreads();
  int at = tile[(t + 1) % (int)blockDim.x] & 2047;
  own[at] += more[at];
  __syncthreads();
  data[t] = own[n & 2047] + own[at] + more[(n + t) % 3000];
}

// The same from one warp operation to the next, without a barrier.
extern "C" __global__ void keeps_much_in_warps(int* data) {
  int own[2048];
  int t = (int)threadIdx.x;
  for (int i = 0; i < 2048; ++i) own[(i * 5 + t) % 2048] = i + data[t];
  int next = shuffle_down(own[t], 1);
  own[next & 2047] += t;
  data[t] = own[shuffle_down(next, 2) & 2047] + own[next & 2047];
}
