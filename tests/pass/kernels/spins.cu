// Threads that wait for others in loops, among barriers: they stop there, and go on in turn.
#include "device.h"

static __device__ __forceinline__ int count_of(int predicate) {
  return __sb_rt_barrier(1, predicate);
}
static __device__ __forceinline__ int any_of(int predicate) {
  return __sb_rt_barrier(3, predicate);
}
static __device__ __forceinline__ int any_lane(int predicate) {
  return __sb_rt_vote(~0u, 1, predicate);
}
static __device__ __forceinline__ int of_first_lane(int value) {
  int in_range;
  return (int)__sb_rt_shuffle(~0u, 0, (unsigned)value, 0, 32, &in_range);
}
static __device__ __forceinline__ int of_neighbour(int value) {
  int in_range;
  return (int)__sb_rt_shuffle(~0u, 3, (unsigned)value, 1, 32, &in_range);
}

// --- without barriers

// Nobody else may have begun to ask for it while one has it: two that ask never get it.
extern "C" __global__ void one_at_a_time(int* taken, int* count) {
  while (atomicAdd(taken, 1) >= 1) {
    atomicAdd(taken, -1);
  }
  *(volatile int*)count = *(volatile int*)count + 1;
  atomicAdd(taken, -1);
}

extern "C" __global__ void each_waits_for_the_next(volatile int* flags, int* out) {
  int t = threadIdx.x;
  int last = blockDim.x - 1;
  while (t != last && flags[t + 1] == 0) {
  }
  out[t] = flags[last] + t;
  flags[t] = 7;
}

// As in a table: the key is read again in each turn, because it might lie in the table.
extern "C" __global__ void finds_a_place(int* table, int* counts, int size, const int* keys,
                                         int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  int at = keys[i] * 7 % size;
  for (;;) {
    int old = atomicCAS(&table[at], -1, keys[i]);
    if (old == -1 || old == keys[i]) {
      atomicAdd(&counts[at], 1);
      return;
    }
    at = at + 1 == size ? 0 : at + 1;
  }
}

// Sees something new in each turn, and has to let the other block run all the same.
extern "C" __global__ void counts_until_told(int* counter, volatile int* stop, int* out) {
  if (blockIdx.x == 0) {
    while (atomicAdd(counter, 1) >= 0 && *stop == 0) {
    }
    out[threadIdx.x] = 1;
  } else {
    *stop = 1;
  }
}

// --- loops that are hard to recognise

// Two places in turn, a ring of them, one by a number that begins again, pointers that change
// places, a place by chance.
extern "C" __global__ void looks_around(volatile int* flags, int how, int* out) {
  int t = threadIdx.x;
  if (t == 40) {
    flags[how == 0 || how == 3 ? 1 : 11] = 5;
    return;
  }
  unsigned at = t & 1;
  unsigned char small = (unsigned char)t;
  volatile int *one = flags, *other = flags + 1;
  switch (how) {
    case 0:
      while (flags[at] == 0) at ^= 1;
      break;
    case 1:
      while (flags[at & 15] == 0) ++at;
      at &= 15;
      break;
    case 2:
      while (flags[small] == 0) ++small;
      at = small;
      break;
    case 3:
      while (*one == 0) {
        volatile int* next = other;
        other = one;
        one = next;
      }
      at = (unsigned)(one - flags);
      break;
    default:
      for (; flags[at >> 28] == 0; at = at * 1664525u + 1013904223u) {
      }
      at >>= 28;
  }
  out[t] = flags[at];
}

// Nothing to wait for: each place is new.
extern "C" __global__ void looks_ahead(volatile int* flags, int* out) {
  int at = threadIdx.x;
  while (flags[at * 2] == 0) ++at;
  out[threadIdx.x] = at;
}

extern "C" __global__ void enters_at_two_places(volatile int* flags, int how, int* out) {
  int t = threadIdx.x, turns = 0;
  if (t == 40) {
    flags[how / 2] = 3;
    return;
  }
  if (how & 1) goto second;
first:
  turns ^= 1;
  if (flags[0] != 0) goto done;
second:
  turns ^= 2;
  if (flags[1] != 0) goto done;
  goto first;
done:
  out[t] = flags[0] + flags[1] + (turns > 3);
}

extern "C" __global__ void switches_into_a_loop(int* flag, int how, int* out) {
  int t = threadIdx.x, turns = 0;
  if (t == 40) {
    atomicAdd(flag, 1);
    return;
  }
  switch (how) {
    case 0:
      do {
        ++turns;
        case 1:
          turns ^= 1;
        case 2:
          atomicAdd(&flag[1], turns);
      } while (atomicAdd(flag, 0) == 0);
  }
  out[t] = 3;
}

// What tells the compiler that memory may have changed.
static __device__ __forceinline__ int load_by_asm(const int* from) {
  int value;
  asm volatile("ld.global.s32 %0, [%1];" : "=r"(value) : "r"(from));
  return value;
}
extern "C" __global__ void reads_again(int* flag, int how, int* out) {
  int t = threadIdx.x, turns = 0;
  if (t == 40) {
    *(volatile int*)flag = 3;
    return;
  }
  switch (how) {
    case 0:
      while (*flag == 0) asm volatile("" ::: "memory");
      break;
    case 1:
      while (load_by_asm(flag) == 0) {
      }
      break;
    default:  // out might be the flag
      while (*flag == 0) out[t] = turns++;
  }
  out[t] = 3;
}

