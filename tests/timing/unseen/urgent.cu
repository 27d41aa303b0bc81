// Small kernels in a stream of higher priority beside large ones of many waves: they wait for room
// once, and what follows them in their stream for the next room that somebody leaves.
#include "measure.h"

namespace {

__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

struct shape {
  int blocks, threads;
  long long wave_cycles;
  int small, small_blocks;
  long long small_cycles;
};

constexpr shape shapes[] = {
    {14850, 128, 250000, 6, 8, 370000},   {14850, 128, 250000, 10, 8, 130000},
    {20909, 128, 300000, 6, 8, 400000},   {12672, 128, 300000, 6, 8, 370000},
    {12672, 128, 170000, 8, 8, 190000},   {14850, 128, 250000, 4, 8, 600000},
    {20000, 128, 100000, 20, 8, 90000},   {2640, 1024, 100000, 10, 8, 80000},
    {2640, 1024, 100000, 10, 8, 140000},  {3000, 512, 60000, 12, 66, 25000},
    {9000, 256, 40000, 16, 132, 70000},   {2112, 1024, 200000, 5, 16, 510000},
    {5000, 256, 120000, 9, 40, 121000},   {30000, 128, 30000, 24, 4, 33000},
    {1500, 1024, 150000, 3, 132, 330000}, {4000, 512, 90000, 7, 20, 200000},
};

void run(const shape& s, int large_priority, int small_priority) {
  cudaStream_t large, small;
  MUST(cudaStreamCreateWithPriority(&large, cudaStreamNonBlocking, large_priority));
  MUST(cudaStreamCreateWithPriority(&small, cudaStreamNonBlocking, small_priority));
  char key[96];
  std::snprintf(key, sizeof key, "%s.%dx%d.%lld.small%d.%d.%lld",
                small_priority < large_priority ? "urgent" : "equal", s.blocks, s.threads,
                s.wave_cycles, s.small, s.small_blocks, s.small_cycles);
  wall(key, [&] {
    for (int turn = 0; turn < 3; ++turn) {
      spin<<<s.blocks, s.threads, 0, large>>>(s.wave_cycles);
      for (int i = 0; i < s.small; ++i) spin<<<s.small_blocks, 128, 0, small>>>(s.small_cycles);
    }
  });
  MUST(cudaStreamDestroy(large));
  MUST(cudaStreamDestroy(small));
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  int least, greatest;
  MUST(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  for (const shape& s : shapes) {
    run(s, least, least);
    run(s, least, greatest);
  }
  return end();
}
