// Uses of locks as programs have them: buckets of a table, rows of a matrix, the best result so
// far, a list that grows, a queue with two ends, work between turns, and two locks at a time.
#include "measure.h"

namespace {

constexpr int places = 1024, row = 64, elements = 1 << 16;

struct memory {
  int lock[places];
  int count[places];
  unsigned keys[places * row];
  float matrix[places * row];
  float best, best_at;
  int best_lock, list_lock, length;
  int list[elements];
  int head_lock, tail_lock, head, tail;
  int tickets, served;
  unsigned follow[4096];
};

__device__ void take(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
}
__device__ void give(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

__device__ unsigned mixed(unsigned x) { return (x ^ x >> 13) * 2654435761u; }

// Every thread puts its key into one of some buckets.
__global__ void into_buckets(memory* m, int buckets) {
  const unsigned key = mixed(blockIdx.x * blockDim.x + threadIdx.x + 1);
  const int at = static_cast<int>(key >> 8) % buckets;
  for (bool done = false; !done;) {
    if (atomicCAS(&m->lock[at], 0, 1) == 0) {
      __threadfence();
      volatile int* const count = &m->count[at];
      const int n = *count;
      m->keys[at * row + n % row] = key;
      *count = n + 1;
      give(&m->lock[at]);
      done = true;
    }
  }
}

// A warp's first lane has the lock of a row, the warp adds to the row.
__global__ void into_rows(memory* m, int rows, int times) {
  const int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int i = 0; i < times; ++i) {
    const int at = static_cast<int>(mixed(warp * 31 + i) >> 8) % rows;
    if (lane == 0) take(&m->lock[at]);
    __syncwarp();
    for (int k = lane; k < row; k += 32) {
      volatile float* const one = &m->matrix[at * row + k];
      *one = *one + 1;
    }
    __syncwarp();
    if (lane == 0) give(&m->lock[at]);
    __syncwarp();
  }
}

// Blocks that have found something better than they know of say so.
__global__ void best_of_all(memory* m, int loops) {
  __shared__ float all[128];
  float x = static_cast<float>(mixed(blockIdx.x * 128 + threadIdx.x) >> 8);
  for (int i = 0; i < loops; ++i) x = x * 0.9999f + 1;
  all[threadIdx.x] = x;
  __syncthreads();
  for (int w = 64; w > 0; w /= 2) {
    if (threadIdx.x < w) all[threadIdx.x] = fmaxf(all[threadIdx.x], all[threadIdx.x + w]);
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  take(&m->best_lock);
  volatile float* const best = &m->best;
  if (all[0] > *best) {
    *best = all[0];
    *static_cast<volatile float*>(&m->best_at) = static_cast<float>(blockIdx.x);
  }
  give(&m->best_lock);
}

// The first of each block appends `each` elements.
__global__ void into_list(memory* m, int each) {
  if (threadIdx.x != 0) return;
  take(&m->list_lock);
  volatile int* const length = &m->length;
  const int n = *length;
  for (int i = 0; i < each; ++i) m->list[(n + i) % elements] = static_cast<int>(blockIdx.x) + i;
  *length = n + each;
  give(&m->list_lock);
}

// Even blocks put in at the one end, odd ones take out at the other.
__global__ void two_ends(memory* m, int times) {
  if (threadIdx.x != 0) return;
  const bool puts = blockIdx.x % 2 == 0;
  int* const lock = puts ? &m->tail_lock : &m->head_lock;
  volatile int* const end = puts ? &m->tail : &m->head;
  for (int i = 0; i < times; ++i) {
    take(lock);
    *end = *end + 1;
    give(lock);
  }
}

// Between two turns each block has something to do.
__global__ void works_between(memory* m, int times, int loads) {
  if (threadIdx.x != 0) return;
  unsigned at = blockIdx.x;
  for (int i = 0; i < times; ++i) {
    for (int k = 0; k < loads; ++k) at = *static_cast<volatile unsigned*>(&m->follow[at % 4096]);
    take(&m->best_lock);
    volatile int* const count = &m->count[0];
    *count = *count + 1;
    give(&m->best_lock);
  }
  if (at == 4096) m->count[1] = 0;
}

// From one place to another, the lower first.
__global__ void moves(memory* m, int all, int times) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < times; ++i) {
    const unsigned r = mixed(blockIdx.x * 77 + i);
    const int a = static_cast<int>(r >> 8) % all, b = static_cast<int>(r >> 20) % all;
    if (a == b) continue;
    take(&m->lock[a < b ? a : b]);
    take(&m->lock[a < b ? b : a]);
    volatile int *const from = &m->count[a], *const to = &m->count[b];
    *from = *from - 1;
    *to = *to + 1;
    give(&m->lock[a < b ? b : a]);
    give(&m->lock[a < b ? a : b]);
  }
}

// Blocks in the order in which they came.
__global__ void in_order(memory* m) {
  __shared__ int mine;
  if (threadIdx.x == 0) {
    mine = atomicAdd(&m->tickets, 1);
    while (*static_cast<volatile int*>(&m->served) != mine) {
    }
    __threadfence();
  }
  __syncthreads();
  m->list[(mine * 256 + threadIdx.x) % elements] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    *static_cast<volatile int*>(&m->served) = mine + 1;
  }
}

void run() {
  memory* m;
  MUST(cudaMalloc(&m, sizeof(memory)));
  MUST(cudaMemset(m, 0, sizeof(memory)));
  std::vector<unsigned> follow(4096);
  for (unsigned i = 0; i < 4096; ++i) follow[i] = (i + 33) % 4096;
  MUST(cudaMemcpy(m->follow, follow.data(), sizeof m->follow, cudaMemcpyHostToDevice));
  const auto name = [](const char* what, int a, int b, int c) {
    return std::string(what) + "." + std::to_string(a) + "." + std::to_string(b) + "." +
           std::to_string(c);
  };
  for (const int buckets : {16, 128, 1024})
    for (const int blocks : {8, 132})
      wall(name("buckets", buckets, blocks, 64), [&] { into_buckets<<<blocks, 64>>>(m, buckets); });
  for (const int rows : {1, 32, 512})
    for (const int blocks : {4, 66})
      wall(name("rows", rows, blocks, 128), [&] { into_rows<<<blocks, 128>>>(m, rows, 6); });
  for (const int blocks : {66, 400})
    for (const int loops : {500, 10000})
      wall(name("best", blocks, loops, 0), [&] { best_of_all<<<blocks, 128>>>(m, loops); });
  for (const int blocks : {20, 264})
    for (const int each : {1, 16})
      wall(name("list", blocks, each, 0), [&] { into_list<<<blocks, 32>>>(m, each); });
  for (const int blocks : {2, 40, 264})
    wall(name("ends", blocks, 10, 0), [&] { two_ends<<<blocks, 32>>>(m, 10); });
  for (const int blocks : {1, 12, 132})
    for (const int loads : {10, 100})
      wall(name("between", blocks, 8, loads), [&] { works_between<<<blocks, 32>>>(m, 8, loads); });
  for (const int all : {4, 100})
    for (const int blocks : {16, 200})
      wall(name("moves", all, blocks, 5), [&] { moves<<<blocks, 32>>>(m, all, 5); });
  for (const int blocks : {16, 132, 1000})
    wall(name("order", blocks, 256, 0), [&] {
      MUST(cudaMemsetAsync(&m->tickets, 0, 2 * sizeof(int)));
      in_order<<<blocks, 256>>>(m);
    });
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  run();
  return end();
}
