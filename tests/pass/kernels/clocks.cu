// Kernels for clocks_test.cpp: the ways in which people write waiting loops.
#include "device.h"

extern "C" __global__ void plain(long long n) {
  long long start = clock64();
  while (clock64() - start < n) {
  }
}
extern "C" __global__ void counted_cycles(long num_cycles) {
  long cycles = 0;
  long start = clock64();
  while (cycles < num_cycles) cycles = clock64() - start;
}
extern "C" __global__ void do_while(unsigned long long n) {
  unsigned long long start = __sb_rt_clock(), now;
  do {
    now = __sb_rt_clock();
  } while (now - start <= n);
}
extern "C" __global__ void until_end(long long n) {
  long long end = clock64() + n;
  while (clock64() < end);
}
extern "C" __global__ void reversed(int n) {
  int start = clock();
  for (;;) {
    int elapsed = clock() - start;
    if (n <= elapsed) break;
  }
}
extern "C" __global__ void wrapping(long n) {
  long start = clock();
  long now;
  for (;;) {
    now = clock();
    long cycles = now > start ? now - start : now + (0xffffffff - start);
    if (cycles >= n) break;
  }
}
extern "C" __global__ void remaining(long n) {
  long start = clock64();
  long left = n;
  while (left > 0) left = n - (clock64() - start);
}
extern "C" __global__ void seconds(float s, float rate) {
  long long start = clock64();
  while ((clock64() - start) / rate < s) {
  }
}
extern "C" __global__ void thousands(int k) {
  long long start = clock64();
  while ((clock64() - start) / 1000 < k) {
  }
}
extern "C" __global__ void dummy_work(long long n) {
  long long start = clock64();
  float x = 1;
  while (clock64() - start < n) x = x * 1.1f + 0.5f;
}
extern "C" __global__ void timer(unsigned long long ns) {
  unsigned long long start = __sb_rt_global_timer();
  while (__sb_rt_global_timer() - start < ns) {
  }
}
extern "C" __global__ void accumulates(long long n) {
  long long total = 0, last = clock64();
  while (total < n) {
    long long now = clock64();
    total += now - last;
    last = now;
  }
}
__device__ void wait(long long n) {
  long long start = clock64();
  while (clock64() - start < n) {
  }
}
extern "C" __global__ void twice(long long n) {
  wait(n);
  wait(n);
}
extern "C" __global__ void many(int times, long long n) {
  for (int i = 0; i < times; ++i) wait(n);
}
extern "C" __global__ void writes_first(int* p, long long n) {
  p[threadIdx.x] = 1;
  wait(n);
}
extern "C" __global__ void writes_afterwards(int* p, long long n) {
  wait(n);
  p[threadIdx.x] = 1;
}
extern "C" __global__ void writes_elapsed(long* p, long n) {
  long offset = 0, start = clock();
  while (offset < n) offset = clock() - start;
  p[threadIdx.x] = offset;
}
extern "C" __global__ void counts_while_waiting(int* p, long long n) {
  long long start = clock64();
  while (clock64() - start < n) *p += 1;
}
extern "C" __global__ void times_out(volatile int* flag, long long n, int* out) {
  long long start = clock64();
  while (*flag == 0 && clock64() - start < n) {
  }
  *out = *flag;
}
extern "C" __global__ void sleeps(unsigned ns) { __sb_rt_nanosleep(ns); }
__device__ __noinline__ void wait_in_call(long long n) { wait(n); }
extern "C" __global__ void call_then_nothing(long long n) { wait_in_call(n); }
extern "C" __global__ void call_then_write(long long n, int* p) {
  wait_in_call(n);
  *p = 1;
}

// Times that are only written down.
extern "C" __global__ void writes_times(long long* times, int n) {
  for (int i = 0; i < n; ++i) times[i] = clock64();
}
extern "C" __global__ void adds_up_times(float* p, long long* spent, int n) {
  long long total = 0;
  for (int i = 0; i < n; ++i) {
    long long start = clock64();
    p[i] = p[i] * 2 + 1;
    total += clock64() - start;
  }
  *spent = total;
}
// One wait after another, each with a limit of its own.
extern "C" __global__ void waits_in_turn(volatile int* flags, int n, long long limit, int* got) {
  for (int i = 0; i < n; ++i) {
    long long start = clock64();
    while (flags[i] == 0) {
      if (clock64() - start > limit) {
        got[i] = -1;
        return;
      }
    }
    got[i] = 1;
  }
}
// What one thread reads ends the loop of all.
extern "C" __global__ void one_reads_for_all(long long limit, int* rounds) {
  __shared__ long long now;
  long long start = clock64();
  int i = 0;
  for (;; ++i) {
    if (threadIdx.x == 0) now = clock64();
    __syncthreads();
    if (now - start > limit) break;
    __syncthreads();
  }
  rounds[threadIdx.x] = i;
}
// The inner loop ends at its count: nothing has come.
extern "C" __global__ void looks_at_many(volatile int* flags, int n, long long limit, int* found) {
  long long start = clock64();
  *found = -1;
  for (;;) {
    for (int i = 0; i < n; ++i) {
      if (flags[i] != 0) {
        *found = i;
        return;
      }
      if (clock64() - start > limit) return;
    }
  }
}
