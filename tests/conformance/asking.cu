// Which lanes of a warp are together where some of them wait for others, or sleep: a loop that
// waits parts lanes for good, and so does a branch with sleep in it; lanes that sleep side by side
// stay together.
#include <vector>

#include "probe.h"

constexpr unsigned threads = 64;

// Block 1 writes what block 0 waits for.
__device__ bool writes(volatile int* flag) {
  if (blockIdx.x == 0) return false;
  const long long begin = clock64();
  while (clock64() - begin < 500000) {
  }
  if (threadIdx.x == 0) *flag = 1;
  return true;
}

__global__ void one_waits(volatile int* flag, unsigned* out) {
  if (writes(flag)) return;
  if (threadIdx.x % 32 == 3)
    while (*flag == 0) {
    }
  out[threadIdx.x] = __activemask();
}

__global__ void some_wait(volatile int* flag, unsigned* out) {
  if (writes(flag)) return;
  if (threadIdx.x % 3 == 1) {
    while (*flag == 0) {
    }
    out[threads + threadIdx.x] = __activemask();
  } else {
    out[threads + threadIdx.x] = __activemask();
  }
  out[threadIdx.x] = __activemask();
}

__global__ void all_sleep(volatile int*, unsigned* out) {
  __nanosleep(threadIdx.x * 1000);
  out[threadIdx.x] = __activemask();
}

__global__ void some_sleep(volatile int*, unsigned* out) {
  if (threadIdx.x & 1) __nanosleep(100000);
  out[threadIdx.x] = __activemask();
}

__global__ void one_way_sleeps(volatile int*, unsigned* out) {
  if (threadIdx.x & 1) {
    __nanosleep(100000);
    out[threadIdx.x] = __activemask();
  } else {
    out[threadIdx.x] = __activemask();
  }
  out[threads + threadIdx.x] = __activemask();
}

// The last lane writes it, behind what the first waits for.
__global__ void waits_for_its_warp(volatile int* flag, unsigned* out) {
  int left = 1 << 22;
  if (threadIdx.x % 32 == 0)
    while (*flag == 0 && --left) {
    }
  const unsigned mask = __activemask();
  if (threadIdx.x % 32 == 31) *flag = 1;
  out[threadIdx.x] = mask;
  out[threads + threadIdx.x] = left > 0;
}

__global__ void in_a_lock(int* lock, unsigned* out) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      out[threads + threadIdx.x] = __activemask();
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
  out[threadIdx.x] = __activemask();
}

// Those that look for the lock ask, too, as does who has it.
__global__ void behind_a_lock(int* lock, unsigned* out) {
  while (atomicCAS(lock, 0, 1) != 0) {
    if (__activemask() == 0) out[threads] = 1;
  }
  out[threadIdx.x] = __popc(__activemask()) != 0;
  __threadfence();
  atomicExch(lock, 0);
}

// One lane counts for all that are there, while they wait for their turn.
__global__ void counts_together(int* counter, unsigned* out) {
  volatile int* turn = counter + 1;
  unsigned asked = 0;
  for (bool mine = false; !mine;) {
    const unsigned here = __activemask();
    ++asked;
    if (static_cast<int>(threadIdx.x % 32) == __ffs(here) - 1) atomicAdd(counter, __popc(here));
    if (*turn == static_cast<int>(threadIdx.x)) {
      mine = true;
      __threadfence();
      *turn = threadIdx.x + 1;
    }
  }
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, asked);
  __syncthreads();
  out[threadIdx.x] = sum == static_cast<unsigned>(*static_cast<volatile int*>(counter));
}

template <class Kernel>
void ask(const char* name, Kernel kernel, int blocks = 1) {
  int* cells;
  unsigned* out;
  MUST(cudaMalloc(&cells, 2 * sizeof *cells));
  MUST(cudaMalloc(&out, 2 * threads * sizeof *out));
  MUST(cudaMemset(cells, 0, 2 * sizeof *cells));
  MUST(cudaMemset(out, 0, 2 * threads * sizeof *out));
  kernel<<<blocks, threads>>>(cells, out);
  std::vector<unsigned> saw(2 * threads);
  MUST(cudaMemcpy(saw.data(), out, saw.size() * sizeof *out, cudaMemcpyDeviceToHost));
  for (const unsigned first : {0u, threads})
    for (const unsigned t : {0u, 1u, 3u, 4u, 31u, 36u, 63u}) {
      char text[16];
      std::snprintf(text, sizeof text, "%x", saw[first + t]);
      say(std::string("asking.") + name + (first == 0 ? "." : ".first.") + std::to_string(t), text);
    }
  MUST(cudaFree(cells));
  MUST(cudaFree(out));
}

int main() {
  ask("one_waits", one_waits, 2);
  ask("some_wait", some_wait, 2);
  ask("all_sleep", all_sleep);
  ask("some_sleep", some_sleep);
  ask("one_way_sleeps", one_way_sleeps);
  ask("waits_for_its_warp", waits_for_its_warp);
  ask("in_a_lock", in_a_lock);
  ask("behind_a_lock", behind_a_lock);
  ask("counts_together", counts_together);
}
