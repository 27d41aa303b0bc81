// Several host threads that call at the same time.
#include <functional>
#include <thread>

#include "unseen/measure.h"

namespace {

/// Threads that begin together: from there until the last of them is done.
double together(int count, const std::function<void(int)>& work) {
  const auto begin = clk::now() + std::chrono::milliseconds(2);
  std::vector<clk::time_point> ends(count);
  std::vector<std::thread> all;
  for (int t = 0; t < count; ++t)
    all.emplace_back([&, t] {
      MUST(cudaSetDevice(0));
      std::this_thread::sleep_until(begin - std::chrono::microseconds(200));
      while (clk::now() < begin) {
      }
      work(t);
      ends[t] = clk::now();
    });
  for (auto& one : all) one.join();
  return microseconds(begin, *std::max_element(ends.begin(), ends.end()));
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  const streams s(8);
  void *pinned, *device;
  MUST(cudaMallocHost(&pinned, mib));
  MUST(cudaMalloc(&device, mib));
  std::vector<cudaEvent_t> events(8);
  for (auto& e : events) MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  for (const int count : {1, 2, 3, 4, 6, 8}) {
    const std::string n = ".t" + std::to_string(count);
    for (const int each : {10, 40, 200})
      told("launch" + n + ".x" + std::to_string(each), [&] {
        MUST(cudaDeviceSynchronize());
        return together(count, [&](int t) {
          for (int i = 0; i < each; ++i) nothing<<<1, 1, 0, s[t]>>>();
        });
      });
    told("launch_and_wait" + n + ".x40", [&] {
      return together(count, [&](int t) {
        for (int i = 0; i < 40; ++i) nothing<<<1, 1, 0, s[t]>>>();
        MUST(cudaStreamSynchronize(s[t]));
      });
    });
    told("wait_each" + n + ".x40", [&] {
      return together(count, [&](int t) {
        for (int i = 0; i < 40; ++i) {
          nothing<<<1, 1, 0, s[t]>>>();
          MUST(cudaStreamSynchronize(s[t]));
        }
      });
    });
    told("one_stream" + n + ".x40", [&] {
      MUST(cudaDeviceSynchronize());
      return together(count, [&](int) {
        for (int i = 0; i < 40; ++i) nothing<<<1, 1, 0, s[0]>>>();
      });
    });
    told("copies" + n + ".x40", [&] {
      MUST(cudaDeviceSynchronize());
      return together(count, [&](int t) {
        for (int i = 0; i < 40; ++i)
          MUST(cudaMemcpyAsync(static_cast<char*>(device) + t * 4096,
                               static_cast<char*>(pinned) + t * 4096, 4096, cudaMemcpyHostToDevice,
                               s[t]));
      });
    });
    told("records" + n + ".x40", [&] {
      MUST(cudaDeviceSynchronize());
      return together(count, [&](int t) {
        for (int i = 0; i < 40; ++i) MUST(cudaEventRecord(events[t], s[t]));
      });
    });
    told("queries" + n + ".x40", [&] {
      MUST(cudaDeviceSynchronize());
      return together(count, [&](int t) {
        for (int i = 0; i < 40; ++i) MUST(cudaStreamQuery(s[t]));
      });
    });
    told("mixed" + n + ".x20", [&] {
      MUST(cudaDeviceSynchronize());
      return together(count, [&](int t) {
        for (int i = 0; i < 20; ++i) {
          MUST(cudaMemcpyAsync(static_cast<char*>(device) + t * 4096,
                               static_cast<char*>(pinned) + t * 4096, 4096, cudaMemcpyHostToDevice,
                               s[t]));
          nothing<<<1, 1, 0, s[t]>>>();
          MUST(cudaEventRecord(events[t], s[t]));
        }
      });
    });
    told("pool" + n + ".x40", [&] {
      MUST(cudaDeviceSynchronize());
      return together(count, [&](int t) {
        for (int i = 0; i < 40; ++i) {
          void* p;
          MUST(cudaMallocAsync(&p, 1024, s[t]));
          MUST(cudaFreeAsync(p, s[t]));
        }
      });
    });
    // Kernels that take longer than the calls: nothing of the host's shows.
    told("long" + n + ".x10", [&] {
      MUST(cudaDeviceSynchronize());
      return together(count, [&](int t) {
        for (int i = 0; i < 10; ++i) wait_cycles<<<1, 1, 0, s[t]>>>(100 * microsecond);
        MUST(cudaStreamSynchronize(s[t]));
      });
    });
  }
  return end();
}
