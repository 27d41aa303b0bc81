// Threads that draw their work from a counter, and others that wait for one.
#include "device.h"

// --- each turn moves the counter towards the end of the loop: nobody else is waited for

extern "C" __global__ void one_by_one(int* next, int n, int* times) {
  int i;
  while ((i = atomicAdd(next, 1)) < n) {
    atomicAdd(&times[i], 1);
  }
}
extern "C" __global__ void with_break(unsigned* next, unsigned n, int* times) {
  for (;;) {
    unsigned i = __atomic_fetch_add(next, 1u, __ATOMIC_RELAXED);
    if (i >= n) {
      break;
    }
    times[i] += 1;
  }
}
extern "C" __global__ void downwards(int* left, int* times) {
  int i;
  while ((i = __atomic_fetch_sub(left, 1, __ATOMIC_RELAXED)) > 0) {
    times[i - 1] += 1;
  }
}
extern "C" __global__ void downwards_by_adding(int* left, int* times) {
  int i;
  while ((i = atomicAdd(left, -1) - 1) >= 0) {
    times[i] += 1;
  }
}
extern "C" __global__ void several_at_once(u64* next, u64 n, int* times) {
  for (;;) {
    u64 first = __atomic_fetch_add(next, 4ull, __ATOMIC_RELAXED);
    if (first >= n) {
      return;
    }
    for (u64 i = first; i < first + 4 && i < n; ++i) {
      times[i] += 1;
    }
  }
}
extern "C" __global__ void in_rows_of_the_block(int* next, int n, int* times) {
  for (int first = atomicAdd(next, blockDim.x); first < n; first = atomicAdd(next, blockDim.x)) {
    for (int i = first; i < first + (int)blockDim.x && i < n; ++i) {
      times[i] += 1;
    }
  }
}
extern "C" __global__ void leaves_early(int* next, int n, int* times) {
  int i;
  while ((i = atomicAdd(next, 1)) < n) {
    if (times[i] == 7) {
      break;
    }
    if (i % 3 == 0) {
      continue;
    }
    atomicAdd(&times[i], 1);
  }
}
extern "C" __global__ void inc(unsigned* next, unsigned n, int* times) {
  for (;;) {
    unsigned i = __atomic_load_n(next, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(next, &i, i >= 0xffffffffu ? 0u : i + 1u, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    if (i >= n) {
      break;
    }
    times[i] += 1;
  }
}

static __device__ int from_lane(int value, unsigned lane) {
  int in = 0;
  return (int)__sb_rt_shuffle(0xffffffffu, 0, (unsigned)value, lane, 32, &in);
}
extern "C" __global__ void lane_draws_for_its_warp(int* next, int n, int* times) {
  const int lane = threadIdx.x & 31;
  for (;;) {
    int first = 0;
    if (lane == 0) {
      first = atomicAdd(next, 32);
    }
    first = from_lane(first, 0);
    if (first >= n) {
      break;
    }
    if (first + lane < n) {
      times[first + lane] += 1;
    }
  }
}
extern "C" __global__ void thread_draws_for_its_block(int* next, int n, int* times) {
  __shared__ int tile;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      tile = atomicAdd(next, 1);
    }
    __syncthreads();
    const int i = tile * blockDim.x + threadIdx.x;
    if (tile * (int)blockDim.x >= n) {
      break;
    }
    if (i < n) {
      times[i] += 1;
    }
  }
}
extern "C" __global__ void from_shared_memory(int n, int* times) {
  __shared__ int next;
  if (threadIdx.x == 0) {
    next = 0;
  }
  __syncthreads();
  int i;
  while ((i = atomicAdd(&next, 1)) < n) {
    atomicAdd(&times[i], 1);
  }
}
// Threads that work on what they drew need not look at the end's memory again, and may add up.
extern "C" __global__ void end_of_memory(int* next, const int* n, int* times, int* sum) {
  int i;
  while ((i = atomicAdd(next, 1)) < *n) {
    times[i] += 1;
    atomicAdd(sum, i);
  }
}
extern "C" __global__ void end_in_memory(int* next, int n, int* times) {
  __shared__ int end;
  if (threadIdx.x == 0) {
    end = n;
  }
  __syncthreads();
  int i;
  while ((i = atomicAdd(next, 1)) < end) {
    times[i] += 1;
  }
}
// What the lanes of a warp drew decides for all of them.
extern "C" __global__ void warp_votes(int* next, int n, int* times) {
  for (;;) {
    const int i = atomicAdd(next, 1);
    if (i < n) {
      times[i] += 1;
    }
    if (__sb_rt_vote(0xffffffffu, 1, i >= n)) {
      break;
    }
  }
}
extern "C" __global__ void block_votes(int* next, int n, int* times) {
  int i;
  do {
    i = atomicAdd(next, 1);
    if (i < n) {
      times[i] += 1;
    }
  } while (__sb_rt_barrier(3, i < n));
}

