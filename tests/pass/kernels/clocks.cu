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
