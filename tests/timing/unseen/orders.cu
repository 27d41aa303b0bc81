// Copies that are pending in several streams: when each stream is done with its own, and what that
// makes of programs in which kernels wait for copies.
#include <cstring>
#include <memory>

#include "measure.h"

namespace {

char *in_device, *in_host;
constexpr std::size_t bytes = 128 * mib;

class timed_event {
 public:
  timed_event() { MUST(cudaEventCreate(&e_)); }
  timed_event(const timed_event&) = delete;
  ~timed_event() { cudaEventDestroy(e_); }
  operator cudaEvent_t() const { return e_; }

 private:
  cudaEvent_t e_ = nullptr;
};

void copy(bool up, std::size_t at, std::size_t n, cudaStream_t s) {
  if (up)
    MUST(cudaMemcpyAsync(in_device + at, in_host + at, n, cudaMemcpyHostToDevice, s));
  else
    MUST(cudaMemcpyAsync(in_host + at, in_device + at, n, cudaMemcpyDeviceToHost, s));
}

/// When each of `count` streams is done with what f gives to them.
template <class F>
void ends(const std::string& key, int count, F f) {
  const streams s(count);
  const timed_event begin;
  const std::vector<timed_event> end(count);
  std::vector<std::vector<double>> values(count);
  for (int i = 0; i <= measurements; ++i) {
    MUST(cudaDeviceSynchronize());
    MUST(cudaEventRecord(begin, s[0]));
    f(s);
    for (int one = 0; one < count; ++one) MUST(cudaEventRecord(end[one], s[one]));
    MUST(cudaDeviceSynchronize());
    for (int one = 0; one < count && i != 0; ++one) {
      float ms;
      MUST(cudaEventElapsedTime(&ms, begin, end[one]));
      values[one].push_back(ms * 1000.0);
    }
  }
  for (int one = 0; one < count; ++one) say(key + ".stream" + std::to_string(one), values[one]);
}

void copies_alone() {
  for (const bool up : {true, false}) {
    const std::string way = up ? "up." : "down.";
    for (int count : {2, 3, 4})
      ends("in_turn." + way + std::to_string(count) + "x9x2M", count, [&](const streams& s) {
        for (int i = 0; i < 9 * count; ++i) copy(up, 2 * mib * (i % 64), 2 * mib, s[i]);
      });
    ends("by_stream." + way + "3x5x3M", 3, [&](const streams& s) {
      for (int i = 0; i < 15; ++i) copy(up, 3 * mib * i, 3 * mib, s[i / 5]);
    });
    ends("unequal." + way + "3", 3, [&](const streams& s) {
      for (int i = 0; i < 8; ++i)
        for (int one = 0; one < 3; ++one)
          if (i < 2 + 3 * one) copy(up, 2 * mib * i, (3 - one) * mib, s[one]);
    });
    for (int count : {5, 6, 8})
      wall("all." + way + std::to_string(count) + "x6x2M",
           [&, s = std::make_unique<streams>(count)] {
             for (int i = 0; i < 6 * count; ++i) copy(up, 2 * mib * i, 2 * mib, (*s)[i]);
           });
  }
}

void kernels_between() {
  for (int chunks : {14, 23})
    for (int count : {2, 3, 4, 5, 6}) {
      const streams s(count);
      const std::size_t n = 46 * mib / chunks / 4096 * 4096;
      const std::string size = std::to_string(chunks) + ".streams" + std::to_string(count);
      wall("kinds." + size, [&] {
        for (int i = 0; i < chunks; ++i) copy(true, i * n, n, s[i]);
        for (int i = 0; i < chunks; ++i)
          wait_cycles<<<2, 64, 0, s[i]>>>(700 / chunks * microsecond);
        for (int i = 0; i < chunks; ++i) copy(false, i * n, n, s[i]);
      });
      wall("chunks." + size, [&] {
        for (int i = 0; i < chunks; ++i) {
          copy(true, i * n, n, s[i]);
          wait_cycles<<<2, 64, 0, s[i]>>>(700 / chunks * microsecond);
          copy(false, i * n, n, s[i]);
        }
      });
      wall("rounds." + size, [&] {
        for (int first = 0; first < chunks; first += count) {
          const int end = std::min(first + count, chunks);
          for (int i = first; i < end; ++i) copy(true, i * n, n, s[i]);
          for (int i = first; i < end; ++i)
            wait_cycles<<<2, 64, 0, s[i]>>>(700 / chunks * microsecond);
          for (int i = first; i < end; ++i) copy(false, i * n, n, s[i]);
        }
      });
    }
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(cudaMalloc(reinterpret_cast<void**>(&in_device), bytes));
  MUST(cudaMallocHost(reinterpret_cast<void**>(&in_host), bytes));
  std::memset(in_host, 1, bytes);
  copies_alone();
  kernels_between();
  return end();
}
