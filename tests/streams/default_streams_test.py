"""Default streams of a program whose translation units are compiled for either kind."""

import unittest

from toolkit import NvccTest

SHARED = """
#pragma once
#include <cuda_runtime.h>
__global__ static void hold(volatile int* open) { while (*open == 0) {} }
__global__ static void mark(int* at) { atomicAdd(at, 1); }
#define UNIT(name)                                                                   \\
  void name##_hold(int* open) { hold<<<1, 1>>>(open); }                              \\
  void name##_mark(int* at) { mark<<<1, 1>>>(at); }                                  \\
  void name##_load() {                                                               \\
    cudaFuncAttributes a;                                                            \\
    cudaFuncGetAttributes(&a, hold);                                                 \\
    cudaFuncGetAttributes(&a, mark);                                                 \\
  }                                                                                  \\
  cudaError_t name##_query() { return cudaStreamQuery(0); }                          \\
  cudaError_t name##_sync() { return cudaStreamSynchronize(0); }                     \\
  cudaError_t name##_copy(int* to, int* from) {                                      \\
    return cudaMemcpy(to, from, sizeof *to, cudaMemcpyDeviceToHost);                 \\
  }                                                                                  \\
  unsigned long long name##_id() { unsigned long long id = 0; cudaStreamGetId(0, &id); return id; }
#define DECLARE(name)                                                                \\
  void name##_hold(int*); void name##_mark(int*); void name##_load();                \\
  cudaError_t name##_query();                                                        \\
  cudaError_t name##_sync(); cudaError_t name##_copy(int*, int*); unsigned long long name##_id();
"""

MAIN = """
#include <cstdio>
#include <functional>
#include <thread>
#include "shared.h"
DECLARE(legacy)
DECLARE(own)
static int* flags;  // pinned: gates and marks
static void check(const char* what, bool good) { std::printf("%s %s\\n", good ? "ok" : "WRONG", what); }
static bool on_other_thread(const std::function<bool()>& f) {
  bool answer = false;
  std::thread([&] { answer = f(); }).join();
  return answer;
}
int main() {
  cudaMallocHost(&flags, 64 * sizeof(int));
  int* device;
  cudaMalloc(&device, sizeof(int));
  int* open = flags;
  int* count = flags + 16;
  unsigned long long legacy = 0, own = 0;
  cudaStreamGetId(cudaStreamLegacy, &legacy);
  cudaStreamGetId(cudaStreamPerThread, &own);
  check("stream 0 of a legacy unit is the legacy stream", legacy_id() == legacy);
  check("stream 0 of a per-thread unit is the thread's own", own_id() == own && own != legacy);
  check("another thread has another one", on_other_thread([&] { return own_id() != own; }));
  check("and the same legacy one", on_other_thread([&] { return legacy_id() == legacy; }));

  // Not behind what is held.
  legacy_load();
  own_load();

  // The thread's own stream is held.
  own_hold(open);
  check("held: busy as the per-thread unit sees it", own_query() == cudaErrorNotReady);
  check("held: busy as the legacy unit sees it", legacy_query() == cudaErrorNotReady);
  check("held: another thread's own stream goes on", on_other_thread([&] {
    own_mark(count);
    return own_sync() == cudaSuccess && *(volatile int*)count == 1;
  }));
  int value = 0;
  check("held: another thread's copy goes on", on_other_thread([&] { return own_copy(&value, device) == cudaSuccess; }));
  legacy_mark(count);
  check("held: legacy work waits", legacy_query() == cudaErrorNotReady && *(volatile int*)count == 1);
  check("held: own work behind legacy work of another thread waits", on_other_thread([&] {
    own_mark(count);
    return own_query() == cudaErrorNotReady && *(volatile int*)count == 1;
  }));
  *(volatile int*)open = 1;
  check("open: all ran", legacy_sync() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess && *count == 3);

  // The legacy stream is held.
  *open = 0;
  legacy_hold(open);
  own_mark(count);
  check("legacy held: own work waits", own_query() == cudaErrorNotReady && *(volatile int*)count == 3);
  *(volatile int*)open = 1;
  check("legacy open: own work ran", own_sync() == cudaSuccess && *count == 4);
  return cudaGetLastError();
}
"""


class Mixed(NvccTest):
    def units_agree(self, *per_thread):
        self.write("shared.h", SHARED)
        self.write("main.cu", MAIN)
        self.write("legacy.cu", '#include "shared.h"\nUNIT(legacy)\n')
        self.write("own.cu", '#include "shared.h"\nUNIT(own)\n')
        self.nvcc("-c", "main.cu", "-o", "main.o")
        self.nvcc("--default-stream", "legacy", "-c", "legacy.cu", "-o", "legacy.o")
        self.nvcc(*per_thread, "-c", "own.cu", "-o", "own.o")
        self.nvcc("main.o", "legacy.o", "own.o", "-o", "a")
        lines = self.output("a").splitlines()
        self.assertEqual([line for line in lines if not line.startswith("ok ")], [])
        self.assertEqual(len(lines), 13)

    def test_a_unit_made_per_thread_by_a_flag_beside_a_legacy_one(self):
        self.units_agree("--default-stream", "per-thread")

    def test_a_unit_made_per_thread_by_a_macro_beside_a_legacy_one(self):
        self.units_agree("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1")


if __name__ == "__main__":
    unittest.main()
