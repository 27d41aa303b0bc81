// Kernels for threads_test.cpp: threads that meet, wait for each other, or call functions.
#include "device.h"

extern "C" __global__ void reverse(int* data) {
  __shared__ int tile[64];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void reduce(const int* in, int* out) {
  extern __shared__ int sums[];
  sums[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

extern "C" __global__ void static_and_dynamic(int* out) {
  __shared__ char small[3];
  __shared__ double wide[4];
  extern __shared__ double dynamic[];
  small[threadIdx.x] = 1 + threadIdx.x;
  wide[threadIdx.x] = 10 + threadIdx.x;
  dynamic[threadIdx.x] = 100 + threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < 3; ++i) out[i] = small[i] + (int)wide[i] + (int)dynamic[i];
    out[3] = (int)((char*)dynamic - (char*)wide) % 128;
    out[4] = __sb_dynamic_shared_bytes();
  }
}

// Shared variables named only by functions that stay calls; two kernels reach different ones.
__device__ __noinline__ void put_far(int i, int v) {
  __shared__ int far[8];
  far[i] = v;
  __syncthreads();
  if (i == 0) far[0] += far[7];
}
extern __shared__ int dynamic_ints[];
__device__ __noinline__ int take_near(int i) {
  __shared__ int near[4];
  near[i % 4] = i;
  return near[i % 4] + dynamic_ints[0];
}
extern "C" __global__ void calls_far(int* out) {
  __shared__ int own[2];
  own[threadIdx.x % 2] = 5;
  put_far(threadIdx.x, threadIdx.x);
  out[threadIdx.x] = own[threadIdx.x % 2];
}
extern "C" __global__ void calls_near(int* out) {
  dynamic_ints[0] = 40;
  out[threadIdx.x] = take_near(threadIdx.x);
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursion(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x); }

struct shape {
  __device__ virtual int area() const = 0;
};
struct square : shape {
  int side;
  __device__ explicit square(int s) : side(s) {}
  __device__ int area() const override { return side * side + (int)threadIdx.x; }
};
struct strip : shape {
  int length;
  __device__ explicit strip(int l) : length(l) {}
  __device__ int area() const override { return length; }
};
extern "C" __global__ void virtual_calls(int* out) {
  square a(3);
  strip b(7);
  const shape* chosen = out[threadIdx.x] ? (const shape*)&a : (const shape*)&b;
  out[threadIdx.x] = chosen->area();
}

__device__ int plus_thread(int x) { return x + (int)threadIdx.x; }
__device__ int twice(int x) { return 2 * x; }
typedef int (*operation)(int);
__device__ operation operations[2] = {plus_thread, twice};
extern "C" __global__ void function_pointers(int* out) {
  out[threadIdx.x] = operations[threadIdx.x % 2](10);
}

__device__ void meet(int) { __syncthreads(); }
__device__ void (*meeting)(int) = meet;
extern "C" __global__ void barrier_behind_a_pointer(int* data) {
  __shared__ int tile[8];
  tile[threadIdx.x] = data[threadIdx.x];
  meeting(0);
  data[threadIdx.x] = tile[7 - threadIdx.x];
}

extern "C" __global__ void warp_sum(int* out) {
  int v = threadIdx.x;
  for (int d = 16; d; d /= 2) v += shuffle_down(v, d);
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = v;
}

// --- forward progress
extern "C" __global__ void spin_lock(int* lock, int* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      int old = *(volatile int*)counter;
      __threadfence();
      *(volatile int*)counter = old + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
extern "C" __global__ void spin_lock_with_break(int* lock, int* counter) {
  while (true) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *counter += 1;
      atomicExch(lock, 0);
      break;
    }
  }
}
extern "C" __global__ void short_lock(int* lock, int* counter) {
  while (atomicExch(lock, 1));
  *counter += 1;
  __threadfence();
  atomicExch(lock, 0);
}
extern "C" __global__ void producer_consumer(volatile int* slot, int* out) {
  if (threadIdx.x == 0) {
    while (slot[1] == 0) {
    }
    *out = slot[0];
  } else {
    slot[0] = 42;
    __threadfence();
    slot[1] = 1;
  }
}
extern "C" __global__ void blocks_in_turn(int* turn, int* order) {
  int mine = gridDim.x - 1 - blockIdx.x;  // later blocks first
  if (threadIdx.x == 0) {
    while (__atomic_load_n(turn, __ATOMIC_RELAXED) != mine) {
    }
    order[mine] = blockIdx.x;
    atomicAdd(turn, 1);
  }
}
extern "C" __global__ void fenced_flag(int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (*flag == 0) __threadfence();
    *out = 1;
  } else {
    *flag = 1;
  }
}
__device__ __noinline__ bool is_set(volatile int* flag) { return *flag != 0; }
extern "C" __global__ void asks_a_function(volatile int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (!is_set(flag)) {
    }
    *out = 1;
  } else {
    *flag = 1;
  }
}
extern "C" __global__ void sleeps_and_looks(volatile int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (*flag == 0) __sb_rt_nanosleep(100);
    *out = 1;
  } else {
    *flag = 1;
  }
}
extern "C" __global__ void sleeps_and_looks_again(volatile int* flag, int tries, int* out) {
  while (*flag == 0 && tries != 0) {
    __sb_rt_nanosleep(100);
    --tries;
  }
  out[threadIdx.x] = tries;
}

// --- no dependence on others: these stay in loop mode
extern "C" __global__ void histogram(const unsigned char* data, int n, int* bins) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[data[i]], 1);
}
extern "C" __global__ void retry(float* sum, float value) {
  int* address = (int*)sum;
  int old = *address, assumed;
  do {
    assumed = old;
    old = atomicCAS(address, assumed,
                    __builtin_bit_cast(int, value + __builtin_bit_cast(float, assumed)));
  } while (assumed != old);
}
extern "C" __global__ void probe(int* table, int capacity) {
  int key = threadIdx.x + 1;
  int place = key * 7 % capacity;
  while (true) {
    int seen = atomicCAS(&table[place], 0, key);
    if (seen == 0 || seen == key) break;
    place = (place + 1) % capacity;
  }
}

// --- the library
extern "C" __global__ void prints(int x) {
  printf("thread %u of %d: %s %.1f\n", threadIdx.x, x, "text", 2.5);
}
extern "C" __global__ void allocates(int* out) {
  int* mine = new int[4];
  mine[threadIdx.x % 4] = threadIdx.x;
  out[threadIdx.x] = mine[threadIdx.x % 4];
  delete[] mine;
  void* raw = malloc(16);
  free(raw);
}
extern "C" __global__ void asserts(int limit, int* out) {
  assert(threadIdx.x < 2 || limit > 5);
  out[threadIdx.x] = 1;
}
extern "C" __global__ void traps(int* out) {
  if (threadIdx.x == 1) __builtin_trap();
  out[threadIdx.x] = 1;
}
extern "C" __global__ void grid_wide(int* p) {
  *p = 1;
  __sb_rt_grid_sync();
  *p = 2;
}
