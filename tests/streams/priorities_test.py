"""Priorities as launches, graph nodes and streams give them. Blocks that fill a multiprocessor end one
at a time, when the program says so; what begins in the freed place goes first."""

import unittest

from toolkit import NvccTest

PROGRAM = """
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
struct board { int count, released, begun[4000]; };
__global__ void block(volatile board* b, int tag) {
  const int n = atomicAdd((int*)&b->count, 1);
  b->begun[n] = tag;
  __threadfence_system();
  while (b->released <= n) {}
}
static board* b;
static int capacity;
static const int whole = 200 << 10;
static cudaStream_t level(int priority) {
  cudaStream_t s;
  cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, priority);
  return s;
}
static void launch(cudaStream_t s, int blocks, int tag) { block<<<blocks, 1, whole, s>>>(b, tag); }
static cudaError_t launch_with(cudaStream_t s, int tag, int priority) {
  cudaLaunchConfig_t c = {};
  c.gridDim = c.blockDim = dim3(1);
  c.dynamicSmemBytes = whole;
  c.stream = s;
  cudaLaunchAttribute a;
  a.id = cudaLaunchAttributePriority;
  a.val.priority = priority;
  c.attrs = &a;
  c.numAttrs = 1;
  return cudaLaunchKernelEx(&c, block, (volatile board*)b, tag);
}
static int count() { return *(volatile int*)&b->count; }
static void fill(cudaStream_t s, int more) {
  cudaDeviceSynchronize();
  std::memset(b, 0, sizeof *b);
  std::memset(b->begun, 0xff, sizeof b->begun);
  launch(s, capacity + more, 0);
  while (count() < capacity) std::this_thread::yield();
}
// Which tags begin when one block after the other ends.
static std::string order(int steps) {
  std::string out;
  for (int i = 0; i < steps; ++i) {
    *(volatile int*)&b->released = i + 1;
    volatile int* const tag = b->begun + capacity + i;
    while (*tag < 0) std::this_thread::yield();
    out += std::to_string(*tag) + " ";
  }
  *(volatile int*)&b->released = 1 << 30;
  cudaDeviceSynchronize();
  return out;
}
static void graph(cudaStream_t from, int attribute, unsigned flags, cudaStream_t into) {
  cudaGraph_t g;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(from, cudaStreamCaptureModeRelaxed);
  if (attribute == 99) launch(from, 1, 1); else launch_with(from, 1, attribute);
  cudaStreamEndCapture(from, &g);
  cudaGraphInstantiate(&exec, g, flags);
  fill(level(-2), 1);
  cudaGraphLaunch(exec, into);
}
int main() {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  capacity = p.multiProcessorCount;
  cudaMallocHost(&b, sizeof *b);
  cudaFuncSetAttribute(block, cudaFuncAttributeMaxDynamicSharedMemorySize, whole);
  cudaStream_t low = level(0), low2 = level(0), high = level(-5);
  fill(low, 2);
  launch(low2, 1, 1);
  std::printf("equal: %s\\n", order(3).c_str());
  fill(low, 2);
  for (int priority : {-2, 0, -5, -1, -4, -3}) launch(level(priority), 1, 10 - priority);
  std::printf("six: %s\\n", order(8).c_str());
  for (int priority : {-1, -5}) {
    fill(low, 2);
    launch_with(low2, 1, priority);
    std::printf("launch %d: %s\\n", priority, order(3).c_str());
  }
  fill(level(-3), 2);
  launch_with(high, 1, 0);
  std::printf("launch 0 in -5: %s\\n", order(3).c_str());
  const unsigned own = cudaGraphInstantiateFlagUseNodePriority;
  graph(high, 99, 0, low2);
  std::printf("graph of -5 in 0: %s\\n", order(2).c_str());
  graph(high, 99, own, low2);
  std::printf("graph of -5 with its own: %s\\n", order(2).c_str());
  graph(low2, 99, own, high);
  std::printf("graph of 0 with its own in -5: %s\\n", order(2).c_str());
  graph(low2, -5, own, low2);
  std::printf("graph of a launch with -5: %s\\n", order(2).c_str());
  std::printf("%s\\n", cudaGetErrorName(cudaGetLastError()));
}
"""


class Priorities(NvccTest):
    def test_streams_launches_and_nodes(self):
        self.write("a.cu", PROGRAM)
        self.nvcc("a.cu", "-o", "a")
        self.assertEqual(self.output("a").splitlines(), [
            "equal: 0 0 1 ",
            "six: 15 14 13 12 11 0 0 10 ",
            "launch -1: 1 0 0 ",
            "launch -5: 1 0 0 ",
            "launch 0 in -5: 0 0 1 ",
            "graph of -5 in 0: 0 1 ",
            "graph of -5 with its own: 1 0 ",
            "graph of 0 with its own in -5: 0 1 ",
            "graph of a launch with -5: 1 0 ",
            "cudaSuccess",
        ])


if __name__ == "__main__":
    unittest.main()
