// Threads that leave a kernel, or a loop, before others come to a barrier: those that are gone do
// not count there. Each kernel with several sizes, so that blocks are full, in part, and empty.
#include <vector>

#include "probe.h"

constexpr int values = 1 << 12;

__device__ int own_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void plain(const int* x, int* y, int n) {
  __shared__ int tile[256];
  const int t = threadIdx.x, i = own_index();
  if (i >= n) return;
  tile[t] = x[i];
  __syncthreads();
  y[i] = tile[t / 2] * 3 + t;
}

// The same condition on both sides of the barrier.
__global__ void guarded(const int* x, int* y, int n) {
  __shared__ int tile[256];
  const int t = threadIdx.x, i = own_index();
  if (i < n) tile[t] = x[i];
  __syncthreads();
  if (i < n) y[i] = tile[t / 2] * 3 + t;
}

__global__ void last_words(const int* x, int* y, int n) {
  __shared__ int tile[256];
  const int t = threadIdx.x, i = own_index();
  if (i >= n) {
    y[i] = -i;
    return;
  }
  tile[t] = x[i];
  __syncthreads();
  y[i] = tile[t / 2];
}

__global__ void reduce(const int* x, int* y, int n) {
  __shared__ int sums[256];
  const int t = threadIdx.x, i = own_index();
  sums[t] = 0;
  if (i >= n) return;
  sums[t] = x[i];
  __syncthreads();
  for (int width = blockDim.x / 2; width > 0; width >>= 1) {
    if (t < width && i + width < n) sums[t] += sums[t + width];
    __syncthreads();
  }
  y[i] = sums[0] + sums[t];
}

__global__ void nested(const int* x, int* y, int n) {
  __shared__ int tile[256];
  const int t = threadIdx.x, i = own_index();
  if (i < n) {
    tile[t] = x[i];
    if (x[i] % 3) {
      __syncthreads();
      y[i] = tile[t / 3] + 1;
    } else {
      y[i] = 7;
    }
  }
}

__global__ void votes(const int* x, int* y, int n) {
  const int i = own_index();
  if (i >= n) return;
  const int all = __syncthreads_and(x[i] >= 0), any = __syncthreads_or(x[i] > 1000000);
  y[i] = all * 10000 + any * 1000 + __syncthreads_count(x[i] & 1);
}

__global__ void whole_warps(const int* x, int* y, int n) {
  __shared__ int sums[8];
  const int t = threadIdx.x, i = own_index(), warp = t / 32;
  if (i - t % 32 >= n) return;
  int v = i < n ? x[i] : 0;
  for (int lanes = 16; lanes; lanes /= 2) v += __shfl_down_sync(~0u, v, lanes);
  if (t % 32 == 0) sums[warp] = v;
  __syncthreads();
  y[i] = sums[0] + sums[warp] + v;
}

__global__ void strided(const int* x, int* y, int n) {
  __shared__ int tile[256];
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = t; i < n; i += blockDim.x) {
    tile[t] = x[i];
    __syncthreads();
    sum += tile[t / 2];
    __syncthreads();
  }
  y[own_index()] = sum;
}

__global__ void rounds_of_their_own(const int* x, int* y, int) {
  __shared__ int tile[256];
  const int t = threadIdx.x, i = own_index();
  int sum = 0;
  for (int k = 0; k <= t * 7 % 13; ++k) {
    tile[t] = x[i] + k;
    __syncthreads();
    sum += tile[t];
    __syncthreads();
  }
  y[i] = sum;
}

__global__ void out_of_a_loop(const int* x, int* y, int) {
  __shared__ int tile[256];
  const int t = threadIdx.x, i = own_index();
  for (int k = 0; k < 10; ++k) {
    if (k > t % 11) return;
    tile[t] = x[i] + k;
    __syncthreads();
    y[i] += tile[t] + k;
  }
  y[i] += 1000;
}

__global__ void private_arrays(const int* x, int* y, int) {
  __shared__ int tile[256];
  const int t = threadIdx.x, i = own_index();
  int own[5];
  for (int k = 0; k < 5; ++k) own[k] = x[i] * k;
  if (own[x[i] % 5] % 4 == 1) return;
  for (int k = 0; k < 4; ++k) {
    tile[t] = own[(t + k) % 5];
    __syncthreads();
    own[k] += tile[t] + k;
    __syncthreads();
  }
  y[i] = own[0] + own[1] * 3 + own[2] * 5 + own[3] * 7 + own[4];
}