// A number of turns, which the compiler reads again: nothing to wait for.
extern "C" __global__ void counts_to_what_is_read(const int* n, int* out) {
  for (int i = 0; i < *n; ++i) out[i * blockDim.x + threadIdx.x] = i;
}

// --- with barriers

extern "C" __global__ void turns_between_barriers(int rounds, int* out) {
  __shared__ int turn, order;
  int t = threadIdx.x, n = blockDim.x;
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (t == 0) {
      turn = n - 1;
      order = round;
    }
    __syncthreads();
    while (atomicAdd(&turn, 0) != t) {
    }
    order = order * 3 + t;
    sum += order;
    atomicAdd(&turn, -1);
    sum += count_of(t % 3 == round % 3);
  }
  out[t] = sum;
}

// What threads bring to a barrier counts when it opens, which others delay.
extern "C" __global__ void brings_to_a_barrier(int* out) {
  __shared__ volatile int flag;
  int t = threadIdx.x;
  if (t == 0) {
    flag = 0;
  }
  __syncthreads();
  int seen = 0;
  if (t < 4) {
    for (int i = 1; i <= t; ++i) {
      while (flag < i * 10 - 9) {
      }
      seen += i;
    }
    if (t == 0) {
      flag = 1;
    } else {
      atomicAdd((int*)&flag, t == 1 ? 10 : t == 2 ? 10 : 0);
    }
  }
  out[t] = count_of(seen < 3) * 100 + any_of(t == 2) * 10 + seen;
}

extern "C" __global__ void some_have_left(int stay, int* out) {
  __shared__ int turn;
  int t = threadIdx.x;
  if (t == 0) {
    turn = 0;
  }
  __syncthreads();
  if (t >= stay) {
    return;
  }
  while (atomicAdd(&turn, 0) != t) {
  }
  out[t] = atomicAdd(&turn, 1);
  __syncthreads();
  int next = out[(t + 1) % stay];
  __syncthreads();
  out[t] += next * 100;
}

extern "C" __global__ void blocks_meet_by_hand(volatile int* arrived, int rounds, int* data) {
  int blocks = gridDim.x, at = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 1; round <= rounds; ++round) {
    data[at] += round;
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd((int*)arrived, 1);
      while (*arrived < round * blocks) {
      }
    }
    __syncthreads();
  }
}

// Blocks that wait for each other in both ways.
extern "C" __global__ void meets_the_grid_too(volatile int* turn, int* data) {
  if (threadIdx.x == 1) {
    while (*turn != (int)blockIdx.x) {
    }
  }
  __syncthreads();
  data[blockIdx.x] = *turn;
  __syncthreads();
  if (threadIdx.x == 0) {
    *turn = *turn + 1;
  }
  __sb_rt_grid_sync();
  if (threadIdx.x == 0) {
    data[blockIdx.x] += *turn * 10;
  }
}

// One looks for all, so many times.
extern "C" __global__ void polls_between_barriers(volatile int* flag, int turns, int* out) {
  __shared__ int seen;
  int left = turns;
  do {
    if (threadIdx.x == 0) {
      seen = *flag;
    }
    __syncthreads();
    if (seen != 0) break;
    __syncthreads();
  } while (--left > 0);
  out[threadIdx.x] = left;
}

// --- with warp operations

// Halves of a warp for themselves: their lanes come to the vote one by one.
extern "C" __global__ void halves_of_warps_poll(volatile int* flag, int turns, int* out) {
  unsigned half = threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u;
  int left = turns;
  while (__sb_rt_vote(half, 1, *flag != 0) == 0 && --left > 0) {
  }
  __syncthreads();
  out[threadIdx.x] = left;
}

extern "C" __global__ void warps_look_together(volatile int* flags, int* out) {
  int t = threadIdx.x, warp = t / 32;
  while (any_lane(flags[warp] == 0)) {
  }
  out[t] = of_neighbour(t);
  if (t % 32 == 0 && warp > 0) {
    flags[warp - 1] = 1;
  }
}

extern "C" __global__ void a_lane_looks_for_its_warp(volatile int* flag, int* out) {
  int t = threadIdx.x;
  if (t >= 32) {
    if (t == 32) {
      *flag = 5;
    }
    __syncthreads();
    out[t] = *flag;
    return;
  }
  int seen = 0;
  do {
    if (t == 0) {
      seen = *flag;
    }
    seen = of_first_lane(seen);
  } while (seen != 5);
  __syncthreads();
  out[t] = seen;
}

extern "C" __global__ void a_lane_waits_alone(volatile int* flag, int* out) {
  int t = threadIdx.x;
  if (t == 0) {
    while (*flag == 0) {
    }
  } else if (t == 1) {
    *flag = 3;
  }
  __syncthreads();
  out[t] = of_neighbour(t) + *flag;
}

