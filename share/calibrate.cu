// Measures a GPU and prints a profile of it: `key = value` lines, as docs/devices.md describes
// them. `streambed device calibrate` compiles and runs this; by hand: nvcc -O2 -std=c++17
// calibrate.cu.
//
// Each number is measured by itself, in the order in which later ones need earlier ones. All of it
// is medians of some runs; the whole takes less than half a minute. With the argument `quick` rates
// are measured with less work, for devices that are slow.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using clk = std::chrono::steady_clock;
using action = std::function<void()>;
constexpr std::size_t kib = 1024, mib = 1024 * kib;

#define MUST(call) must((call), #call)
void must(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "calibrate: %s: %s\n", what, cudaGetErrorString(e));
  std::exit(3);
}

// --- kernels

__global__ void nop() {}
__global__ void gate_kernel(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void wait_cycles(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
__global__ void touch(float4* a, std::size_t n) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const float4 v = a[i];
  a[i] = make_float4(v.x + 1, v.y + 1, v.z + 1, v.w + 1);
}
__global__ void one_chain(float* out, int reps, float factor, float impossible) {
  float x = threadIdx.x;
  for (int r = 0; r < reps; ++r) x = x * factor + 0.5f;
  if (x == impossible) *out = x;
}
__global__ void hardly_anything(float* out, int never) {
  if (never) *out = 1;
}
// Eight chains, so that latency does not count. What could be known not to happen is an argument.
template <class T>
__global__ void multiply_add(T* out, int reps, T factor, T impossible) {
  const T half = static_cast<T>(0.5);
  T a = static_cast<T>(threadIdx.x), b = a + 1, c = a + 2, d = a + 3;
  T e = a + 4, f = a + 5, g = a + 6, h = a + 7;
  for (int r = 0; r < reps; ++r) {
    a = a * factor + half, b = b * factor + half, c = c * factor + half, d = d * factor + half;
    e = e * factor + half, f = f * factor + half, g = g * factor + half, h = h * factor + half;
  }
  if (a + b + c + d + e + f + g + h == impossible) *out = a;
}
__global__ void one_by_roots(float* out, int reps, float impossible) {
  float x = 1.5f + threadIdx.x, y = x + 1, z = x + 2, w = x + 3;
  for (int r = 0; r < reps; ++r)
    x = rsqrtf(x + 1), y = rsqrtf(y + 1), z = rsqrtf(z + 1), w = rsqrtf(w + 1);
  if (x + y + z + w == impossible) *out = x;
}
__global__ void shared_reads(float* out, int reps) {
  __shared__ volatile float a[256];
  a[threadIdx.x] = threadIdx.x;
  __syncthreads();
  float sum = 0;
  for (int r = 0; r < reps; ++r) sum += a[threadIdx.x ^ (r & 31)];
  if (sum == -1.0f) *out = sum;
}
// Each in a sector of its own.
__global__ void atomic_adds(int* a, int reps) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < reps; ++r) atomicAdd(a + ((i + r * 4096u) * 8 & 0xffffffu), 1);
}
// All at one address, which the compiler does not know.
template <class T>
__global__ void meeting_adds(T* a, const int* zeros, int reps) {
  T* const at = a + zeros[threadIdx.x];
  for (int r = 0; r < reps; ++r) atomicAdd(at, static_cast<T>(r));
}
__global__ void barriers(int reps) {
  for (int r = 0; r < reps; ++r) __syncthreads();
}
void CUDART_CB host_function(void*) {}

// --- ways to measure, in nanoseconds

double ns_since(clk::time_point begin) {
  return std::chrono::duration<double, std::nano>(clk::now() - begin).count();
}

