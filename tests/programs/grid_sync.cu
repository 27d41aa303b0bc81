// Kernels whose blocks meet: each block runs as a whole on a fiber of its own, and with fibers for
// its threads where that is not possible. Prints ok when every result is right. With `fault` or
// `assert` one of the blocks fails.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "checks.h"

namespace cg = cooperative_groups;

// Values of a thread, its private array and its block's shared memory outlive the meeting.
__global__ void pass_on(int* data, int n, int rounds) {
  __shared__ int kept[64];
  const cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  int own[3] = {i, 2 * i, 3 * i};
  kept[threadIdx.x % 64] = 1000 + blockIdx.x;
  for (int r = 0; r < rounds; ++r) {
    const int next = data[(i + 1) % n];
    grid.sync();
    data[i] = next + own[r % 3];
    own[(r + 1) % 3] += r;
    grid.sync();
  }
  if (kept[threadIdx.x % 64] != 1000 + static_cast<int>(blockIdx.x)) data[i] = -1;
}

static std::vector<int> passed_on(std::vector<int> data, int rounds) {
  const int n = static_cast<int>(data.size());
  std::vector<std::vector<int>> own(n);
  for (int i = 0; i < n; ++i) own[i] = {i, 2 * i, 3 * i};
  for (int r = 0; r < rounds; ++r) {
    std::vector<int> next(n);
    for (int i = 0; i < n; ++i) {
      next[i] = data[(i + 1) % n] + own[i][r % 3];
      own[i][(r + 1) % 3] += r;
    }
    data = next;
  }
  return data;
}

// A sum over the grid: shuffles, shared memory, a partial sum of each block, and the first block's
// sum of these.
__global__ void add_up(const int* data, int n, int* partial, int* total) {
  __shared__ int of_warps[32];
  const cg::grid_group grid = cg::this_grid();
  int sum = 0;
  for (auto i = static_cast<int>(grid.thread_rank()); i < n;
       i += static_cast<int>(grid.num_threads()))
    sum += data[i];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  for (int offset = 16; offset != 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (thread % 32 == 0) of_warps[thread / 32] = sum;
  __syncthreads();
  if (thread == 0) {
    int all = 0;
    for (int w = 0; w < threads / 32; ++w) all += of_warps[w];
    partial[blockIdx.x] = all;
  }
  grid.sync();
  if (blockIdx.x == 0 && thread == 0) {
    int all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += partial[b];
    *total = all;
  }
  cg::sync(grid);
  partial[blockIdx.x] = *total;
}

// Threads that have nothing to do, and blocks: all of them meet. A branch that all blocks take.
__global__ void guarded(int* data, int* seen, int n, int twice) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i;
  if (twice != 0) {
    cg::this_grid().sync();
    if (i < n) data[n - 1 - i] += 7;
  }
  cg::this_grid().sync();
  if (i < n) seen[i] = data[n - 1 - i];
}

// Until nobody has anything left: the number of rounds is known after each meeting only.
__global__ void until_done(int* left, int* any, int* rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0;; ++round) {
    if (left[i] > 0) {
      left[i] -= 1;
      any[round] = 1;
    }
    cg::this_grid().sync();
    if (any[round] == 0) {
      rounds[i] = round;
      return;
    }
  }
}

// Some threads of each block return before the others meet, and leave something behind; the first
// one stays, who stands for its block where the blocks meet.
__global__ void some_return(int* left, int* seen, int stay) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, last = gridDim.x * blockDim.x - 1;
  if (static_cast<int>(threadIdx.x) >= stay) {
    left[i] = -i;
    return;
  }
  left[i] = i + 1;
  cg::this_grid().sync();
  seen[i] = left[last - i];
}

// The block's threads wait for a time before they meet: fibers.
__global__ void late(long long ticks, int* data) {
  const long long begin = clock64();
  while (clock64() - begin < ticks) {
  }
  data[blockIdx.x] = 1;
  cg::this_grid().sync();
  if (threadIdx.x == 0 && data[(blockIdx.x + 1) % gridDim.x] != 1) data[blockIdx.x] = -1;
}

// One block fails, before a meeting and behind another.
__global__ void fails(int* data, bool by_assertion) {
  cg::this_grid().sync();
  if (blockIdx.x == 4 && threadIdx.x == 5) {
    assert(!by_assertion);
    reinterpret_cast<int*>(8)[data[0]] = 1;
  }
  cg::this_grid().sync();
}