__global__ void two_guards(const int* x, int* y, int n) {
  __shared__ int tile[16][17];
  const int width = blockDim.x * gridDim.x, column = own_index(), row = threadIdx.y;
  if (column >= n) return;
  if (row >= 13) return;
  tile[row][threadIdx.x] = x[(row * width + column) % 700];
  __syncthreads();
  y[row * width + column] = tile[row][threadIdx.x / 2] + row;
}

__global__ void tiles(const int* x, int* y, int n) {
  __shared__ int tile[16][16];
  const int column = own_index(), row = threadIdx.y;
  if (column >= n || row >= n) return;
  int sum = 0;
  for (int k = 0; k < 3; ++k) {
    tile[row][threadIdx.x] = x[column + k];
    __syncthreads();
    for (int j = 0; j < 16; ++j)
      if (blockIdx.x * 16 + j < n) sum += tile[row][j] * (k + j);
    __syncthreads();
  }
  y[row * 256 + column] = sum;
}

// Who does not come to the barrier goes on, and it opens when he has left: what he wrote is there.
__global__ void words_behind(const int* x, int* y, int) {
  __shared__ int tile[256];
  const int t = threadIdx.x, i = own_index();
  tile[t] = 0;
  __syncthreads();
  if (t >= 128) {
    __syncthreads();
    y[i] = tile[t - 128];
  }
  tile[t] = x[i] + 1;
}

__global__ void counted_behind(const int* x, int* y, int n) {
  __shared__ int gone;
  const int t = threadIdx.x, i = own_index(), rounds = t / 32 + n % 5;
  if (t == 0) gone = 0;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < rounds; ++k) {
    __syncthreads();
    sum += gone * (k + 1);
    __syncthreads();
  }
  atomicAdd(&gone, x[i] % 7);
  y[i] = sum;
}

// Warps that take different ways to barriers meet there: warps count, not places.
__global__ void both_ways(const int* x, int* y, int) {
  __shared__ int tile[256];
  const int t = threadIdx.x, i = own_index();
  tile[t] = x[i];
  if (t < 64) {
    __syncthreads();
    y[i] = tile[t / 2] + 1;
  } else {
    __syncthreads();
    y[i] = tile[(t + 1) % blockDim.x] + 2;
  }
}

int main() {
  std::vector<int> in(values), out(values);
  for (int i = 0; i < values; ++i) in[i] = i * 7919 % 1013;
  int *x, *y;
  cudaMalloc(&x, values * sizeof(int));
  cudaMalloc(&y, values * sizeof(int));
  cudaMemcpy(x, in.data(), values * sizeof(int), cudaMemcpyHostToDevice);
  const auto show = [&](const char* name, dim3 blocks, dim3 threads, auto kernel) {
    for (const int n : {0, 1, 33, 300, 512, 777}) {
      cudaMemset(y, 0, values * sizeof(int));
      kernel<<<blocks, threads>>>(x, y, n);
      cudaMemcpy(out.data(), y, values * sizeof(int), cudaMemcpyDeviceToHost);
      unsigned sum = 0;
      for (const int one : out) sum = sum * 1000003u + one;
      say(std::string("leaving.") + name + "." + std::to_string(n),
          std::to_string(sum) + " " + cudaGetErrorName(cudaGetLastError()));
    }
  };
  show("plain", 3, 256, plain);
  show("plain.100", 5, 100, plain);
  show("guarded", 3, 256, guarded);
  show("guarded.100", 5, 100, guarded);
  show("last_words", 3, 256, last_words);
  show("reduce", 3, 256, reduce);
  show("nested", 3, 256, nested);
  show("votes", 3, 256, votes);
  show("whole_warps", 3, 256, whole_warps);
  show("whole_warps.96", 5, 96, whole_warps);
  show("strided", 3, 256, strided);
  show("strided.100", 3, 100, strided);
  show("rounds_of_their_own", 3, 256, rounds_of_their_own);
  show("out_of_a_loop", 3, 256, out_of_a_loop);
  show("private_arrays", 3, 256, private_arrays);
  show("two_guards", 4, {16, 16}, two_guards);
  show("tiles", 4, {16, 16}, tiles);
  show("both_ways", 3, 128, both_ways);
  show("words_behind", 3, 256, words_behind);
  show("counted_behind", 3, 256, counted_behind);
}