double median(int n, const std::function<double()>& f) {
  std::vector<double> v;
  for (int i = 0; i < n; ++i) v.push_back(f());
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

// What one call costs the host, out of 200 into an idle device.
double burst(const action& f) {
  return median(15, [&] {
    MUST(cudaDeviceSynchronize());
    const auto begin = clk::now();
    for (int i = 0; i < 200; ++i) f();
    const double ns = ns_since(begin) / 200;
    MUST(cudaDeviceSynchronize());
    return ns;
  });
}

// One call, with what has to be done before and after it.
double single(const action& before, const action& f, const action& after, int runs = 15) {
  return median(runs, [&] {
    before();
    MUST(cudaDeviceSynchronize());
    const auto begin = clk::now();
    f();
    const double ns = ns_since(begin);
    MUST(cudaDeviceSynchronize());
    after();
    return ns;
  });
}

// From an idle device to an idle stream.
double wall(cudaStream_t s, const action& f, int runs = 15) {
  return median(runs, [&] {
    MUST(cudaDeviceSynchronize());
    const auto begin = clk::now();
    f();
    MUST(cudaStreamSynchronize(s));
    return ns_since(begin);
  });
}

double between_events(cudaStream_t s, const action& f, int runs = 9) {
  cudaEvent_t a, b;
  MUST(cudaEventCreate(&a));
  MUST(cudaEventCreate(&b));
  const double ns = median(runs, [&] {
    MUST(cudaEventRecord(a, s));
    f();
    MUST(cudaEventRecord(b, s));
    MUST(cudaEventSynchronize(b));
    float ms = 0;
    MUST(cudaEventElapsedTime(&ms, a, b));
    return ms * 1e6;
  });
  MUST(cudaEventDestroy(a));
  MUST(cudaEventDestroy(b));
  return ns;
}

int* new_flag() {
  int* flag = nullptr;
  MUST(cudaHostAlloc(reinterpret_cast<void**>(&flag), 256, cudaHostAllocMapped));
  *flag = 0;
  return flag;
}

// The device's time for each of `count` rounds of f: a kernel holds the stream until all of them
// are there.
double chain(cudaStream_t s, int count, const action& f) {
  static int* const flag = new_flag();
  cudaEvent_t a, b;
  MUST(cudaEventCreate(&a));
  MUST(cudaEventCreate(&b));
  const double ns = median(9, [&] {
    *flag = 0;
    gate_kernel<<<1, 1, 0, s>>>(flag);
    MUST(cudaEventRecord(a, s));
    for (int i = 0; i < count; ++i) f();
    MUST(cudaEventRecord(b, s));
    *static_cast<volatile int*>(flag) = 1;
    MUST(cudaEventSynchronize(b));
    float ms = 0;
    MUST(cudaEventElapsedTime(&ms, a, b));
    return ms * 1e6 / count;
  });
  MUST(cudaEventDestroy(a));
  MUST(cudaEventDestroy(b));
  return ns;
}

// What one unit of work more takes: the difference between a size and twice that size.
double slope(double size, const std::function<double(double)>& ns_of) {
  return (ns_of(2 * size) - ns_of(size)) / size;
}

class calibration {
 public:
  explicit calibration(bool quick) : quick_(quick) {
    MUST(cudaGetDeviceProperties(&properties_, 0));
    MUST(cudaStreamCreateWithFlags(&s_, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&t_, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&plain_, cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&back_, cudaEventDisableTiming));
    MUST(cudaEventCreate(&timed_));
    MUST(cudaMalloc(reinterpret_cast<void**>(&device_), 64 * mib));
    MUST(cudaMallocHost(reinterpret_cast<void**>(&pinned_), 64 * mib));
    pageable_ = static_cast<char*>(std::malloc(32 * mib));
    std::memset(pinned_, 1, 64 * mib);
    std::memset(pageable_, 1, 32 * mib);
    for (int i = 0; i < 200; ++i) nop<<<1, 1, 0, s_>>>();
    MUST(cudaDeviceSynchronize());
  }

  void properties();
  void calls();
  void rare_calls();
  void latencies();
  void gaps();
  void graphs();
  void graph_shapes();
  void copies();
  void rates();

 private:
  double put(const std::string& key, double value) {
    value = std::max(value, 0.0);
    std::printf("%s = %.6g\n", key.c_str(), value);
    std::fflush(stdout);
    return of_[key] = value;
  }
  void put_call(std::initializer_list<const char*> names, double ns) {
    for (const char* name : names) put(std::string("call.") + name, ns);
  }
  double of(const std::string& key) const { return of_.at(key); }
  void attribute(const char* key, cudaDeviceAttr which, double least = 0) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, 0) != cudaSuccess) return;
    std::printf("%s = %.0f\n", key, std::max(least, static_cast<double>(value)));
  }
  void yes_or_no(const char* key, cudaDeviceAttr which) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess)
      std::printf("%s = %s\n", key, value != 0 ? "yes" : "no");
  }
  void copy_in(const char* from, std::size_t n) {
    MUST(cudaMemcpyAsync(device_, from, n, cudaMemcpyHostToDevice, s_));
  }
  void copy_out(char* to, std::size_t n) {
    MUST(cudaMemcpyAsync(to, device_, n, cudaMemcpyDeviceToHost, s_));
  }
  void copy_inside(std::size_t n) {
    MUST(cudaMemcpyAsync(device_ + 32 * mib, device_, n, cudaMemcpyDeviceToDevice, s_));
  }
  struct graph_life {
    double capture, clone, instantiate, first_launch, launch, update, destroy_exec, upload, destroy;
  };
  graph_life life_of(int nodes, const std::function<void(int)>& node);
  void link(const std::string& key, bool in);
  double per_ns(double size, double units, const std::function<void(int)>& launch);

  bool quick_;
  double first_graph_ = 0;  // to make it executable
  cudaDeviceProp properties_{};
  cudaStream_t s_, t_;
  cudaEvent_t plain_, back_, timed_;
  char *device_ = nullptr, *pinned_ = nullptr, *pageable_ = nullptr;
  std::map<std::string, double> of_;
};