template <class T>
struct same {
  using type = T;
};

template <class... A>
static void launch(void (*kernel)(A...), dim3 grid, dim3 block,
                   typename same<A>::type... arguments) {
  void* pointers[] = {&arguments...};
  OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), grid, block, pointers));
  OK(cudaDeviceSynchronize());
}

static int* managed(std::size_t n) {
  int* made = nullptr;
  OK(cudaMallocManaged(&made, n * sizeof(int)));
  std::fill(made, made + n, 0);
  return made;
}

static void expect_failure(bool by_assertion) {
  int* data = managed(1);
  void* arguments[] = {&data, &by_assertion};
  OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(fails), 6, 64, arguments));
  CHECK(cudaDeviceSynchronize() == (by_assertion ? cudaErrorAssert : cudaErrorIllegalAddress));
}

int main(int argc, char** argv) {
  if (argc > 1) {
    expect_failure(std::strcmp(argv[1], "assert") == 0);
    std::puts(wrong == 0 ? "ok" : "wrong");
    return 0;
  }
  for (const int threads : {1, 33, 64, 256}) {
    for (const int blocks : {1, 3, 17}) {
      const int n = threads * blocks;
      int* data = managed(n);
      std::iota(data, data + n, 5);
      const std::vector<int> before(data, data + n);
      launch(pass_on, dim3(blocks), dim3(threads), data, n, 5);
      CHECK(passed_on(before, 5) == std::vector<int>(data, data + n));
      OK(cudaFree(data));
    }
  }
  for (const dim3 block : {dim3(256), dim3(32, 8), dim3(16, 16), dim3(64, 2)}) {
    constexpr int n = 10000, blocks = 9;
    int *data = managed(n), *partial = managed(blocks), *total = managed(1);
    for (int i = 0; i < n; ++i) data[i] = i % 101 - 50;
    const int expected = std::accumulate(data, data + n, 0);
    launch(add_up, dim3(blocks), block, data, n, partial, total);
    CHECK(*total == expected);
    CHECK(std::all_of(partial, partial + blocks, [&](int one) { return one == expected; }));
    for (int* one : {data, partial, total}) OK(cudaFree(one));
  }
  for (const int n : {1, 100, 256, 300}) {
    int *data = managed(n), *seen = managed(n);
    for (const int twice : {0, 1}) {
      launch(guarded, dim3(4), dim3(128), data, seen, n, twice);
      for (int i = 0; i < n; ++i) CHECK(seen[i] == n - 1 - i + (twice != 0 ? 7 : 0));
    }
    for (int* one : {data, seen}) OK(cudaFree(one));
  }
  for (const int stay : {1, 32, 40, 127, 128}) {
    constexpr int n = 512;
    int *left = managed(n), *seen = managed(n);
    launch(some_return, dim3(4), dim3(128), left, seen, stay);
    for (int i = 0; i < n; ++i) {
      const int other = n - 1 - i;
      CHECK(seen[i] == (i % 128 >= stay ? 0 : other % 128 < stay ? other + 1 : -other));
    }
    for (int* one : {left, seen}) OK(cudaFree(one));
  }
  {
    constexpr int n = 5 * 96;
    int *left = managed(n), *any = managed(32), *rounds = managed(n);
    for (int i = 0; i < n; ++i) left[i] = i % 23;
    launch(until_done, dim3(5), dim3(96), left, any, rounds);
    CHECK(std::all_of(rounds, rounds + n, [](int one) { return one == 22; }));
    for (int* one : {left, any, rounds}) OK(cudaFree(one));
  }
  {
    int* data = managed(6);
    launch(late, dim3(6), dim3(64), 20000LL, data);
    CHECK(std::all_of(data, data + 6, [](int one) { return one == 1; }));
    OK(cudaFree(data));
  }
  // As many as can be there at once.
  {
    int resident = 0, device = 0, multiprocessors = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, pass_on, 64, 0));
    OK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const int blocks = resident * multiprocessors, n = blocks * 64;
    int* data = managed(n);
    launch(pass_on, dim3(blocks), dim3(64), data, n, 2);
    CHECK(passed_on(std::vector<int>(n), 2) == std::vector<int>(data, data + n));
    OK(cudaFree(data));
  }
  // A launch that is not cooperative has nowhere to meet.
  int* data = managed(64);
  pass_on<<<2, 32>>>(data, 64, 1);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  std::puts(wrong == 0 ? "ok" : "wrong");
}