// One after the other, with a lock, and the last one tells the others by a vote.
extern "C" __global__ void lanes_wait_for_each_other(int* lock, int* out) {
  __shared__ int turn;
  int t = threadIdx.x;
  if (t == 0) {
    turn = 0;
  }
  __syncthreads();
  while (atomicAdd(&turn, 0) != t) {
  }
  out[t] = t % 2 == 0 ? 0 : 1;
  atomicAdd(&turn, 1);
  int odd = any_lane(out[t] != 0);
  if (t % 3 == 0) {
    while (*(volatile int*)lock == 0 && t != 0) {
    }
    *(volatile int*)lock = 1;
  }
  out[t] = of_neighbour(t) + odd + 2;
}

extern "C" __global__ void some_lanes_leave(volatile int* flag, int* out) {
  int t = threadIdx.x;
  if (t % 5 == 4) {
    if (t == 39) {
      *flag = 1;
    }
    return;
  }
  while (*flag == 0) {
  }
  out[t] = (int)__sb_rt_reduce(~0u, 0, 1);
}

// The last thread writes what the first of each warp waits for.
extern "C" __global__ void asks_who_is_there(volatile int* flag, unsigned* out) {
  if (threadIdx.x == 39) {
    *flag = 1;
  }
  if (threadIdx.x % 32 == 0) {
    while (*flag == 0) {
    }
  }
  out[threadIdx.x] = __sb_rt_active_mask();
}

// --- threads that have times of their own

extern "C" __global__ void reads_the_clock(volatile int* flag, long long* out) {
  if (threadIdx.x == 40) *flag = 1;
  while (*flag == 0) {
  }
  out[threadIdx.x] = clock64();
}

extern "C" __global__ void sleeps_before_it_writes(int* out) {
  __shared__ volatile int cell;
  if (threadIdx.x == 0) cell = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < 3; ++i) __sb_rt_nanosleep(100);
    cell = 7;
  }
  int seen;
  while ((seen = cell) == 0) {
  }
  out[threadIdx.x] = seen;
}

extern "C" __global__ void sleeps_before_a_barrier(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (threadIdx.x % 3 == 1) __sb_rt_nanosleep(threadIdx.x);
  atomicAdd(&sum, threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = sum + threadIdx.x;
}

extern "C" __global__ void passes_on_and_sleeps(volatile int* out) {
  if (threadIdx.x == 0) {
    out[0] = 1;
    return;
  }
  int before;
  while ((before = out[threadIdx.x - 1]) == 0) __sb_rt_nanosleep(32);
  out[threadIdx.x] = before + 1;
}

extern "C" __global__ void waits_and_adds(long long n, int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const long long start = clock64();
  while (clock64() - start < n) {
  }
  atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}

extern "C" __global__ void some_lanes_sleep(int* out) {
  if (threadIdx.x % 4 == 1) __sb_rt_nanosleep(100);
  int sum = threadIdx.x;
  sum = __sb_rt_reduce(~0u, 0, sum);
  if (threadIdx.x % 8 == 2) __sb_rt_nanosleep(50);
  out[threadIdx.x] = sum;
}

__device__ __noinline__ int sleeps_and_adds(int n) {
  __sb_rt_nanosleep(10);
  return n < 2 ? n : sleeps_and_adds(n - 1) + sleeps_and_adds(n - 2);
}
extern "C" __global__ void sleeps_in_recursion(int* out) {
  out[threadIdx.x] = sleeps_and_adds(threadIdx.x % 5);
}

// --- what all do before the first has to wait

// Each adds what it came to, with what the block counted, in turn.
extern "C" __global__ void works_before_its_turn(volatile int* turn, int rounds, int* out) {
  __shared__ int all[64];
  int own[3] = {1, 2, 3}, odd = 0;
  for (int i = 0; i < rounds; ++i) {
    all[threadIdx.x] = own[i % 3] + i;
    __syncthreads();
    own[(i + threadIdx.x) % 3] += all[(threadIdx.x + 1) % blockDim.x];
    odd += count_of(own[i % 3] & 1);
  }
  const int mine = blockDim.x - 1 - threadIdx.x;
  while (*turn != mine) {
  }
  out[threadIdx.x] =
      own[0] + own[1] * 10 + own[2] * 100 + odd + (mine > 0 ? out[threadIdx.x + 1] : 0);
  *turn = mine + 1;
  __syncthreads();
  out[threadIdx.x] += own[rounds % 3];
}

// Two ways to a barrier, and then a lock.
extern "C" __global__ void parts_before_its_turn(volatile int* turn, int rounds, int* out) {
  int own = 0;
  for (int i = 0; i < rounds; ++i) own = own * 3 + i + threadIdx.x;
  if (threadIdx.x & 1) {
    own += 5;
    __syncthreads();
  } else {
    own ^= 3;
    __syncthreads();
  }
  const int mine = blockDim.x - 1 - threadIdx.x;
  while (*turn != mine) {
  }
  out[threadIdx.x] = own + (mine > 0 ? out[threadIdx.x + 1] : 0);
  *turn = mine + 1;
}
