// What the sums of a loop over the grid take at the least, in the order that the kernel asks for:
// 1056 blocks of 256 threads, a sum for each thread, rounds that lie 1 MiB and 32 KiB apart.
//
//   clang++-19 -O3 -std=c++17 -pthread bench/kernels/sum_floor.cpp -o sum_floor &&
//   ./sum_floor
//
// Prints milliseconds on two cores: reading straight on with sums in registers, then rows of some
// blocks with sums in memory, so many rounds at a time, with memory asked for so many bytes ahead.
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using vec = float __attribute__((vector_size(16), aligned(4)));

constexpr long count = 16 << 20, stride = 1056 * 256, rounds = count / stride;
constexpr int at_a_time = 32;  // elements

const float* numbers;
std::atomic<long> next_row;
volatile float results[2];

// The whole of it, half for each core.
void straight(int core) {
  const float* from = numbers + core * (count / 2);
  vec sums[8] = {};
  for (long i = 0; i < count / 2; i += 32)
    for (int j = 0; j < 8; ++j) sums[j] += *reinterpret_cast<const vec*>(from + i + 4 * j);
  vec all = {};
  for (const vec& each : sums) all += each;
  results[core] = all[0] + all[1] + all[2] + all[3];
}

template <int Together>
void row(float* sums, long first, long width, long ahead) {
  std::memset(sums, 0, static_cast<std::size_t>(width) * sizeof(float));
  for (long round = 0; round + Together <= rounds; round += Together) {
    const float* from = numbers + first + round * stride;
    for (long i = 0; i < width; i += at_a_time) {
      vec part[at_a_time / 4];
      for (int j = 0; j < at_a_time / 4; ++j)
        part[j] = *reinterpret_cast<const vec*>(sums + i + 4 * j);
      for (int k = 0; k < Together; ++k) {
        const float* at = from + k * stride + i;
        for (int j = 0; ahead != 0 && j < at_a_time; j += 16)
          __builtin_prefetch(at + ahead + j, 0, 3);
        for (int j = 0; j < at_a_time / 4; ++j)
          part[j] += *reinterpret_cast<const vec*>(at + 4 * j);
      }
      for (int j = 0; j < at_a_time / 4; ++j) *reinterpret_cast<vec*>(sums + i + 4 * j) = part[j];
    }
  }
}

struct choice {
  void (*run)(float*, long, long, long);  // none: straight on
  long blocks, ahead, together;
};
choice chosen;
bool adds_all;  // what a row leaves, too: to know whether it is right
bool over;
pthread_barrier_t both;

void work(int core, float* sums) {
  if (chosen.run == nullptr) return straight(core);
  const long width = chosen.blocks * 256;
  float sum = 0;
  for (long first; (first = next_row.fetch_add(width)) < stride;) {
    chosen.run(sums, first, std::min(width, stride - first), chosen.ahead);
    for (long i = 0; adds_all && i < std::min(width, stride - first); ++i) sum += sums[i];
    sum += adds_all ? 0 : sums[0];
  }
  results[core] = sum;
}

void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

float* memory(std::size_t bytes) {
  constexpr std::size_t huge = 2 << 20;
  void* all =
      mmap(nullptr, bytes + 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto at = (reinterpret_cast<std::size_t>(all) + huge) & ~(huge - 1);
  madvise(reinterpret_cast<void*>(at), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<float*>(at);
}

void* second(void*) {
  pin(1);
  float* sums = memory(2 << 20);
  for (;;) {
    pthread_barrier_wait(&both);
    if (over) return nullptr;
    work(1, sums);
    pthread_barrier_wait(&both);
  }
}

// Of the numbers that are added: whole, and so few that every sum of them is exact.
float right_sum(const choice& what) {
  const long all = what.run == nullptr ? count : rounds / what.together * what.together * stride;
  double sum = 0;
  for (long i = 0; i < all; ++i) sum += numbers[i];
  return static_cast<float>(sum);
}

double measure(const choice& what, float* sums) {
  std::vector<double> took;
  chosen = what;
  for (int i = 0; i < 12; ++i) {
    adds_all = i == 11;
    next_row = 0;
    pthread_barrier_wait(&both);
    const auto begin = std::chrono::steady_clock::now();
    work(0, sums);
    pthread_barrier_wait(&both);
    took.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  if (results[0] + results[1] != right_sum(what)) std::puts("wrong"), std::exit(1);
  took.pop_back();
  std::sort(took.begin(), took.end());
  return took[took.size() / 2];
}

}  // namespace

int main() {
  float* all = memory(count * sizeof(float));
  for (long i = 0; i < count; ++i) all[i] = static_cast<float>(i % 3);
  numbers = all;
  pin(0);
  float* sums = memory(2 << 20);
  pthread_barrier_init(&both, nullptr, 2);
  pthread_t thread;
  pthread_create(&thread, nullptr, second, nullptr);
  std::printf("straight on\t%.2f\n", measure({}, sums));
  const struct {
    int together;
    void (*run)(float*, long, long, long);
  } ways[] = {{1, row<1>}, {2, row<2>}, {4, row<4>}};
  for (long blocks : {16, 32, 64, 132, 264})
    for (long ahead : {0, 128, 192})
      for (const auto& way : ways)
        std::printf("rows of %ld, %d rounds, %ld bytes ahead\t%.2f\n", blocks, way.together,
                    ahead * 4, measure({way.run, blocks, ahead, way.together}, sums));
  over = true;
  pthread_barrier_wait(&both);
  pthread_join(thread, nullptr);
}
