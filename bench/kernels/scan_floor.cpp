// What the scan of bench/kernels takes at the least when its rounds are gone through as they stand:
// 8 rounds over the 256 numbers of a block, from one half of its shared memory into the other, and
// the sums of the blocks added in a second pass.
//
//   clang++-19 -O3 -std=c++17 -pthread bench/kernels/scan_floor.cpp -o scan_floor && ./scan_floor
//
// Prints milliseconds on two cores: the two passes that a CPU needs, then the rounds, as the
// compiler makes them and with so many vectors at a time.
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using vec = int __attribute__((vector_size(16)));

constexpr int count = 4 << 20, block = 256, blocks = count / block;

std::vector<int> in(count, 1), out(count), sums(blocks);

vec at(const int* p) {
  vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
void put(int* p, vec v) { std::memcpy(p, &v, sizeof v); }

// One round, `Vectors` of them side by side; 0: a plain loop.
template <int Vectors>
void round(const int* from, int* to, int distance) {
  std::memcpy(to, from, static_cast<std::size_t>(distance) * sizeof(int));
  int i = distance;
  if constexpr (Vectors != 0) {
    for (; i + 4 * Vectors <= block; i += 4 * Vectors) {
      vec part[Vectors];
      for (int j = 0; j < Vectors; ++j)
        part[j] = at(from + i + 4 * j) + at(from + i + 4 * j - distance);
      for (int j = 0; j < Vectors; ++j) put(to + i + 4 * j, part[j]);
    }
    for (; i + 4 <= block; i += 4) put(to + i, at(from + i) + at(from + i - distance));
  }
  for (; i < block; ++i) to[i] = from[i] + from[i - distance];
}

template <int Vectors>
void rounds_of(int core) {
  alignas(64) int part[2][block];
  for (int b = core * (blocks / 2); b < (core + 1) * (blocks / 2); ++b) {
    std::memcpy(part[0], &in[static_cast<std::size_t>(b) * block], sizeof part[0]);
    int half = 0;
    for (int distance = 1; distance < block; distance *= 2, half = 1 - half)
      round<Vectors>(part[half], part[1 - half], distance);
    std::memcpy(&out[static_cast<std::size_t>(b) * block], part[half], sizeof part[0]);
    sums[b] = part[half][block - 1];
  }
}

void running_sums(int core) {
  for (int b = core * (blocks / 2); b < (core + 1) * (blocks / 2); ++b) {
    int sum = 0;
    for (int i = b * block; i < (b + 1) * block; ++i) out[i] = sum += in[i];
    sums[b] = sum;
  }
}

void add_sums(int core) {
  for (int b = std::max(1, core * (blocks / 2)); b < (core + 1) * (blocks / 2); ++b)
    for (int i = b * block; i < (b + 1) * block; ++i) out[i] += sums[b - 1];
}

template <class Work>
void on_both_cores(Work work) {
  struct half {
    Work* work;
    static void* run(void* self) {
      (*static_cast<half*>(self)->work)(1);
      return nullptr;
    }
  } other{&work};
  pthread_t thread;
  pthread_create(&thread, nullptr, &half::run, &other);
  work(0);
  pthread_join(thread, nullptr);
}

template <class First>
void measure(const char* name, First first) {
  std::vector<double> ms;
  for (int i = 0; i < 41; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    on_both_cores(first);
    for (int b = 1; b < blocks; ++b) sums[b] += sums[b - 1];
    on_both_cores(add_sums);
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                     .count());
  }
  for (int i = 0; i < count; ++i)
    if (out[i] != i + 1) std::printf("%s: wrong\n", name), std::exit(1);
  std::nth_element(ms.begin(), ms.begin() + 20, ms.end());
  std::printf("%-28s %.2f ms\n", name, ms[20]);
}

}  // namespace

int main() {
  measure("two passes", running_sums);
  measure("8 rounds, a plain loop", rounds_of<0>);
  measure("8 rounds, 1 vector", rounds_of<1>);
  measure("8 rounds, 2 vectors", rounds_of<2>);
  measure("8 rounds, 4 vectors", rounds_of<4>);
  measure("8 rounds, 8 vectors", rounds_of<8>);
}