// --- what ends only when somebody else writes

extern "C" __global__ void looks_by_adding_nothing(int* count, int n, int* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(count, 0) < n) {
    }
    *out = *count;
  } else {
    atomicAdd(count, 1);
  }
}
// The step may be nothing.
extern "C" __global__ void step_of_the_caller(int* count, int step, int n, int* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(count, step) < n) {
    }
    *out = *count;
  } else {
    atomicAdd(count, 1);
  }
}
// A thread that comes too early gives back what it took.
extern "C" __global__ void gives_back(int* count, int n, int* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(count, 1) < n) {
      atomicAdd(count, -1);
    }
    *out = 1;
  } else {
    atomicAdd(count, 1);
  }
}
extern "C" __global__ void puts_back(int* count, int n, int* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(count, 1) < n) {
      atomicExch(count, 0);
    }
    *out = 1;
  } else {
    atomicAdd(count, n);
  }
}
// Away from where it would end.
extern "C" __global__ void counts_away(int* count, int n, int* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(count, -1) < n) {
    }
    *out = 1;
  } else {
    atomicAdd(count, 1 << 20);
  }
}
// One number alone ends it, and somebody else may draw that.
extern "C" __global__ void wants_one_number(int* count, int number, int* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(count, 1) != number) {
    }
    *out = 1;
  } else {
    atomicExch(count, number - 3);
  }
}
// It draws, and then looks at something else.
extern "C" __global__ void draws_and_looks(int* count, int n, int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(count, 1) < n && atomicAdd(flag, 0) == 0) {
    }
    *out = atomicAdd(flag, 0);
  } else {
    atomicAdd(flag, 1);
  }
}
// The end moves on as well.
extern "C" __global__ void end_moves_on(int* count, int* end, int* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(count, 1) < atomicAdd(end, 1)) {
    }
    *out = 1;
  } else {
    atomicExch(end, -1000);
  }
}
// What it drew counts in some turns only.
extern "C" __global__ void looks_now_and_then(int* count, int n, int* out) {
  if (threadIdx.x == 0) {
    for (;;) {
      const int i = atomicAdd(count, 1);
      if ((i & 4095) == 5 && i >= n) {
        break;
      }
    }
    *out = 1;
  } else {
    atomicExch(count, 4096 + 4);
  }
}
// Between two draws it waits for what it drew, in the same loop.
extern "C" __global__ void waits_for_what_it_drew(int* next, int n, int* ready, int* out) {
  if (threadIdx.x == 0) {
    bool has = false;
    for (int i = 0;;) {
      if (!has) {
        i = atomicAdd(next, 1);
        if (i >= n) {
          break;
        }
        has = true;
      } else if (ready[i]) {
        has = false;
      }
      __threadfence();
    }
    *out = 1;
  } else {
    for (int i = 0; i < n; ++i) {
      atomicExch(&ready[i], 1);
    }
  }
}
// The turn in which it ends comes when somebody else has written.
extern "C" __global__ void counts_when_told(volatile int* flag, int n, int* out) {
  if (threadIdx.x == 0) {
    int turns = 0;
    for (;;) {
      if (*flag) {
        if (++turns == n) {
          break;
        }
      }
    }
    *out = turns;
  } else {
    *flag = 1;
  }
}
// The low byte does not move by itself.
extern "C" __global__ void looks_at_the_low_byte(int* count, int n, int* out) {
  if (threadIdx.x == 0) {
    while ((unsigned char)atomicAdd(count, 256) < n) {
    }
    *out = 1;
  } else {
    atomicAdd(count, n);
  }
}

