// What calls, copies and kernels cost, and what overlaps with what. Prints `key<TAB>microseconds`.
// It was recorded on an H200 (h200/timing.tsv); compare.py runs it on the virtual one.
//
// Little arithmetic and few bytes, so that a processor goes through it in seconds. Each figure is
// the median of several.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using clk = std::chrono::steady_clock;
constexpr std::size_t mebibyte = std::size_t{1} << 20;

#define MUST(call) must((call), #call, __LINE__)
void must(cudaError_t e, const char* what, int line) {
  if (e == cudaSuccess) return;
  std::printf("FATAL\t%s line %d: %s\n", what, line, cudaGetErrorName(e));
  std::fflush(stdout);
  std::exit(3);
}

void say(const std::string& key, double value) {
  std::printf("%s\t%.3f\n", key.c_str(), value);
  std::fflush(stdout);
}

double us(clk::time_point a, clk::time_point b) {
  return std::chrono::duration<double, std::micro>(b - a).count();
}

template <class F>
double median(int n, F f) {
  std::vector<double> v;
  for (int i = 0; i < n; ++i) v.push_back(f());
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

__global__ void nop_kernel() {}
__global__ void gate_kernel(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void sleep_kernel(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
__global__ void busy_kernel(float* a, std::size_t n, int reps) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  float x = a[i];
  for (int r = 0; r < reps; ++r) x = x * 1.0001f + 0.5f;
  a[i] = x;
}
__global__ void wave_kernel(float* a, int offset) {
  const int i = offset + threadIdx.x + blockIdx.x * blockDim.x;
  const float x = static_cast<float>(i);
  const float s = sinf(x);
  const float c = cosf(x);
  a[i] = a[i] + sqrtf(s * s + c * c);
}

// Holds a stream until the host opens it, so that the host is not the limit.
class gate {
 public:
  gate() {
    MUST(cudaHostAlloc(reinterpret_cast<void**>(&flag_), 64 * sizeof(int), cudaHostAllocMapped));
    *flag_ = 0;
  }
  ~gate() { cudaFreeHost(flag_); }
  void close(cudaStream_t s) { gate_kernel<<<1, 1, 0, s>>>(flag_); }
  void open() { *static_cast<volatile int*>(flag_) = 1; }

 private:
  int* flag_ = nullptr;
};

class streams {
 public:
  explicit streams(int count, unsigned flags) : all_(static_cast<std::size_t>(count)) {
    for (cudaStream_t& s : all_) MUST(cudaStreamCreateWithFlags(&s, flags));
  }
  ~streams() {
    for (cudaStream_t s : all_) cudaStreamDestroy(s);
  }
  cudaStream_t operator[](int i) const { return all_[static_cast<std::size_t>(i)]; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<cudaStream_t> all_;
};

// From an idle device to an idle device, by the host's clock.
double wall(const std::function<void()>& f) {
  MUST(cudaDeviceSynchronize());
  const auto begin = clk::now();
  f();
  MUST(cudaDeviceSynchronize());
  return us(begin, clk::now());
}

// Between two events around the work.
double between_events(cudaStream_t s, const std::function<void()>& f) {
  static cudaEvent_t a = nullptr, b = nullptr;
  if (a == nullptr) {
    MUST(cudaEventCreate(&a));
    MUST(cudaEventCreate(&b));
  }
  MUST(cudaEventRecord(a, s));
  f();
  MUST(cudaEventRecord(b, s));
  MUST(cudaEventSynchronize(b));
  float ms = 0;
  MUST(cudaEventElapsedTime(&ms, a, b));
  return ms * 1000.0;
}

void CUDART_CB host_function(void*) {}

class timing {
 public:
  timing() {
    MUST(cudaStreamCreateWithFlags(&s_, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&t_, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&e_, cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&e2_, cudaEventDisableTiming));
    MUST(cudaEventCreate(&timed_));
    for (int i = 0; i < 200; ++i) nop_kernel<<<1, 1, 0, s_>>>();
    MUST(cudaDeviceSynchronize());
    pageable_ = static_cast<char*>(std::malloc(32 * mebibyte));
    MUST(cudaMalloc(reinterpret_cast<void**>(&device_), 64 * mebibyte));
    MUST(cudaMallocHost(reinterpret_cast<void**>(&pinned_), 64 * mebibyte));
    std::memset(pageable_, 1, 32 * mebibyte);
    std::memset(pinned_, 1, 64 * mebibyte);
  }

  void calls();
  void chains();
  void copies();
  void sleeps();
  void small_sleeps();
  void issue_orders();
  void three_way_overlap();
  void arithmetic();
  void graph();
  void priorities();
  void gradient_hook();

 private:
  template <class F>
  void burst(const char* name, F f) {
    say(std::string("host_us.") + name, median(31, [&] {
          MUST(cudaDeviceSynchronize());
          const auto begin = clk::now();
          for (int i = 0; i < 200; ++i) f();
          return us(begin, clk::now()) / 200;
        }));
    MUST(cudaDeviceSynchronize());
  }

  template <class F>
  void chain(const char* name, int count, F f) {
    say(std::string("dev_us.") + name, median(11, [&] {
          gate g;
          g.close(s_);
          cudaEvent_t a, b;
          cudaEventCreate(&a);
          cudaEventCreate(&b);
          cudaEventRecord(a, s_);
          for (int i = 0; i < count; ++i) f();
          cudaEventRecord(b, s_);
          g.open();
          MUST(cudaEventSynchronize(b));
          float ms = 0;
          MUST(cudaEventElapsedTime(&ms, a, b));
          cudaEventDestroy(a);
          cudaEventDestroy(b);
          MUST(cudaDeviceSynchronize());
          return ms * 1000.0 / count;
        }));
  }

  void to_device(const void* from, std::size_t bytes, cudaStream_t s) {
    cudaMemcpyAsync(device_, from, bytes, cudaMemcpyHostToDevice, s);
  }
  void to_host(void* to, std::size_t bytes, cudaStream_t s) {
    cudaMemcpyAsync(to, device_, bytes, cudaMemcpyDeviceToHost, s);
  }
  // `to` comes after what `from` has so far.
  static void follow(cudaStream_t from, cudaStream_t to, cudaEvent_t e) {
    cudaEventRecord(e, from);
    cudaStreamWaitEvent(to, e, 0);
  }

  cudaStream_t s_, t_;
  cudaEvent_t e_, e2_, timed_;
  char *device_ = nullptr, *pinned_ = nullptr, *pageable_ = nullptr;
};

// What the host pays: bursts of 200 into an idle stream, and calls up to their completion.
void timing::calls() {
  burst("kernel", [&] { nop_kernel<<<1, 1, 0, s_>>>(); });
  burst("kernel_null", [&] { nop_kernel<<<1, 1>>>(); });
  burst("record", [&] { cudaEventRecord(e_, s_); });
  burst("record_timed", [&] { cudaEventRecord(timed_, s_); });
  burst("record_wait", [&] { follow(s_, t_, e_); });
  burst("memcpyasync4_h2d", [&] { to_device(pinned_, 4, s_); });
  burst("memsetasync", [&] { cudaMemsetAsync(device_, 0, 4, s_); });
  burst("hostfunc", [&] { cudaLaunchHostFunc(s_, host_function, nullptr); });
  burst("query", [&] { cudaStreamQuery(s_); });
  burst("mallocasync_freeasync", [&] {
    void* p;
    cudaMallocAsync(&p, 1 << 16, s_);
    cudaFreeAsync(p, s_);
  });
  say("wall_us.kernel_sync", median(101, [&] {
        const auto begin = clk::now();
        nop_kernel<<<1, 1, 0, s_>>>();
        cudaStreamSynchronize(s_);
        return us(begin, clk::now());
      }));
  say("wall_us.hostfunc_sync", median(101, [&] {
        const auto begin = clk::now();
        cudaLaunchHostFunc(s_, host_function, nullptr);
        cudaStreamSynchronize(s_);
        return us(begin, clk::now());
      }));
  say("wall_us.cudaMalloc1M", median(21, [&] {
        void* p;
        const auto begin = clk::now();
        cudaMalloc(&p, mebibyte);
        const auto end = clk::now();
        cudaFree(p);
        return us(begin, end);
      }));
  say("wall_us.cudaMallocHost1M", median(21, [&] {
        void* p;
        const auto begin = clk::now();
        cudaMallocHost(&p, mebibyte);
        const auto end = clk::now();
        cudaFreeHost(p);
        return us(begin, end);
      }));
}

// What the device takes for each of many operations in a stream.
void timing::chains() {
  chain("empty_pair_of_events", 1, [] {});
  chain("kernel_chain", 100, [&] { nop_kernel<<<1, 1, 0, s_>>>(); });
  chain("pingpong_two_streams", 50, [&] {
    nop_kernel<<<1, 1, 0, s_>>>();
    follow(s_, t_, e_);
    nop_kernel<<<1, 1, 0, t_>>>();
    follow(t_, s_, e2_);
  });
  chain("hostfunc_chain", 50, [&] { cudaLaunchHostFunc(s_, host_function, nullptr); });
  chain("memset4K", 50, [&] { cudaMemsetAsync(device_, 0, 4096, s_); });
}

void timing::copies() {
  char* const other = device_ + 32 * mebibyte;
  for (const std::size_t n : {std::size_t{4}, std::size_t{4096}, std::size_t{65536}, mebibyte,
                              4 * mebibyte, 32 * mebibyte}) {
    const std::string size = std::to_string(n);
    const auto events = [&](const std::string& key, const std::function<void()>& f) {
      say("copy_us." + key + "." + size, median(9, [&] { return between_events(s_, f); }));
    };
    const auto walls = [&](const std::string& key, const std::function<void()>& f) {
      say("copy_wall_us." + key + "." + size, median(9, [&] { return wall(f); }));
    };
    events("h2d.pinned", [&] { to_device(pinned_, n, s_); });
    events("d2h.pinned", [&] { to_host(pinned_, n, s_); });
    events("d2d", [&] { cudaMemcpyAsync(other, device_, n, cudaMemcpyDeviceToDevice, s_); });
    walls("h2d.pageable", [&] { to_device(pageable_, n, s_); });
    walls("d2h.pageable", [&] { to_host(pageable_, n, s_); });
    walls("h2d.pinned", [&] { to_device(pinned_, n, s_); });
  }
  say("copy_wall_us.both.32M", median(5, [&] {
        return wall([&] {
          to_device(pinned_, 32 * mebibyte, s_);
          cudaMemcpyAsync(pinned_ + 32 * mebibyte, other, 32 * mebibyte, cudaMemcpyDeviceToHost,
                          t_);
        });
      }));
  say("copy_wall_us.two_h2d.16M", median(5, [&] {
        return wall([&] {
          to_device(pinned_, 16 * mebibyte, s_);
          cudaMemcpyAsync(other, pinned_ + 32 * mebibyte, 16 * mebibyte, cudaMemcpyHostToDevice,
                          t_);
        });
      }));
}

// Copy in, wait, copy out; `count` times in one stream, and each in a stream of its own.
void timing::sleeps() {
  const int width = 1024, side = 16;
  const std::size_t bytes = std::size_t{width} * width * 4;
  const dim3 block(side, side), grid(width / side, width / side);
  for (const bool pinned : {false, true}) {
    char* const host = pinned ? pinned_ : pageable_;
    for (const long cycles : {1000L, 10000L, 100000L}) {
      for (const int count : {1, 4, 8}) {
        const streams v(count, cudaStreamDefault);
        const auto run = [&](bool multi) {
          return median(5, [&] {
            return wall([&] {
              for (int i = 0; i < count; ++i) {
                const cudaStream_t q = v[multi ? i : 0];
                to_device(host, bytes, q);
                sleep_kernel<<<grid, block, 0, q>>>(cycles);
                to_host(host, bytes, q);
              }
            });
          });
        };
        const std::string key = std::string(pinned ? "pinned" : "pageable") + ".it" +
                                std::to_string(cycles) + ".n" + std::to_string(count);
        say("sleep_us.single." + key, run(false));
        say("sleep_us.multi." + key, run(true));
      }
    }
  }
}

// Kernels of one block, each in a stream of its own.
void timing::small_sleeps() {
  for (const int count : {1, 2, 4, 8, 16, 32, 64, 128}) {
    const streams v(count, cudaStreamNonBlocking);
    say("smallsleep_us.1block.n" + std::to_string(count), median(5, [&] {
          return wall([&] {
            for (const cudaStream_t q : v) sleep_kernel<<<1, 32, 0, q>>>(2000000);
          });
        }));
  }
}

// Copy, kernel, copy on four streams: stream after stream (v1), or kind after kind (v2).
void timing::issue_orders() {
  constexpr int threads = 256, count = 4, n = 1024 * threads * count, part = n / count;
  const std::size_t bytes = std::size_t{n} * 4, part_bytes = bytes / count;
  auto* const host = reinterpret_cast<float*>(pinned_);
  auto* const dev = reinterpret_cast<float*>(device_);
  std::memset(host, 0, bytes);
  const streams v(count, cudaStreamDefault);
  const auto in = [&](int i) {
    cudaMemcpyAsync(dev + i * part, host + i * part, part_bytes, cudaMemcpyHostToDevice, v[i]);
  };
  const auto work = [&](int i) {
    wave_kernel<<<part / threads, threads, 0, v[i]>>>(dev, i * part);
  };
  const auto out = [&](int i) {
    cudaMemcpyAsync(host + i * part, dev + i * part, part_bytes, cudaMemcpyDeviceToHost, v[i]);
  };
  say("blog_us.sequential", median(9, [&] {
        return wall([&] {
          cudaMemcpy(dev, host, bytes, cudaMemcpyHostToDevice);
          wave_kernel<<<n / threads, threads>>>(dev, 0);
          cudaMemcpy(host, dev, bytes, cudaMemcpyDeviceToHost);
        });
      }));
  say("blog_us.v1", median(9, [&] {
        return wall([&] {
          for (int i = 0; i < count; ++i) {
            in(i);
            work(i);
            out(i);
          }
        });
      }));
  say("blog_us.v2", median(9, [&] {
        return wall([&] {
          for (int i = 0; i < count; ++i) in(i);
          for (int i = 0; i < count; ++i) work(i);
          for (int i = 0; i < count; ++i) out(i);
        });
      }));
}

// 32 MiB each way and a kernel that waits as long as a copy takes, in chunks.
void timing::three_way_overlap() {
  constexpr std::size_t n = 8 * mebibyte;
  constexpr long cycles = 1150000;
  auto* const host = reinterpret_cast<float*>(pinned_);
  auto* const dev = reinterpret_cast<float*>(device_);
  for (const int chunks : {1, 2, 4, 8, 16, 32}) {
    for (const int count : {1, 2, 3, 4}) {
      const streams v(count, cudaStreamNonBlocking);
      const std::size_t c = n / static_cast<std::size_t>(chunks);
      say("three_us.chunks" + std::to_string(chunks) + ".streams" + std::to_string(count),
          median(5, [&] {
            return wall([&] {
              for (int i = 0; i < chunks; ++i) {
                const cudaStream_t q = v[i % count];
                const std::size_t o = static_cast<std::size_t>(i) * c;
                cudaMemcpyAsync(dev + o, host + o, c * 4, cudaMemcpyHostToDevice, q);
                sleep_kernel<<<132, 256, 0, q>>>(cycles / chunks);
                cudaMemcpyAsync(host + o, dev + o, c * 4, cudaMemcpyDeviceToHost, q);
              }
            });
          }));
    }
  }
}

// Kernels whose time follows from their work.
void timing::arithmetic() {
  auto* const data = reinterpret_cast<float*>(device_);
  for (const int reps : {1, 16, 64}) {
    for (const std::size_t n : {std::size_t{65536}, mebibyte, 4 * mebibyte}) {
      say("busy_us.reps" + std::to_string(reps) + ".n" + std::to_string(n), median(5, [&] {
            return wall([&] {
              busy_kernel<<<static_cast<unsigned>(n / 256), 256, 0, s_>>>(data, n, reps);
            });
          }));
    }
  }
}

// A chain of 20 short kernels, launched one by one and as a graph.
void timing::graph() {
  const auto chain_of_20 = [&] {
    for (int i = 0; i < 20; ++i) nop_kernel<<<1, 1, 0, s_>>>();
  };
  cudaGraph_t g;
  cudaGraphExec_t x;
  MUST(cudaStreamBeginCapture(s_, cudaStreamCaptureModeGlobal));
  chain_of_20();
  MUST(cudaStreamEndCapture(s_, &g));
  MUST(cudaGraphInstantiate(&x, g, 0));
  cudaGraphLaunch(x, s_);
  say("chain20_us.stream", median(51, [&] { return wall(chain_of_20); }));
  say("chain20_us.graph", median(51, [&] { return wall([&] { cudaGraphLaunch(x, s_); }); }));
  say("chain20_us.graph_host", median(51, [&] {
        MUST(cudaDeviceSynchronize());
        const auto begin = clk::now();
        cudaGraphLaunch(x, s_);
        return us(begin, clk::now());
      }));
}

// A device full of blocks, and then a small kernel of the same priority or of a higher one.
void timing::priorities() {
  cudaStream_t low, same, high;
  MUST(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, 0));
  MUST(cudaStreamCreateWithPriority(&same, cudaStreamNonBlocking, 0));
  MUST(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, -5));
  for (const auto& [name, stream] : {std::make_pair("same", same), std::make_pair("high", high)}) {
    const cudaStream_t q = stream;
    say(std::string("prio_us.small_after_full.") + name, median(5, [&] {
          cudaEvent_t done;
          cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
          MUST(cudaDeviceSynchronize());
          const auto begin = clk::now();
          sleep_kernel<<<132 * 2 * 8, 1024, 0, low>>>(200000);
          sleep_kernel<<<1, 32, 0, q>>>(1000);
          cudaEventRecord(done, q);
          MUST(cudaEventSynchronize(done));
          const double t = us(begin, clk::now());
          MUST(cudaDeviceSynchronize());
          cudaEventDestroy(done);
          return t;
        }));
  }
}

// A backward pass of 8 layers, each followed by a hook: communication, and one kernel more.
void timing::gradient_hook() {
  const auto layer = [](cudaStream_t q) { sleep_kernel<<<8, 128, 0, q>>>(1000000); };
  const auto communicate = [](cudaStream_t q) { sleep_kernel<<<4, 128, 0, q>>>(900000); };
  const auto hook = [](cudaStream_t q) { sleep_kernel<<<4, 128, 0, q>>>(100000); };
  const auto eight = [](const std::function<void()>& f) {
    return median(5, [&] {
      return wall([&] {
        for (int i = 0; i < 8; ++i) f();
      });
    });
  };
  say("hook_us.backward_only", eight([&] { layer(s_); }));
  say("hook_us.same_stream", eight([&] {
        layer(s_);
        follow(s_, t_, e_);
        communicate(t_);
        follow(t_, s_, e2_);
        hook(s_);
      }));
  say("hook_us.own_stream", eight([&] {
        layer(s_);
        follow(s_, t_, e_);
        communicate(t_);
        hook(t_);
      }));
}

}  // namespace

int main() {
  MUST(cudaFree(nullptr));
  timing t;
  t.calls();
  t.chains();
  t.copies();
  t.sleeps();
  t.small_sleeps();
  t.issue_orders();
  t.three_way_overlap();
  t.arithmetic();
  t.graph();
  t.priorities();
  t.gradient_hook();
  std::printf("end\tok\n");
}