void calibration::properties() {
  const cudaDeviceProp& p = properties_;
  std::printf("name = %s\n", p.name);
  std::printf("global_bytes = %zu\n", p.totalGlobalMem);
  std::printf("shared_per_block = %zu\n", p.sharedMemPerBlock);
  std::printf("max_grid = %d %d %d\n", p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]);
  int least = 0, greatest = 0;
  MUST(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  std::printf("least_priority = %d\ngreatest_priority = %d\n", least, greatest);
  attribute("compute_major", cudaDevAttrComputeCapabilityMajor);
  attribute("compute_minor", cudaDevAttrComputeCapabilityMinor);
  attribute("memory_clock_khz", cudaDevAttrMemoryClockRate, 1);
  attribute("memory_bus_bits", cudaDevAttrGlobalMemoryBusWidth, 1);
  attribute("l2_bytes", cudaDevAttrL2CacheSize);
  attribute("shared_per_block_optin", cudaDevAttrMaxSharedMemoryPerBlockOptin);
  attribute("reserved_shared_per_block", cudaDevAttrReservedSharedMemoryPerBlock);
  attribute("registers_per_block", cudaDevAttrMaxRegistersPerBlock);
  attribute("multiprocessors", cudaDevAttrMultiProcessorCount);
  attribute("clock_khz", cudaDevAttrClockRate, 1);
  attribute("threads_per_multiprocessor", cudaDevAttrMaxThreadsPerMultiProcessor);
  attribute("blocks_per_multiprocessor", cudaDevAttrMaxBlocksPerMultiprocessor);
  attribute("shared_per_multiprocessor", cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  attribute("registers_per_multiprocessor", cudaDevAttrMaxRegistersPerMultiprocessor);
  attribute("single_to_double_ratio", cudaDevAttrSingleToDoublePrecisionPerfRatio);
  attribute("copy_engines", cudaDevAttrAsyncEngineCount);
  yes_or_no("ecc", cudaDevAttrEccEnabled);
  yes_or_no("concurrent_kernels", cudaDevAttrConcurrentKernels);
  yes_or_no("stream_priorities", cudaDevAttrStreamPrioritiesSupported);
  yes_or_no("cooperative_launch", cudaDevAttrCooperativeLaunch);
}

void calibration::calls() {
  const double launch = burst([&] { nop<<<1, 1, 0, s_>>>(); });
  put_call({"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel"}, launch);
  bool other = false;
  put("other_stream_ns", burst([&] {
                           other = !other;
                           nop<<<1, 1, 0, other ? t_ : s_>>>();
                         }) - launch);
  const double record = burst([&] { cudaEventRecord(plain_, s_); });
  put_call({"cudaEventRecord", "cudaEventRecordWithFlags"}, record);
  put("timed_record_ns", burst([&] { cudaEventRecord(timed_, s_); }) - record);
  put_call({"cudaStreamWaitEvent"}, burst([&] {
                                      cudaEventRecord(plain_, s_);
                                      cudaStreamWaitEvent(t_, plain_, 0);
                                    }) - record);
  const double copy = burst([&] { copy_in(pinned_, 4); });
  put_call({"cudaMemcpyAsync", "cudaMemcpy"}, copy);
  put("inside_copy_ns", burst([&] { copy_inside(4); }) - copy);
  put_call({"cudaMemsetAsync", "cudaMemset"}, burst([&] { cudaMemsetAsync(device_, 0, 4, s_); }));
  put_call({"cudaLaunchHostFunc", "cudaStreamAddCallback"},
           burst([&] { cudaLaunchHostFunc(s_, host_function, nullptr); }));
  put_call({"cudaStreamQuery"}, burst([&] { cudaStreamQuery(s_); }));
  MUST(cudaEventRecord(plain_, s_));
  put_call({"cudaEventQuery"}, burst([&] { cudaEventQuery(plain_); }));
  int number = 0;
  put("call_ns", burst([&] { cudaStreamGetPriority(s_, &number); }));
  put_call({"cudaGetDevice"}, burst([&] { cudaGetDevice(&number); }));
  put_call({"cudaSetDevice"}, burst([] { cudaSetDevice(0); }));
  put_call({"cudaGetLastError", "cudaPeekAtLastError"}, burst([] { (void)cudaPeekAtLastError(); }));
}

void calibration::rare_calls() {
  const action nothing = [] {};
  void* p = nullptr;
  const action allocate = [&] { MUST(cudaMalloc(&p, mib)); };
  const action release = [&] { MUST(cudaFree(p)); };
  put_call({"cudaMalloc"}, single(nothing, allocate, release));
  put_call({"cudaFree"}, single(allocate, release, nothing));
  const action allocate_in_order = [&] { MUST(cudaMallocAsync(&p, 64 * kib, s_)); };
  const action release_in_order = [&] { MUST(cudaFreeAsync(p, s_)); };
  // As long as something is left in it, a pool keeps its memory.
  void* kept = nullptr;
  MUST(cudaMallocAsync(&kept, 64 * kib, s_));
  for (int i = 0; i < 5; ++i) {
    allocate_in_order();
    release_in_order();
  }
  put_call({"cudaMallocAsync"}, single(nothing, allocate_in_order, release_in_order));
  put_call({"cudaFreeAsync"}, single(allocate_in_order, release_in_order, nothing));
  MUST(cudaFreeAsync(kept, s_));
  // Otherwise it gets chunks of 32 MiB, one or two of them here, and gives them back when the host
  // has waited.
  const auto grow = [&](std::size_t bytes) {
    return single(nothing, [&] { MUST(cudaMallocAsync(&p, bytes, s_)); }, release_in_order);
  };
  const auto give_back = [&](std::size_t bytes) {
    return median(15, [&] {
      MUST(cudaDeviceSynchronize());
      MUST(cudaMallocAsync(&p, bytes, s_));
      MUST(cudaFreeAsync(p, s_));
      const auto begin = clk::now();
      MUST(cudaStreamSynchronize(s_));
      return ns_since(begin);
    });
  };
  const double one = grow(mib), two = grow(48 * mib);
  put("pool_chunk_ns", two - one);
  put("pool_grow_ns", 2 * one - two - of("call.cudaMallocAsync"));
  put("pool_return_ns", give_back(48 * mib) - give_back(mib));
  put_call({"cudaMallocManaged"},
           single(nothing, [&] { MUST(cudaMallocManaged(&p, mib)); }, release));

  const auto host = [&](double bytes) {
    return single(
        nothing, [&] { MUST(cudaMallocHost(&p, static_cast<std::size_t>(bytes))); },
        [&] { MUST(cudaFreeHost(p)); }, 9);
  };
  const double page_ns = slope(4.0 * mib, host);
  put("pin_bytes_per_ns", 1 / std::max(page_ns, 1e-6));
  put_call({"cudaMallocHost", "cudaHostAlloc"}, host(4.0 * mib) - page_ns * 4 * mib);
  const auto free_host = [&](double bytes) {
    return single([&] { MUST(cudaMallocHost(&p, static_cast<std::size_t>(bytes))); },
                  [&] { MUST(cudaFreeHost(p)); }, nothing, 9);
  };
  const double unpin_ns = slope(4.0 * mib, free_host);
  put("unpin_bytes_per_ns", 1 / std::max(unpin_ns, 1e-6));
  put_call({"cudaFreeHost"}, free_host(4.0 * mib) - unpin_ns * 4 * mib);
  const auto register_pages = [&](double bytes) {
    return single(
        nothing, [&] { MUST(cudaHostRegister(pageable_, static_cast<std::size_t>(bytes), 0)); },
        [&] { MUST(cudaHostUnregister(pageable_)); }, 9);
  };
  const double register_ns = slope(4.0 * mib, register_pages);
  put("register_bytes_per_ns", 1 / std::max(register_ns, 1e-6));
  put_call({"cudaHostRegister"}, register_pages(4.0 * mib) - register_ns * 4 * mib);

  cudaStream_t made = nullptr;
  const action create = [&] { MUST(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking)); };
  const action destroy = [&] { MUST(cudaStreamDestroy(made)); };
  put_call({"cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority"},
           single(nothing, create, destroy));
  put_call({"cudaStreamDestroy"}, single(create, destroy, nothing));
}

