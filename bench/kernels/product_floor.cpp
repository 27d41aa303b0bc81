// What the matrix product of bench/kernels takes at the least when a block goes as its kernel says:
// it fetches two tiles, then each row of 16 threads multiplies its row of one with all rows of the
// other, and the sums of all threads stay in memory from tile to tile.
//
//   clang++-19 -O3 -std=c++17 -march=native -pthread bench/kernels/product_floor.cpp -o
//   product_floor && ./product_floor
//
// Prints milliseconds on two cores: so many rows of threads at a time, which share what they load
// of the second tile.
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using vec = float __attribute__((vector_size(16), aligned(4)));

constexpr int n = 512, tile = 16, lanes = 4, vectors = tile / lanes;

std::vector<float> a(n* n, 1.0f), b(n* n, 0.5f), c(n* n);

vec& at(float* p) { return *reinterpret_cast<vec*>(p); }

template <int Rows>
void multiply(float (&as)[tile][tile], float (&bs)[tile][tile], float (&sums)[tile][tile]) {
  for (int row = 0; row < tile; row += Rows) {
    vec sum[Rows][vectors];
    for (int r = 0; r < Rows; ++r)
      for (int v = 0; v < vectors; ++v) sum[r][v] = at(&sums[row + r][v * lanes]);
    for (int k = 0; k < tile; ++k)
      for (int v = 0; v < vectors; ++v) {
        const vec from = at(&bs[k][v * lanes]);
        for (int r = 0; r < Rows; ++r) sum[r][v] += as[row + r][k] * from;
      }
    for (int r = 0; r < Rows; ++r)
      for (int v = 0; v < vectors; ++v) at(&sums[row + r][v * lanes]) = sum[r][v];
  }
}

template <int Rows>
void half_of_it(int core) {
  alignas(64) float as[tile][tile], bs[tile][tile], sums[tile][tile];
  constexpr int across = n / tile, blocks = across * across;
  for (int block = core * (blocks / 2); block < (core + 1) * (blocks / 2); ++block) {
    const int row = block / across * tile, column = block % across * tile;
    std::memset(sums, 0, sizeof sums);
    for (int step = 0; step < across; ++step) {
      for (int y = 0; y < tile; ++y) {
        std::memcpy(as[y], &a[(row + y) * n + step * tile], sizeof as[y]);
        std::memcpy(bs[y], &b[(step * tile + y) * n + column], sizeof bs[y]);
      }
      multiply<Rows>(as, bs, sums);
    }
    for (int y = 0; y < tile; ++y) std::memcpy(&c[(row + y) * n + column], sums[y], sizeof sums[y]);
  }
}

double median_ms(void (*half)(int)) {
  std::vector<double> took;
  for (int round = 0; round < 31; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    pthread_t other;
    pthread_create(
        &other, nullptr,
        [](void* work) -> void* {
          reinterpret_cast<void (*)(int)>(work)(1);
          return nullptr;
        },
        reinterpret_cast<void*>(half));
    half(0);
    pthread_join(other, nullptr);
    took.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  std::sort(took.begin(), took.end());
  for (float each : c)
    if (each != n * 0.5f) std::puts("wrong"), std::exit(1);
  return took[took.size() / 2];
}

}  // namespace

int main() {
  std::printf("1 row  %.2f\n", median_ms(&half_of_it<1>));
  std::printf("2 rows %.2f\n", median_ms(&half_of_it<2>));
  std::printf("4 rows %.2f\n", median_ms(&half_of_it<4>));
}