// --- one thread looks for its block; another block writes what it waits for

extern "C" __global__ void thread_looks_for_its_block(int* flag, int* out) {
  __shared__ int seen;
  if (blockIdx.x == 0) {
    do {
      __syncthreads();
      if (threadIdx.x == 0) {
        seen = *(volatile int*)flag;
      }
      __syncthreads();
    } while (!seen);
    out[threadIdx.x] = seen;
  } else if (threadIdx.x == 0) {
    atomicExch(flag, 1);
  }
}
extern "C" __global__ void thread_locks_for_its_block(int* lock, int* out) {
  __shared__ bool mine;
  do {
    __syncthreads();
    if (threadIdx.x == 0) {
      mine = atomicCAS(lock, 0, 1) == 0;
    }
    __syncthreads();
  } while (!mine);
  out[threadIdx.x] += 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicExch(lock, 0);
  }
}
extern "C" __global__ void thread_adds_nothing_for_its_block(int* count, int* out) {
  __shared__ int seen;
  if (threadIdx.x == 0) {
    atomicAdd(count, 1);
  }
  for (;;) {
    if (threadIdx.x == 0) {
      seen = atomicAdd(count, 0);
    }
    __syncthreads();
    if (seen >= (int)gridDim.x) {
      break;
    }
    __syncthreads();
  }
  out[threadIdx.x] = 1;
}
// The end is far: others take the counter there.
extern "C" __global__ void others_end_it(int* next, int n, int* out) {
  if (threadIdx.x < 32) {
    while (atomicAdd(next, 1) < n) {
    }
    atomicAdd(out, 1);
  } else if (threadIdx.x == 40) {
    atomicExch(next, n);
  }
}
extern "C" __global__ void others_end_it_for_a_warp(int* next, int n, int* out) {
  if (threadIdx.x < 32) {
    for (int i = 0; i < n;) {
      if (threadIdx.x == 0) {
        i = atomicAdd(next, 32);
      }
      i = from_lane(i, 0);
    }
    atomicAdd(out, 1);
  } else if (threadIdx.x == 40) {
    __atomic_fetch_max(next, n, __ATOMIC_RELAXED);
  }
}
extern "C" __global__ void others_end_it_for_a_block(int* next, int n, int* out) {
  __shared__ int drawn;
  if (blockIdx.x == 0) {
    do {
      __syncthreads();
      if (threadIdx.x == 0) {
        drawn = atomicAdd(next, 1);
      }
      __syncthreads();
    } while (drawn < n);
    if (threadIdx.x < 32) {
      atomicAdd(out, 1);
    }
  } else if (threadIdx.x == 0) {
    atomicAdd(next, n);
  }
}
// One counter by two names.
extern "C" __global__ void gives_back_by_another_name(int* next, int n, int* out, int* also_next) {
  if (threadIdx.x < 32) {
    while (atomicAdd(next, 1) < n) {
      atomicAdd(also_next, -1);
    }
    atomicAdd(out, 1);
  } else if (threadIdx.x == 40) {
    atomicAdd(next, n);
  }
}
extern "C" __global__ void thread_gives_back_for_its_block(int* count, int n, int* out) {
  __shared__ int seen;
  if (blockIdx.x == 0) {
    for (;;) {
      if (threadIdx.x == 0) {
        seen = atomicAdd(count, 1);
        if (seen < n) {
          atomicAdd(count, -1);
        }
      }
      __syncthreads();
      if (seen >= n) {
        break;
      }
      __syncthreads();
    }
    out[threadIdx.x] = 1;
  } else {
    atomicAdd(count, n);
  }
}

// --- counters from which nothing is drawn, though a loop asks them

extern "C" __global__ void keeps_some(int* count, int room, int n, int* out) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    const int at = atomicAdd(count, 1);
    if (at < room) out[at] = i;
  }
}

extern "C" __global__ void keeps_what_must_fit(int* count, int room, int n, int* out) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    const int at = atomicAdd(count, 1);
    if (at >= room) __builtin_trap();
    out[at] = i;
  }
}