void calibration::latencies() {
  const double launch = of("call.cudaLaunchKernel");
  const double record = chain(s_, 1, [] {});
  put("record_ns", record);

  // A kernel and the gap after it cannot be told apart from outside; they are divided as on the
  // H200.
  const double period = chain(s_, 100, [&] { nop<<<1, 1, 0, s_>>>(); });
  put("kernel_ns", period * 550 / 1580);
  put("block_ns", period * 50 / 1580);
  put("kernel_gap_ns", period * 980 / 1580);
  const double kernel = of("kernel_ns") + of("block_ns");

  // Completion as a query sees it, and as a waiting call does.
  const double waited = wall(s_, [&] { nop<<<1, 1, 0, s_>>>(); }, 51);
  const double asked = median(51, [&] {
    MUST(cudaDeviceSynchronize());
    const auto begin = clk::now();
    nop<<<1, 1, 0, s_>>>();
    while (cudaStreamQuery(s_) == cudaErrorNotReady) {
    }
    return ns_since(begin);
  });
  put("wake_ns", waited - asked + of("call.cudaStreamQuery") / 2);
  put("kernel_submit_ns", waited - launch - kernel - of("wake_ns"));

  const auto held = [&](double cycles) {
    return wall(s_, [&] { wait_cycles<<<1, 32, 0, s_>>>(static_cast<long long>(cycles)); });
  };
  const double cycles = 200000;
  const double long_wait = held(cycles) - slope(cycles, held) * cycles;
  put("long_wake_ns", long_wait - launch - of("kernel_submit_ns") - kernel);

  const double copy = of("call.cudaMemcpyAsync");
  put("to_device.small_ns", between_events(s_, [&] { copy_in(pinned_, 4); }) - copy);
  put("to_host.small_ns", between_events(s_, [&] { copy_out(pinned_, 4); }) - copy);
  put("submit_ns",
      wall(s_, [&] { copy_in(pinned_, 4); }, 51) - copy - of("to_device.small_ns") - of("wake_ns"));

  const action call = [&] { MUST(cudaLaunchHostFunc(s_, host_function, nullptr)); };
  const double body = 100;  // what the model takes for one that does nothing
  // So many that the thread sleeps as deeply before the first of either.
  put("host_function_ns", 2 * chain(s_, 200, call) - chain(s_, 100, call) - body);
  put("host_function_idle_ns",
      wall(s_, call, 51) - of("call.cudaLaunchHostFunc") - of("submit_ns") - body - of("wake_ns"));
}

