// Locks of the whole grid: taken by every thread, or by the first of each block; by trying, by a
// ticket, with naps; one of them, or several side by side; around little and around more.
#include "unseen/measure.h"

namespace {

constexpr int most_locks = 64, ring = 4096;

struct memory {
  int lock[most_locks * 32];  // each in lines of its own
  int next[most_locks * 32], serving[most_locks * 32];
  long long count[most_locks * 16];
  unsigned follow[ring];
};

__device__ int* lock_of(memory* m, int i) { return &m->lock[i * 32]; }

// What it guards.
__device__ void add(memory* m, int i) {
  volatile long long* const count = &m->count[i * 16];
  *count = *count + 1;
}

__device__ bool take(int* lock) { return atomicCAS(lock, 0, 1) == 0; }
__device__ void give(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void by_thread(memory* m, int times) {
  for (int i = 0; i < times; ++i) {
    for (bool done = false; !done;) {
      if (take(lock_of(m, 0))) {
        __threadfence();
        add(m, 0);
        give(lock_of(m, 0));
        done = true;
      }
    }
  }
}

enum class how { tries, exchanges, looks, naps, ticket };

template <how h>
__device__ void take_at_last(memory* m, int i) {
  int* const lock = lock_of(m, i);
  if constexpr (h == how::tries) {
    while (!take(lock)) {
    }
  } else if constexpr (h == how::exchanges) {
    while (atomicExch(lock, 1) != 0) {
    }
  } else if constexpr (h == how::looks) {
    while (!take(lock)) {
      while (*static_cast<volatile int*>(lock) != 0) {
      }
    }
  } else if constexpr (h == how::naps) {
    for (unsigned ns = 8; !take(lock); ns = ns < 256 ? 2 * ns : ns) __nanosleep(ns);
  } else {
    const int mine = atomicAdd(&m->next[i * 32], 1);
    while (*static_cast<volatile int*>(&m->serving[i * 32]) != mine) {
    }
  }
  __threadfence();
}
template <how h>
__device__ void give_back(memory* m, int i) {
  if constexpr (h != how::ticket) {
    give(lock_of(m, i));
    return;
  }
  __threadfence();
  volatile int* const serving = &m->serving[i * 32];
  *serving = *serving + 1;
}

// The first thread of a block, around `loads` loads one after the other.
template <how h>
__global__ void by_block(memory* m, int times, int locks, int loads) {
  if (threadIdx.x != 0) return;
  unsigned at = blockIdx.x;
  for (int i = 0; i < times; ++i) {
    const int which = static_cast<int>(blockIdx.x * 7 + i) % locks;
    take_at_last<h>(m, which);
    for (int k = 0; k < loads; ++k) at = *static_cast<volatile unsigned*>(&m->follow[at % ring]);
    add(m, which);
    give_back<h>(m, which);
  }
  if (at == ring) m->count[0] = 0;
}

// Each block computes for itself, and brings what it has once.
__global__ void brings(memory* m, float* out, int loops) {
  __shared__ float all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  float x = static_cast<float>(threadIdx.x & 3);
  for (int i = 0; i < loops; ++i) x = x * 0.999f + 0.5f;
  atomicAdd(&all, x);
  __syncthreads();
  if (threadIdx.x != 0) return;
  take_at_last<how::tries>(m, 0);
  *static_cast<volatile float*>(out) = *static_cast<volatile float*>(out) + all;
  give(lock_of(m, 0));
}

// Without fences around what it guards.
__global__ void bare(memory* m, int times) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < times; ++i) {
    while (!take(lock_of(m, 0))) {
    }
    atomicAdd(reinterpret_cast<unsigned long long*>(&m->count[0]), 1ull);
    atomicExch(lock_of(m, 0), 0);
  }
}

class locks {
 public:
  locks() {
    MUST(cudaMalloc(&m_, sizeof(memory)));
    MUST(cudaMalloc(&out_, sizeof(float)));
    std::vector<unsigned> follow(ring);
    for (unsigned i = 0; i < ring; ++i) follow[i] = (i + 33) % ring;
    MUST(cudaMemset(m_, 0, sizeof(memory)));
    MUST(cudaMemcpy(m_->follow, follow.data(), sizeof m_->follow, cudaMemcpyHostToDevice));
  }

  void run() const {
    for (const shape s : {shape{1, 1, 100},
                          {1, 32, 10},
                          {1, 256, 10},
                          {4, 64, 10},
                          {32, 32, 10},
                          {132, 1, 10},
                          {132, 32, 2},
                          {33, 128, 2}})
      wall("thread." + name(s), [&] { by_thread<<<s.blocks, s.threads>>>(m_, s.times); });
    for (const shape s : {shape{1, 32, 100},
                          {2, 32, 100},
                          {8, 64, 20},
                          {32, 128, 10},
                          {132, 256, 4},
                          {264, 256, 2},
                          {1056, 128, 1}}) {
      block<how::tries>("tries", s, 1, 0);
      block<how::exchanges>("exchanges", s, 1, 0);
      block<how::looks>("looks", s, 1, 0);
      block<how::naps>("naps", s, 1, 0);
      block<how::ticket>("ticket", s, 1, 0);
      wall("bare." + name(s), [&] { bare<<<s.blocks, s.threads>>>(m_, s.times); });
    }
    for (const shape s : {shape{8, 64, 20}, {132, 256, 8}, {528, 64, 2}}) {
      for (const int locks : {4, 16, 64})
        block<how::tries>("locks" + std::to_string(locks), s, locks, 0);
      for (const int loads : {4, 16})
        block<how::tries>("loads" + std::to_string(loads), s, 1, loads);
    }
    for (const int blocks : {33, 132, 528, 2112})
      for (const int loops : {100, 2000, 20000})
        if (loops < 20000 || blocks <= 132)
          wall("brings." + std::to_string(blocks) + ".loops" + std::to_string(loops),
               [&] { brings<<<blocks, 256>>>(m_, out_, loops); });
  }

 private:
  struct shape {
    int blocks, threads, times;
  };
  static std::string name(const shape& s) {
    return std::to_string(s.blocks) + "x" + std::to_string(s.threads) + ".x" +
           std::to_string(s.times);
  }
  template <how h>
  void block(const std::string& key, const shape& s, int locks, int loads) const {
    wall(key + "." + name(s), [&] {
      if constexpr (h == how::ticket) {
        MUST(cudaMemsetAsync(m_->next, 0, sizeof m_->next));
        MUST(cudaMemsetAsync(m_->serving, 0, sizeof m_->serving));
      }
      by_block<h><<<s.blocks, s.threads>>>(m_, s.times, locks, loads);
    });
  }

  memory* m_ = nullptr;
  float* out_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  locks().run();
  return end();
}
