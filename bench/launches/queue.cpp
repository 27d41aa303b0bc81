// What a good engineer writes without a runtime: one thread that takes functions from a ring of
// the caller, spinning. The floor for handing work to another core.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using work = void (*)();
void nothing() {}

constexpr std::size_t size = 1024;
alignas(64) work ring[size];
alignas(64) std::atomic<std::size_t> put{0};
alignas(64) std::atomic<std::size_t> taken{0};

void serve() {
  for (std::size_t at = 0;; ++at) {
    while (put.load(std::memory_order_acquire) == at) {
    }
    const work next = ring[at % size];
    if (next == nullptr) return;
    next();
    taken.store(at + 1, std::memory_order_release);
  }
}

void submit(work w) {
  const std::size_t at = put.load(std::memory_order_relaxed);
  while (at - taken.load(std::memory_order_acquire) == size) {
  }
  ring[at % size] = w;
  put.store(at + 1, std::memory_order_release);
}

void finish() {
  while (taken.load(std::memory_order_acquire) != put.load(std::memory_order_relaxed)) {
  }
}

double now_ns() {
  using namespace std::chrono;
  return duration<double, std::nano>(steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<long>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main() {
  std::thread server(serve);
  constexpr int burst = 500;
  std::vector<double> enqueue, through, sync;
  for (int r = 0; r < 201; ++r) {
    const double begin = now_ns();
    for (int i = 0; i < burst; ++i) submit(nothing);
    const double issued = now_ns();
    finish();
    enqueue.push_back((issued - begin) / burst);
    through.push_back((now_ns() - begin) / burst);
  }
  for (int r = 0; r < 5001; ++r) {
    const double begin = now_ns();
    submit(nothing);
    finish();
    sync.push_back(now_ns() - begin);
  }
  submit(nullptr);
  server.join();
  std::printf("enqueue\t%.1f\nend to end\t%.1f\nlaunch and synchronize\t%.1f\n", median(enqueue),
              median(through), median(sync));
}