void calibration::gaps() {
  const double period = of("kernel_ns") + of("block_ns") + of("kernel_gap_ns");
  put("wait_gap_ns", chain(s_, 50,
                           [&] {
                             nop<<<1, 1, 0, s_>>>();
                             cudaEventRecord(plain_, s_);
                             cudaStreamWaitEvent(t_, plain_, 0);
                             nop<<<1, 1, 0, t_>>>();
                             cudaEventRecord(back_, t_);
                             cudaStreamWaitEvent(s_, back_, 0);
                           }) /
                             2 -
                         period);
  put("fill_ns",
      chain(s_, 50, [&] { cudaMemsetAsync(device_, 0, 4 * kib, s_); }) - of("kernel_gap_ns"));
  auto* const data = reinterpret_cast<float4*>(device_);
  // What it loads comes from the second cache, in a time that is not measured here: the H200's.
  const double load = 165;
  put("memory_latency_ns",
      chain(s_, 50, [&] { touch<<<1, 32, 0, s_>>>(data, 32); }) - period - load);

  // A graph of many nodes against one of few.
  const auto graph_of = [&](int nodes) {
    cudaGraph_t graph;
    cudaGraphExec_t made;
    MUST(cudaStreamBeginCapture(s_, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < nodes; ++i) nop<<<1, 1, 0, s_>>>();
    MUST(cudaStreamEndCapture(s_, &graph));
    const auto begin = clk::now();
    MUST(cudaGraphInstantiate(&made, graph, 0));
    if (nodes == 20) first_graph_ = ns_since(begin);
    MUST(cudaGraphDestroy(graph));
    return made;
  };
  const cudaGraphExec_t few = graph_of(20), many = graph_of(120);
  const auto launch = [&](cudaGraphExec_t g) { MUST(cudaGraphLaunch(g, s_)); };
  launch(few);
  launch(many);
  const double node =
      (wall(s_, [&] { launch(many); }, 31) - wall(s_, [&] { launch(few); }, 31)) / 100;
  put("graph_gap_ns", node - of("kernel_ns") - of("block_ns"));
  put_call({"cudaGraphLaunch"}, single([] {}, [&] { launch(few); }, [] {}, 31));
  MUST(cudaGraphExecDestroy(few));
  MUST(cudaGraphExecDestroy(many));
}

// What each call takes for a graph of so many nodes.
calibration::graph_life calibration::life_of(int nodes, const std::function<void(int)>& node) {
  std::vector<graph_life> lives;
  const auto time_of = [](const action& call) {
    const auto begin = clk::now();
    call();
    return ns_since(begin);
  };
  for (int run = 0; run < 10; ++run) {
    cudaGraph_t graph, copy;
    cudaGraphExec_t made;
    graph_life t{};
    const auto launch = [&] {
      MUST(cudaDeviceSynchronize());
      const double ns = time_of([&] { MUST(cudaGraphLaunch(made, s_)); });
      MUST(cudaDeviceSynchronize());
      return ns;
    };
    const auto instantiate = [&] { MUST(cudaGraphInstantiate(&made, graph, 0)); };
    MUST(cudaStreamBeginCapture(s_, cudaStreamCaptureModeGlobal));
    t.capture = time_of([&] {
      for (int i = 0; i < nodes; ++i) node(i);
    });
    MUST(cudaStreamEndCapture(s_, &graph));
    t.clone = time_of([&] { MUST(cudaGraphClone(&copy, graph)); });
    t.instantiate = time_of(instantiate);
    t.first_launch = launch();
    t.launch = launch();
    cudaGraphExecUpdateResultInfo info;
    t.update = time_of([&] { MUST(cudaGraphExecUpdate(made, copy, &info)); });
    t.destroy_exec = time_of([&] { MUST(cudaGraphExecDestroy(made)); });
    instantiate();
    t.upload = time_of([&] { MUST(cudaGraphUpload(made, s_)); });
    MUST(cudaDeviceSynchronize());
    MUST(cudaGraphExecDestroy(made));
    MUST(cudaGraphDestroy(copy));
    t.destroy = time_of([&] { MUST(cudaGraphDestroy(graph)); });
    if (run > 0) lives.push_back(t);
  }
  const auto middle = [&](double graph_life::* which) {
    std::vector<double> all;
    for (const graph_life& t : lives) all.push_back(t.*which);
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  };
  return {middle(&graph_life::capture),      middle(&graph_life::clone),
          middle(&graph_life::instantiate),  middle(&graph_life::first_launch),
          middle(&graph_life::launch),       middle(&graph_life::update),
          middle(&graph_life::destroy_exec), middle(&graph_life::upload),
          middle(&graph_life::destroy)};
}

// What calls of graphs cost the host: those of many nodes against those of few.
void calibration::graphs() {
  const int few = 4, many = 84;
  struct both {
    graph_life few, many;
  };
  const auto lives = [&](const std::function<void(int)>& node) {
    return both{life_of(few, node), life_of(many, node)};
  };
  const auto each = [&](const both& t, double graph_life::* call) {
    return (t.many.*call - t.few.*call) / (many - few);
  };
  const auto kernel = [&](int) { nop<<<1, 1, 0, s_>>>(); };
  const auto copy = [&](int) { copy_in(pinned_, 4 * kib); };
  const both kernels = lives(kernel), copies = lives(copy);
  const both fills = lives([&](int) { MUST(cudaMemsetAsync(device_, 0, 4 * kib, s_)); });
  const both hosts = lives([&](int) { MUST(cudaLaunchHostFunc(s_, host_function, nullptr)); });
  const both turns = lives([&](int i) { i % 2 == 0 ? kernel(i) : copy(i); });

  const auto node = [&](const char* key, const both& t, double graph_life::* call) {
    return put(std::string("node.") + key, each(t, call));
  };
  const auto call = [&](std::initializer_list<const char*> names, double graph_life::* which) {
    put_call(names, kernels.few.*which - few * each(kernels, which));
  };
  put("captured_call_ns", each(kernels, &graph_life::capture));
  node("instantiate_ns", copies, &graph_life::instantiate);
  const double made = node("instantiate_kernel_ns", kernels, &graph_life::instantiate);
  call({"cudaGraphInstantiate", "cudaGraphInstantiateWithFlags", "cudaGraphInstantiateWithParams"},
       &graph_life::instantiate);
  put("first_graph_ns", first_graph_ - of("call.cudaGraphInstantiate") - 20 * made);
  node("upload_ns", copies, &graph_life::upload);
  node("upload_kernel_ns", kernels, &graph_life::first_launch);
  call({"cudaGraphUpload"}, &graph_life::upload);
  const double copied = node("launch_copy_ns", copies, &graph_life::launch);
  node("launch_fill_ns", fills, &graph_life::launch);
  node("launch_host_ns", hosts, &graph_life::launch);
  put("node.launch_turn_ns", 2 * each(turns, &graph_life::launch) - copied);
  node("update_ns", kernels, &graph_life::update);
  call({"cudaGraphExecUpdate"}, &graph_life::update);
  node("clone_ns", kernels, &graph_life::clone);
  call({"cudaGraphClone"}, &graph_life::clone);
  node("destroy_ns", kernels, &graph_life::destroy);
  call({"cudaGraphDestroy"}, &graph_life::destroy);
  node("destroy_exec_ns", kernels, &graph_life::destroy_exec);
  call({"cudaGraphExecDestroy"}, &graph_life::destroy_exec);
}

// How the nodes of a graph depend on each other: `firsts` that wait for nothing, `behind` the first
// of them, and one that waits for all of these.
void calibration::graph_shapes() {
  struct shape {
    int firsts, behind;
    bool joined;
  };
  const auto graph_of = [&](const shape& what) {
    cudaGraph_t graph;
    cudaGraphExec_t made;
    MUST(cudaGraphCreate(&graph, 0));
    const auto add = [&](const std::vector<cudaGraphNode_t>& after) {
      cudaGraphNode_t node;
      cudaKernelNodeParams params{};
      params.func = reinterpret_cast<void*>(nop);
      params.gridDim = params.blockDim = dim3(1);
      MUST(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
      return node;
    };
    std::vector<cudaGraphNode_t> all;
    for (int i = 0; i < what.firsts; ++i) all.push_back(add({}));
    for (int i = 0; i < what.behind; ++i) all.push_back(add({all.front()}));
    if (what.joined) add(all);
    MUST(cudaGraphInstantiate(&made, graph, 0));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphLaunch(made, s_));
    return made;
  };
  // By the device's time, and the call's.
  const auto times_of = [&](const shape& what) {
    const cudaGraphExec_t made = graph_of(what);
    const auto launch = [&] { MUST(cudaGraphLaunch(made, s_)); };
    const std::pair<double, double> times{chain(s_, 1, launch), single([] {}, launch, [] {}, 31)};
    MUST(cudaGraphExecDestroy(made));
    return times;
  };
  const double one_call = times_of({1, 0, false}).second;
  const double eight_call = times_of({8, 0, false}).second;
  put("node.launch_first_ns", (eight_call - one_call) / 7);
  // One that waits for all is what their ends are for here: many of them take their time, too.
  const double spread =
      put("graph_spread_ns", (times_of({1, 32, true}).first - times_of({1, 2, true}).first) / 30);
  // Four groups of two, of which the first is late by half as much again.
  const double two = times_of({2, 0, true}).first, eight = times_of({8, 0, true}).first;
  put("graph_turn_ns", (eight - two - 6 * spread) / 4.5);
  const double joined = two - times_of({2, 0, false}).first;
  put("graph_join_ns", joined - of("kernel_ns") - of("block_ns") - of("graph_gap_ns"));
}

// One direction between host and device.
void calibration::link(const std::string& key, bool in) {
  const auto copy = [&](char* host, std::size_t n) { in ? copy_in(host, n) : copy_out(host, n); };
  const double call = of("call.cudaMemcpyAsync");
  const auto pinned = [&](double n) {
    return between_events(s_, [&] { copy(pinned_, static_cast<std::size_t>(n)); });
  };
  const double byte = slope(16.0 * mib, pinned);
  put(key + ".pinned_bytes_per_ns", 1 / byte);
  put(key + ".pinned_ns", pinned(64.0 * kib) - call - 64 * kib * byte);

  const auto paged = [&](double n) {
    return wall(s_, [&] { copy(pageable_, static_cast<std::size_t>(n)); });
  };
  const double paged_byte = slope(8.0 * mib, paged);
  put(key + ".pageable_bytes_per_ns", 1 / paged_byte);
  // Copies to the device of up to 2 MiB go by way of the driver's own memory: another rate.
  const double small = in ? 4.0 * mib : 64.0 * kib;
  const double rest = paged(small) - call - of("submit_ns") - of("long_wake_ns");
  put(key + ".pageable_ns", std::min(rest - small * paged_byte, 50000.0));
}

void calibration::copies() {
  const auto staged = [&](double n) {
    return single([] {}, [&] { copy_in(pageable_, static_cast<std::size_t>(n)); }, [] {});
  };
  put("stage_bytes_per_ns", 1 / slope(512.0 * kib, staged));
  link("to_device", true);
  link("to_host", false);

  const std::size_t n = 32 * mib;
  const double moving = n / of("to_device.pinned_bytes_per_ns");
  const double alone = wall(s_, [&] { copy_in(pinned_, n); });
  const double both = median(9, [&] {
    MUST(cudaDeviceSynchronize());
    const auto begin = clk::now();
    copy_in(pinned_, n);
    MUST(cudaMemcpyAsync(pinned_ + n, device_ + n, n, cudaMemcpyDeviceToHost, t_));
    MUST(cudaDeviceSynchronize());
    return ns_since(begin);
  });
  put("both_directions", std::min(1.0, moving / (both - (alone - moving))));

  const std::size_t some = 64 * kib;
  const double one = of("to_device.pinned_ns") + some / of("to_device.pinned_bytes_per_ns");
  const double kernel = of("kernel_ns") + of("block_ns");
  const auto to_and_fro = [&] {
    return chain(s_, 20, [&] {
      copy_in(pinned_, some);
      nop<<<1, 1, 0, s_>>>();
    });
  };
  const double undisturbed = to_and_fro();
  put("engine_gap_ns", (undisturbed - one - kernel) / 2);
  // The same while another stream has a copy that cannot begin.
  int* const later = new_flag();
  gate_kernel<<<1, 1, 0, t_>>>(later);
  MUST(cudaMemcpyAsync(device_ + mib, pinned_ + mib, some, cudaMemcpyHostToDevice, t_));
  put("copy_look_ns", to_and_fro() - undisturbed);
  *static_cast<volatile int*>(later) = 1;
  MUST(cudaDeviceSynchronize());
  // Copies in turns on five streams against as many on one. With more streams than there are queues
  // of copies, here four, each copy is of another stream than the one before; with fewer, a device
  // copies all of a stream first.
  std::vector<cudaStream_t> five{s_, t_};
  for (int i = 0; i < 3; ++i)
    MUST(cudaStreamCreateWithFlags(&five.emplace_back(), cudaStreamNonBlocking));
  const auto copies = [&](const std::vector<cudaStream_t>& streams, std::size_t count) {
    return chain(s_, 1, [&] {
      MUST(cudaEventRecord(plain_, s_));
      for (const cudaStream_t one : streams) MUST(cudaStreamWaitEvent(one, plain_, 0));
      for (std::size_t i = 0; i < count; ++i)
        MUST(cudaMemcpyAsync(device_ + i % 2 * mib, pinned_ + i % 2 * mib, some,
                             cudaMemcpyHostToDevice, streams[i % streams.size()]));
      for (const cudaStream_t one : streams) {
        MUST(cudaEventRecord(back_, one));
        MUST(cudaStreamWaitEvent(s_, back_, 0));
      }
    });
  };
  const auto each = [&](const std::vector<cudaStream_t>& streams) {
    constexpr std::size_t some_copies = 20;
    return (copies(streams, 2 * some_copies) - copies(streams, some_copies)) / some_copies;
  };
  put("copy_switch_ns", each(five) - each({s_}));
  for (std::size_t i = 2; i < five.size(); ++i) MUST(cudaStreamDestroy(five[i]));

  put("copy_inside_ns", between_events(s_, [&] { copy_inside(4); }) - of("call.cudaMemcpyAsync") -
                            of("inside_copy_ns"));
}

// Operations per nanosecond; `launch` does `units` of them on the whole device for each round.
double calibration::per_ns(double rounds, double units, const std::function<void(int)>& launch) {
  if (quick_) rounds = std::max(4.0, rounds / 64);
  const double ns = slope(rounds, [&](double n) {
    return between_events(s_, [&] { launch(static_cast<int>(n)); }, 5);
  });
  return units / std::max(ns, 1e-9);
}

void calibration::rates() {
  // More than any cache holds.
  const std::size_t bytes = (quick_ ? 320 : 1024) * mib;
  char* large = nullptr;
  MUST(cudaMalloc(reinterpret_cast<void**>(&large), bytes));
  auto* const data = reinterpret_cast<float*>(large);
  auto* const vectors = reinterpret_cast<float4*>(large);
  put("memory_bytes_per_ns", 1 / slope(bytes / 2.0, [&](double n) {
                               const auto count = static_cast<std::size_t>(n / sizeof(float4));
                               const auto blocks = static_cast<unsigned>(count / 256);
                               return between_events(
                                   s_, [&] { touch<<<blocks, 256, 0, s_>>>(vectors, count); }, 5);
                             }) * 2);
  put("copy_bytes_per_ns",
      2 / slope(bytes / 4.0, [&](double n) {
        const auto count = static_cast<std::size_t>(n);
        return between_events(
            s_,
            [&] {
              MUST(cudaMemcpyAsync(large + bytes / 2, large, count, cudaMemcpyDeviceToDevice, s_));
            },
            5);
      }));

  const int blocks = 8 * properties_.multiProcessorCount;
  const double threads = 256.0 * blocks;
  auto* const wide = reinterpret_cast<double*>(large);
  put("fp32_per_ns", per_ns(4096, threads * 16, [&](int n) {
        multiply_add<float><<<blocks, 256, 0, s_>>>(data, n, 1.0001f, -1.0f);
      }));
  put("fp64_per_ns", per_ns(1024, threads * 16, [&](int n) {
        multiply_add<double><<<blocks, 256, 0, s_>>>(wide, n, 1.0001, -1.0);
      }));
  put("special_per_ns", per_ns(1024, threads * 4, [&](int n) {
        one_by_roots<<<blocks, 256, 0, s_>>>(data, n, -1.0f);
      }));
  put("step_ns",
      1 / per_ns(16384, 1, [&](int n) { one_chain<<<1, 32, 0, s_>>>(data, n, 1.0001f, -1.0f); }));
  put("blocks_per_ns",
      per_ns(1 << 21, 1, [&](int n) { hardly_anything<<<n, 32, 0, s_>>>(data, 0); }));
  // Blocks of which a multiprocessor has few: one after the other in each place.
  const int places =
      properties_.multiProcessorCount * (properties_.maxThreadsPerMultiProcessor / 1024);
  put("block_turn_ns",
      places / per_ns(1 << 18, 1, [&](int n) { hardly_anything<<<n, 1024, 0, s_>>>(data, 0); }));
  put("shared_bytes_per_ns",
      per_ns(4096, threads * 4, [&](int n) { shared_reads<<<blocks, 256, 0, s_>>>(data, n); }));
  put("atomics_per_ns", per_ns(256, threads, [&](int n) {
        atomic_adds<<<blocks, 256, 0, s_>>>(reinterpret_cast<int*>(large), n);
      }));
  auto* const zeros = reinterpret_cast<int*>(large);
  MUST(cudaMemset(zeros, 0, 4096));
  put("address_atomics_per_ns", per_ns(64, threads, [&](int n) {
        meeting_adds<<<blocks, 256, 0, s_>>>(zeros + 1024, zeros, n);
      }));
  put("address_float_atomics_per_ns", per_ns(64, threads, [&](int n) {
        meeting_adds<<<blocks, 256, 0, s_>>>(data + 1024, zeros, n);
      }));
  put("barrier_ns", 1 / per_ns(1024, 1, [&](int n) { barriers<<<1, 64, 0, s_>>>(n); }));
  MUST(cudaFree(large));
}

}  // namespace

int main(int count, char** arguments) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "calibrate: there is no GPU here\n");
    return 4;
  }
  MUST(cudaFree(nullptr));
  calibration c(count > 1 && std::strcmp(arguments[1], "quick") == 0);
  c.properties();
  c.calls();
  c.rare_calls();
  c.latencies();
  c.gaps();
  c.graphs();
  c.graph_shapes();
  c.copies();
  c.rates();
}
