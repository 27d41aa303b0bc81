// Blocks whose threads wait in different ways: one sleeps, or waits for a time, and then writes
// what the others look at. The arguments say which way; "never" nobody writes it.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

__device__ long long nanoseconds() {
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
__device__ void wait_nanoseconds(long long longest) {
  const long long end = nanoseconds() + longest;
  while (nanoseconds() < end) {
  }
}
__device__ void wait_cycles(long long longest) {
  const long long begin = clock64();
  while (clock64() - begin < longest) {
  }
}

// How many threads saw the flag, and the least time that one of them waited.
struct outcome {
  int flag[2], saw, gave_up;
  long long shortest, counted;
};
__device__ void look(volatile int* flag, outcome* out) {
  const long long begin = nanoseconds();
  while (*flag == 0) {
  }
  atomicMin(&out->shortest, nanoseconds() - begin);
  atomicAdd(&out->saw, 1);
}

__global__ void sleeps(outcome* out) {
  if (threadIdx.x == 0) {
    __nanosleep(40'000);
    out->flag[0] = 1;
  } else {
    look(out->flag, out);
  }
}
__global__ void sleeps_in_another_warp(outcome* out) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 40) {
    for (int i = 0; i < 100; ++i) __nanosleep(1'000'000);
    atomicExch(&flag, 1);
  } else {
    const long long begin = nanoseconds();
    while (atomicAdd(&flag, 0) == 0) {
    }
    atomicMin(&out->shortest, nanoseconds() - begin);
    atomicAdd(&out->saw, 1);
  }
}
__global__ void waits_for_the_clock(outcome* out) {
  if (threadIdx.x == 0) {
    wait_cycles(1'000'000);
    atomicExch(out->flag, 1);
  } else {
    look(out->flag, out);
  }
}
__global__ void waits_for_the_timer(outcome* out) {
  if (threadIdx.x == 0) {
    wait_nanoseconds(500'000);
    atomicExch(out->flag, 1);
  } else {
    look(out->flag, out);
  }
}
__global__ void another_block_looks(outcome* out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    __nanosleep(40'000);
    *reinterpret_cast<volatile int*>(out->flag) = 1;
  } else {
    look(out->flag, out);
  }
}
__global__ void looks_so_often(outcome* out) {
  if (threadIdx.x == 0) {
    __nanosleep(40'000);
    *reinterpret_cast<volatile int*>(out->flag) = 1;
    return;
  }
  int left = 1'000'000;
  while (*reinterpret_cast<volatile int*>(out->flag) == 0 && --left != 0) {
  }
  atomicAdd(left != 0 ? &out->saw : &out->gave_up, 1);
}
// Naps end in vain many times before the one that is waited for sleeps no more.
__global__ void others_nap(outcome* out) {
  volatile int* flag = out->flag;
  if (threadIdx.x == 0) {
    wait_nanoseconds(30'000'000);
    *flag = 1;
  } else {
    while (*flag == 0) __nanosleep(200);
    atomicAdd(&out->saw, 1);
  }
}
// The others see something new whenever they look. One of their own sleeps, or another kernel does.
__device__ void count(outcome* out, long long* count) {
  volatile int* stop = out->flag;
  for (;;) {
    const long long seen = atomicAdd(reinterpret_cast<unsigned long long*>(count), 1ull);
    if (*stop != 0) break;
    if (seen > 1'000'000'000'000) {
      atomicAdd(&out->gave_up, 1);
      return;
    }
  }
  atomicAdd(&out->saw, 1);
}
__global__ void others_count(outcome* out) {
  if (threadIdx.x == 0) {
    __nanosleep(40'000);
    *reinterpret_cast<volatile int*>(out->flag) = 1;
  } else {
    count(out, &out->counted);
  }
}
__global__ void counts(outcome* out) { count(out, &out->counted); }
__global__ void stops_it(outcome* out) {
  wait_nanoseconds(300'000);
  *reinterpret_cast<volatile int*>(out->flag) = 1;
}

// From a sleeper by one that naps to those that only look.
__global__ void tells_on(outcome* out) {
  volatile int* flag = out->flag;
  if (threadIdx.x == 0) {
    __nanosleep(50'000);
    flag[1] = 1;
  } else if (threadIdx.x == 1) {
    while (flag[1] == 0) __nanosleep(300);
    flag[0] = 1;
  } else {
    look(flag, out);
  }
}
__global__ void never(outcome* out) {
  volatile int* flag = out->flag;
  if (threadIdx.x % 2 == 0) {
    while (*flag == 0) __nanosleep(300);
  } else {
    look(flag, out);
  }
}
// It ends the looks of others, but not before it has looked often.
__global__ void gives_up_for_all(outcome* out) {
  volatile int* flag = out->flag;
  if (threadIdx.x == 0) {
    int left = 10'000;
    while (*flag == 0 && --left != 0) {
    }
    *flag = 1;
    atomicAdd(&out->gave_up, 1);
  } else {
    while (*flag == 0) __nanosleep(300);
    atomicAdd(&out->saw, 1);
  }
}

int main(int, char** arguments) {
  struct {
    const char* name;
    void (*kernel)(outcome*);
    int blocks, threads;
  } const ways[] = {{"sleep", sleeps, 1, 2},
                    {"warps", sleeps_in_another_warp, 1, 64},
                    {"clock", waits_for_the_clock, 1, 70},
                    {"timer", waits_for_the_timer, 2, 32},
                    {"blocks", another_block_looks, 3, 33},
                    {"tries", looks_so_often, 1, 64},
                    {"naps", others_nap, 1, 128},
                    {"counts", others_count, 1, 64},
                    {"stopped", counts, 2, 32},
                    {"on", tells_on, 1, 40},
                    {"never", never, 2, 32},
                    {"for_all", gives_up_for_all, 1, 32}};
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaFuncAttributes loaded;
  cudaFuncGetAttributes(&loaded, stops_it);
  outcome* out;
  cudaMallocManaged(&out, sizeof *out);
  for (const auto& way : ways) {
    if (std::strcmp(way.name, arguments[1]) != 0) continue;
    *out = {{0, 0}, 0, 0, 1'000'000'000'000, 0};
    way.kernel<<<way.blocks, way.threads>>>(out);
    if (way.kernel == counts) stops_it<<<1, 1, 0, other>>>(out);
    std::printf("waiting\n");
    std::fflush(stdout);
    cudaDeviceSynchronize();
    std::printf("%s: %d saw it, %d gave up, after %lld us\n", way.name, out->saw, out->gave_up,
                out->shortest / 1000);
  }
}
