// Warps in blocks of several rows: lanes go on from the end of a row to the next, and from layer to
// layer; the last warp may not be full. Each kernel with blocks of several shapes.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <vector>

#include "probe.h"

namespace cg = cooperative_groups;

constexpr int values = 1 << 12;

__device__ int threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }
__device__ int rank() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
// The lanes that the warp of the thread has.
__device__ unsigned lanes_of(int t) {
  const int there = threads_of_block() - (t & ~31);
  return there >= 32 ? ~0u : (1u << there) - 1;
}
// The sum of the lanes from this one on.
__device__ int sum_from(int v, int lane, unsigned lanes) {
  for (int d = 16; d > 0; d /= 2) {
    const int other = __shfl_down_sync(lanes, v, d);
    if (lane + d < 32 && (lanes >> (lane + d) & 1)) v += other;
  }
  return v;
}

__global__ void block_sum(const int* x, int* y, int) {
  __shared__ int sums[32];
  const int t = rank(), lane = t % 32, i = blockIdx.x * threads_of_block() + t;
  int v = sum_from(x[i], lane, lanes_of(t));
  if (t < 32) sums[t] = 0;
  __syncthreads();
  if (lane == 0) sums[t / 32] = v;
  __syncthreads();
  if (t < 32) v = sum_from(sums[t], lane, lanes_of(t));
  y[i] = v;
}

// A kernel that does not know the layers.
__global__ void rows_only(const int* x, int* y, int) {
  const int at = threadIdx.y * blockDim.x + threadIdx.x;
  const int t = cg::this_thread_block().thread_rank();
  const int v = __shfl_xor_sync(lanes_of(t), x[at], 1);
  const bool there = lanes_of(t) >> (t % 32 ^ 1) & 1;
  y[blockIdx.x * threads_of_block() + t] = at * 1000 + (there ? v : 0) + at / 32;
}

__global__ void by_row(const int* x, int* y, int n) {
  const int t = rank(), i = blockIdx.x * threads_of_block() + t;
  const unsigned lanes = lanes_of(t);
  const bool takes_part = threadIdx.y % 2 == 0 && x[i] % 5 != n % 5;
  const unsigned some = __ballot_sync(lanes, takes_part);
  int v = __popc(some);
  if (takes_part) {
    v += __shfl_sync(some, x[i], __ffs(some) - 1) + __popc(__activemask());
    v += __reduce_add_sync(some, threadIdx.x) * 10000;
  } else {
    v -= __popc(__ballot_sync(lanes & ~some, x[i] & 1));
  }
  y[i] = v;
}

__global__ void leaving(const int* x, int* y, int n) {
  __shared__ int tile[1024];
  const int t = rank(), i = blockIdx.x * threads_of_block() + t;
  const unsigned lanes = lanes_of(t);
  const bool leaves = static_cast<int>(threadIdx.x) >= n % 17 || threadIdx.y == 3;
  const unsigned stay = __ballot_sync(lanes, !leaves);
  tile[t] = -1;
  if (leaves) {
    y[i] = -5;
    return;
  }
  tile[t] = x[i] + __shfl_sync(stay, t, __ffs(stay) - 1);
  __syncthreads();
  y[i] = tile[t] + (__any_sync(stay, tile[t] % 7 == 0) ? 100000 : 0);
}

template <int Size>
__global__ void tiles(const int* x, int* y, int) {
  const int t = rank(), i = blockIdx.x * threads_of_block() + t;
  const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  if (t / Size * Size + Size > threads_of_block()) return;  // a tile that is not full
  int v = cg::reduce(tile, x[i], cg::plus<int>()) + tile.shfl_down(x[i], 1) % 3;
  v += tile.any(threadIdx.y == 1) * 7 + tile.meta_group_rank() * 100 + tile.thread_rank();
  y[i] = v;
}

__global__ void in_turn(const int* x, int* y, int) {
  const int t = rank(), i = blockIdx.x * threads_of_block() + t;
  unsigned lanes = lanes_of(t);
  int sum = 0;
  for (int left = x[i] % 9;; --left) {
    lanes = __ballot_sync(lanes, left > 0);
    if (left <= 0) break;
    sum += __reduce_max_sync(lanes, static_cast<unsigned>(x[i])) + __popc(lanes);
  }
  y[i] = sum;
}

__global__ void together(const int* x, int* y, int n) {
  const int t = rank(), i = blockIdx.x * threads_of_block() + t;
  if ((x[i] + n) % 3 == 0) {
    const cg::coalesced_group group = cg::coalesced_threads();
    y[i] = group.size() * 1000 + group.thread_rank();
  } else {
    y[i] = __match_any_sync(__activemask(), x[i] % 4);
  }
}

int main() {
  std::vector<int> in(values), out(values);
  for (int i = 0; i < values; ++i) in[i] = i * 7919 % 1013;
  int *x, *y;
  MUST(cudaMalloc(&x, values * sizeof(int)));
  MUST(cudaMalloc(&y, values * sizeof(int)));
  MUST(cudaMemcpy(x, in.data(), values * sizeof(int), cudaMemcpyHostToDevice));
  const dim3 shapes[] = {{16, 16}, {8, 8},  {24, 4},   {5, 7, 3}, {33, 2}, {1, 64},
                         {31, 3},  {32, 8}, {8, 8, 4}, {20, 3},   {70},    {2, 3, 50}};
  const auto show = [&](const char* name, auto kernel) {
    for (const dim3& shape : shapes) {
      for (const int n : {3, 11}) {
        MUST(cudaMemset(y, 0, values * sizeof(int)));
        kernel<<<4, shape>>>(x, y, n);
        MUST(cudaMemcpy(out.data(), y, values * sizeof(int), cudaMemcpyDeviceToHost));
        unsigned sum = 0;
        for (const int one : out) sum = sum * 1000003u + one;
        say(std::string("rows.") + name + "." + std::to_string(shape.x) + "x" +
                std::to_string(shape.y) + "x" + std::to_string(shape.z) + "." + std::to_string(n),
            static_cast<long long>(sum));
      }
    }
  };
  show("block_sum", block_sum);
  show("rows_only", rows_only);
  show("by_row", by_row);
  show("leaving", leaving);
  show("tiles4", tiles<4>);
  show("tiles8", tiles<8>);
  show("tiles16", tiles<16>);
  show("tiles32", tiles<32>);
  show("in_turn", in_turn);
  show("together", together);
}
