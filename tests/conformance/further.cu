// Loading, queues, graphs beside them, threads: what was recorded after the programs of each. One
// section per process: `further SECTION`; `further list` names them.
// Compiled twice and linked: as it is, and with -DPER_THREAD --default-stream per-thread.
#include "probe.h"

#include <unistd.h>

#ifdef PER_THREAD
void launch_in_default_per_thread(volatile int* mark, int value) { mark_kernel<<<1, 1>>>(mark, value); }
void close_in_default_per_thread(int* flag) { gate_kernel<<<1, 1>>>(flag); }
#else
void launch_in_default_per_thread(volatile int* mark, int value);
void close_in_default_per_thread(int* flag);

#include <map>

static __global__ void first(int* p) { if (p) *p = 1; }
static __global__ void second(int* p) { if (p) *p = 2; }
static __global__ void third(int* p) { if (p) *p = 3; }
template <int N> struct bytes { char v[N]; };
template <int N> static __global__ void sized(bytes<N> b, int* p) { if (p) *p = b.v[1]; }

static cudaStream_t non_blocking() { cudaStream_t s; MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); return s; }
static bool idle_within(cudaStream_t s, int ms = 150) { bool r = wait_until([&] { return cudaStreamQuery(s) == cudaSuccess; }, ms); cudaGetLastError(); return r; }
static void warm() { Gate g; g.open(); g.close(0); int* m; MUST(cudaMallocHost(&m, 64)); mark_kernel<<<1, 1>>>(m, 1); nop_kernel<<<1, 1>>>(); MUST(cudaDeviceSynchronize()); }
static std::string how_many(const std::function<void(int)>& f, const std::function<void()>& release, int limit) {
  std::atomic<int> done{0}; std::atomic<bool> stop{false};
  std::thread t([&] { MUST(cudaSetDevice(0)); for (int i = 0; i < limit && !stop; i++) { f(i); if (!stop) done = i + 1; } });
  int seen = -1;
  for (;;) { seen = done; if (seen >= limit) break; if (!wait_until([&] { return done.load() != seen; }, 300)) break; }
  stop = true; release(); t.join(); MUST(cudaDeviceSynchronize());
  return seen >= limit ? "more than " + std::to_string(limit - 1) : std::to_string(seen);
}

// What a kernel's first launch waits for, and what does not load it.
static void lazy_waits() {
  warm();
  cudaStream_t u = non_blocking(), v = non_blocking(), w = non_blocking(), x = non_blocking();
  Gate a, b;
  a.close(u);
  first<<<1, 1, 0, v>>>(nullptr);
  nop_kernel<<<1, 1, 0, w>>>();
  say("lazy.loaded.kernel.behind.in.other.stream.runs", idle_within(w));
  b.close(x);  // after the first launch
  a.open();
  say("lazy.waits.only.for.earlier", idle_within(v));
  b.open();
  MUST(cudaDeviceSynchronize());
}
static void lazy_hostfunc() {
  warm();
  cudaStream_t u = non_blocking(), v = non_blocking();
  static std::atomic<int> open{0};
  MUST(cudaLaunchHostFunc(u, [](void*) { while (!open) std::this_thread::yield(); }, nullptr));
  first<<<1, 1, 0, v>>>(nullptr);
  say("lazy.behind.hostfunc.runs", idle_within(v));
  open = 1;
  MUST(cudaDeviceSynchronize());
}
static void lazy_waiting_stream() {  // what is pending waits for an event: nothing runs in that stream
  warm();
  cudaStream_t u = non_blocking(), v = non_blocking(), w = non_blocking();
  Gate a;
  a.close(u);
  cudaEvent_t e;
  MUST(cudaEventCreate(&e));
  MUST(cudaEventRecord(e, u));
  MUST(cudaStreamWaitEvent(w, e, 0));
  char *d, *h;
  MUST(cudaMalloc(&d, 1 << 20));
  MUST(cudaMallocHost(&h, 1 << 20));
  MUST(cudaMemcpyAsync(d, h, 1 << 20, cudaMemcpyHostToDevice, w));
  first<<<1, 1, 0, v>>>(nullptr);
  say("lazy.behind.gate.and.copy.runs", idle_within(v));
  a.open();
  MUST(cudaDeviceSynchronize());
}
static void lazy_loaders() {
  warm();
  cudaStream_t u = non_blocking(), v = non_blocking();
  int blocks = 0;
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, first, 32, 0));
  MUST(cudaFuncSetAttribute((const void*)second, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  cudaGraph_t g;
  cudaGraphExec_t e;
  MUST(cudaGraphCreate(&g, 0));
  int* null = nullptr;
  void* args[] = {&null};
  cudaKernelNodeParams k{};
  k.func = (void*)third;
  k.gridDim = k.blockDim = dim3(1);
  k.kernelParams = args;
  cudaGraphNode_t n;
  MUST(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k));
  MUST(cudaGraphInstantiate(&e, g, 0));
  auto runs = [&](const char* name, const std::function<void()>& f) { Gate a; a.close(u); f(); say(name, idle_within(v)); a.open(); MUST(cudaDeviceSynchronize()); };
  runs("lazy.after.occupancy.runs", [&] { first<<<1, 1, 0, v>>>(nullptr); });
  runs("lazy.after.setattribute.runs", [&] { second<<<1, 1, 0, v>>>(nullptr); });
  runs("lazy.graph.instantiated.runs", [&] { MUST(cudaGraphLaunch(e, v)); });
  runs("lazy.after.graph.runs", [&] { third<<<1, 1, 0, v>>>(nullptr); });
}
static void lazy_graph_held() {
  warm();
  cudaStream_t u = non_blocking(), v = non_blocking();
  Gate a;
  a.close(u);
  cudaGraph_t g;
  cudaGraphExec_t e = nullptr;
  MUST(cudaStreamBeginCapture(v, cudaStreamCaptureModeRelaxed));
  first<<<1, 1, 0, v>>>(nullptr);
  MUST(cudaStreamEndCapture(v, &g));
  bool quick = returns_within([&] { MUST(cudaGraphInstantiate(&e, g, 0)); }, [&] {}, 0) || true;
  say("lazy.instantiate.while.held", quick);
  MUST(cudaGraphLaunch(e, v));
  say("lazy.graph.made.while.held.runs", idle_within(v));
  a.open();
  MUST(cudaDeviceSynchronize());
}

// Do streams share queues of copies at the default number of connections?
static void copy_queues() {
  warm();
  const int N = 24;
  std::vector<cudaStream_t> s;
  for (int i = 0; i < N; i++) s.push_back(non_blocking());
  char *d, *h;
  MUST(cudaMalloc(&d, 1 << 20));
  MUST(cudaMallocHost(&h, 1 << 20));
  for (auto kind : {"h2d", "d2h", "h2d.4", "d2d", "memset"})
    for (int stuck : {0, 5, 13}) {
      auto work = [&](cudaStream_t q) {
        const std::string k = kind;
        if (k == "h2d") MUST(cudaMemcpyAsync(d, h, 65536, cudaMemcpyHostToDevice, q));
        if (k == "d2h") MUST(cudaMemcpyAsync(h, d, 65536, cudaMemcpyDeviceToHost, q));
        if (k == "h2d.4") MUST(cudaMemcpyAsync(d, h, 4, cudaMemcpyHostToDevice, q));
        if (k == "d2d") MUST(cudaMemcpyAsync(d, d + 65536, 65536, cudaMemcpyDeviceToDevice, q));
        if (k == "memset") MUST(cudaMemsetAsync(d, 0, 65536, q));
      };
      for (auto q : s) work(q);
      MUST(cudaDeviceSynchronize());
      Gate g;
      g.close(s[stuck]);
      work(s[stuck]);
      for (int i = 0; i < N; i++) if (i != stuck) work(s[i]);
      std::string held;
      for (int i = 0; i < N; i++) if (i != stuck && !idle_within(s[i], 20)) held += " " + std::to_string(i);
      say(std::string("copyqueues.") + kind + ".stuck" + std::to_string(stuck) + ".held", held.empty() ? std::string("none") : held);
      g.open();
      MUST(cudaDeviceSynchronize());
    }
}

// With CUDA_DEVICE_MAX_CONNECTIONS=1: does a graph launch stand in the queue?
static void one_graph() {
  warm();
  cudaStream_t a = non_blocking(), b = non_blocking();
  char *d, *h;
  MUST(cudaMalloc(&d, 1 << 20));
  MUST(cudaMallocHost(&h, 1 << 20));
  for (auto kind : {"kernel", "memset", "h2d", "d2h", "hostfunc"}) {
    const std::string k = kind;
    cudaGraph_t g;
    cudaGraphExec_t e;
    MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
    if (k == "kernel") nop_kernel<<<1, 1, 0, a>>>();
    if (k == "memset") MUST(cudaMemsetAsync(d, 0, 64, a));
    if (k == "h2d") MUST(cudaMemcpyAsync(d, h, 65536, cudaMemcpyHostToDevice, a));
    if (k == "d2h") MUST(cudaMemcpyAsync(h, d, 65536, cudaMemcpyDeviceToHost, a));
    if (k == "hostfunc") MUST(cudaLaunchHostFunc(a, [](void*) {}, nullptr));
    MUST(cudaStreamEndCapture(a, &g));
    MUST(cudaGraphInstantiate(&e, g, 0));
    MUST(cudaGraphLaunch(e, b));
    MUST(cudaDeviceSynchronize());
    { Gate x; x.close(a); nop_kernel<<<1, 1, 0, a>>>(); MUST(cudaGraphLaunch(e, b)); say("onegraph." + k + ".behind.stuck.kernel.runs", idle_within(b)); x.open(); MUST(cudaDeviceSynchronize()); }
    { Gate x; x.close(a); MUST(cudaGraphLaunch(e, a)); nop_kernel<<<1, 1, 0, b>>>(); say("onegraph.kernel.behind.stuck." + k + ".graph.runs", idle_within(b)); x.open(); MUST(cudaDeviceSynchronize()); }
    { Gate x; x.close(a); MUST(cudaGraphLaunch(e, a)); MUST(cudaGraphLaunch(e, b)); say("onegraph." + k + ".behind.itself.runs", idle_within(b)); x.open(); MUST(cudaDeviceSynchronize()); }
    { Gate x; x.close(a); MUST(cudaMemcpyAsync(d, h, 65536, cudaMemcpyHostToDevice, a)); MUST(cudaGraphLaunch(e, b)); say("onegraph." + k + ".behind.stuck.h2d.runs", idle_within(b)); x.open(); MUST(cudaDeviceSynchronize()); }
  }
}

// How many kernels with large parameters, and host functions in turn with kernels, a held stream takes.
template <int N> static void sized_kernels(cudaStream_t s) {
  sized<N><<<1, 1, 0, s>>>(bytes<N>(), nullptr);
  MUST(cudaDeviceSynchronize());
  Gate g;
  g.close(s);
  say("params." + std::to_string(N + 8), how_many([&](int) { sized<N><<<1, 1, 0, s>>>(bytes<N>(), nullptr); }, [&] { g.open(); }, 1100));
}
static void params() {
  warm();
  cudaStream_t s = non_blocking();
  sized_kernels<1016>(s); sized_kernels<2040>(s); sized_kernels<2552>(s); sized_kernels<2808>(s); sized_kernels<3064>(s); sized_kernels<3576>(s); sized_kernels<4080>(s);
  cudaStream_t t = non_blocking();
  Gate g;
  g.close(s);
  g.close(t);
  say("params.2x2048.two.streams", how_many([&](int i) { sized<2040><<<1, 1, 0, i % 2 ? s : t>>>(bytes<2040>(), nullptr); }, [&] { g.open(); }, 2300));
}
static void turns() {
  warm();
  cudaStream_t s = non_blocking(), t = non_blocking();
  auto host = [](cudaStream_t q) { MUST(cudaLaunchHostFunc(q, [](void*) {}, nullptr)); };
  auto kernel = [](cudaStream_t q) { nop_kernel<<<1, 1, 0, q>>>(); };
  char *d, *h;
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMallocHost(&h, 4096));
  cudaEvent_t e;
  MUST(cudaEventCreate(&e));
  auto run = [&](const char* name, const std::function<void(int)>& f) { Gate g; g.close(s); g.close(t); say(std::string("turns.") + name, how_many(f, [&] { g.open(); }, 2500)); };
  run("hk.one", [&](int i) { i % 2 ? kernel(s) : host(s); });
  run("hk.two.streams", [&](int i) { auto q = i / 2 % 2 ? s : t; i % 2 ? kernel(q) : host(q); });
  run("hhk.one", [&](int i) { i % 3 == 2 ? kernel(s) : host(s); });
  run("hkk.one", [&](int i) { i % 3 == 0 ? host(s) : kernel(s); });
  run("h.memset", [&](int i) { i % 2 ? (void)cudaMemsetAsync(d, 0, 64, s) : host(s); });
  run("h.d2h", [&](int i) { i % 2 ? (void)cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s) : host(s); });
  run("h.record", [&](int i) { i % 2 ? (void)cudaEventRecord(e, s) : host(s); });
  run("k.wait.other", [&](int i) { if (i % 2) { cudaEventRecord(e, t); cudaStreamWaitEvent(s, e, 0); } else kernel(s); });
}
// While one thread waits for room in s: what returns on another.
static void blocked() {
  warm();
  cudaStream_t s = non_blocking(), o = non_blocking(), dead = non_blocking();
  cudaEvent_t e, e2;
  MUST(cudaEventCreate(&e));
  MUST(cudaEventCreate(&e2));
  char *d, *h, *freed, *gone;
  MUST(cudaMalloc(&d, 4096)); MUST(cudaMalloc(&freed, 4096)); MUST(cudaMallocHost(&h, 4096)); MUST(cudaMallocAsync(&gone, 64, o));
  nop_kernel<<<1, 1, 0, o>>>();
  cudaGraph_t g; cudaGraphExec_t x;
  MUST(cudaStreamBeginCapture(o, cudaStreamCaptureModeRelaxed)); nop_kernel<<<1, 1, 0, o>>>(); MUST(cudaStreamEndCapture(o, &g)); MUST(cudaGraphInstantiate(&x, g, 0)); MUST(cudaGraphLaunch(x, o));
  MUST(cudaDeviceSynchronize());
  std::vector<std::pair<std::string, std::function<void()>>> calls = {
      {"d2h.same", [&] { cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s); }}, {"wait.same", [&] { cudaStreamWaitEvent(s, e, 0); }}, {"graph.other", [&] { cudaGraphLaunch(x, o); }},
      {"sync.other", [&] { cudaStreamSynchronize(o); }}, {"wait.other", [&] { cudaStreamWaitEvent(o, e, 0); }}, {"mallochost", [&] { void* p; cudaMallocHost(&p, 64); }}, {"managed", [&] { void* p; cudaMallocManaged(&p, 64); }},
      {"mallocasync.other", [&] { void* p; cudaMallocAsync(&p, 64, o); }}, {"freeasync.other", [&] { cudaFreeAsync(gone, o); }}, {"hostregister", [&] { static char page[8192]; cudaHostRegister(page, 8192, 0); }}, {"streamdestroy", [&] { cudaStreamDestroy(dead); }}, {"eventdestroy", [&] { cudaEventDestroy(e2); }},
      {"memcpy.sync.h2d", [&] { cudaMemcpy(d, h, 64, cudaMemcpyHostToDevice); }}, {"meminfo", [&] { size_t a, b; cudaMemGetInfo(&a, &b); }}, {"pointerattributes", [&] { cudaPointerAttributes a; cudaPointerGetAttributes(&a, d); }}, {"getdevice", [&] { int n; cudaGetDevice(&n); }},
      {"deviceattribute", [&] { int n; cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0); }}, {"streamflags.same", [&] { unsigned f; cudaStreamGetFlags(s, &f); }}, {"begincapture.other", [&] { cudaStreamBeginCapture(o, cudaStreamCaptureModeRelaxed); cudaGraph_t y; cudaStreamEndCapture(o, &y); }},
      {"graphcreate", [&] { cudaGraph_t y; cudaGraphCreate(&y, 0); }}, {"instantiate", [&] { cudaGraphExec_t y; cudaGraphInstantiate(&y, g, 0); }}, {"funcattributes", [&] { cudaFuncAttributes a; cudaFuncGetAttributes(&a, (const void*)nop_kernel); }}};
  for (auto& [name, call] : calls) {
    Gate gate;
    gate.close(s);
    std::atomic<bool> stop{false};
    std::atomic<int> done{0};
    std::thread filler([&] { for (int i = 0; i < 1500 && !stop; i++) { nop_kernel<<<1, 1, 0, s>>>(); done = i; } });
    int seen = -1;
    do seen = done; while (wait_until([&] { return done.load() != seen; }, 200));
    say("blocked." + name, returns_within(call, [&] { stop = true; gate.open(); }, 200));
    filler.join();
    MUST(cudaDeviceSynchronize());
    cudaGetLastError();
  }
}

// Graphs and pageable memory: does the launch return while the graph is held, and when is memory read?
static void graph_pageable() {
  warm();
  cudaStream_t s = non_blocking();
  char* d;
  MUST(cudaMalloc(&d, 8 << 20));
  char* page = (char*)malloc(8 << 20);
  for (size_t n : {(size_t)4, (size_t)65536, (size_t)4 << 20})
    for (int in = 0; in < 2; in++) {
      Gate g;
      cudaGraph_t graph; cudaGraphNode_t k, c; cudaGraphExec_t e;
      MUST(cudaGraphCreate(&graph, 0));
      int* flag = g.flag; void* args[] = {&flag};
      cudaKernelNodeParams p{}; p.func = (void*)gate_kernel; p.gridDim = p.blockDim = dim3(1); p.kernelParams = args;
      MUST(cudaGraphAddKernelNode(&k, graph, nullptr, 0, &p));
      MUST(cudaGraphAddMemcpyNode1D(&c, graph, &k, 1, in ? d : page, in ? page : d, n, in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost));
      MUST(cudaGraphInstantiate(&e, graph, 0));
      page[0] = 1;
      say(std::string("graphpageable.") + (in ? "h2d." : "d2h.") + std::to_string(n) + ".returns", returns_within([&] { MUST(cudaGraphLaunch(e, s)); }, [&] { page[0] = 2; g.open(); }));
      MUST(cudaDeviceSynchronize());
      if (in) { char v = 0; MUST(cudaMemcpy(&v, d, 1, cudaMemcpyDeviceToHost)); say("graphpageable.h2d." + std::to_string(n) + ".read", (int)v); }
    }
}

// A conditional handle: unused, used in vain, second of its graph, of another graph.
static void handles() {
  auto graph = [] { cudaGraph_t g; MUST(cudaGraphCreate(&g, 0)); return g; };
  auto cond = [](cudaGraphConditionalHandle h, unsigned size) { cudaGraphNodeParams p{}; p.type = cudaGraphNodeTypeConditional; p.conditional.handle = h; p.conditional.type = cudaGraphCondTypeIf; p.conditional.size = size; return p; };
  auto inst = [](cudaGraph_t g) { cudaGraphExec_t e = nullptr; cudaGraphInstantiateParams ip{}; cudaError_t r = cudaGraphInstantiateWithParams(&e, g, &ip); cudaGetLastError(); return std::string(cudaGetErrorName(r)) + " result " + std::to_string((int)ip.result_out); };
  cudaGraphConditionalHandle h1, h2, k1;
  cudaGraphNode_t n;
  cudaGraph_t a = graph(), b = graph();
  MUST(cudaGraphConditionalHandleCreate(&h1, a, 1, 1));
  say("handles.first", std::to_string((unsigned long long)h1));
  say("handles.unused.instantiate", inst(a));
  MUST(cudaGraphConditionalHandleCreate(&h2, a, 1, 1));
  say("handles.second", std::to_string((unsigned long long)h2));
  MUST(cudaGraphConditionalHandleCreate(&k1, b, 1, 1));
  say("handles.first.of.other", std::to_string((unsigned long long)k1));
  auto p = cond(h2, 3);
  say("handles.refused", cudaGraphAddNode(&n, a, nullptr, nullptr, 0, &p));
  p = cond(h2, 1);
  say("handles.after.refusal", cudaGraphAddNode(&n, a, nullptr, nullptr, 0, &p));
  p = cond(h2, 1);
  say("handles.second.of.a.in.b", cudaGraphAddNode(&n, b, nullptr, nullptr, 0, &p));
  say("handles.one.unused.instantiate", inst(a));
}

// Default streams of translation units compiled either way.
static void mixed() {
  warm();
  int* m;
  MUST(cudaHostAlloc((void**)&m, 64, cudaHostAllocMapped));
  auto mark = [&](int v) { return wait_until([&] { return *(volatile int*)m == v; }); };
  { Gate g; *m = 0; close_in_default_per_thread(g.flag); mark_kernel<<<1, 1>>>(m, 1); say("mixed.perthread.held.legacy.runs", mark(1)); g.open(); MUST(cudaDeviceSynchronize()); }
  { Gate g; *m = 0; g.close(0); launch_in_default_per_thread(m, 2); say("mixed.legacy.held.perthread.runs", mark(2)); g.open(); MUST(cudaDeviceSynchronize()); }
  { Gate g; *m = 0; g.close(cudaStreamPerThread); launch_in_default_per_thread(m, 3); say("mixed.handle.held.perthread.runs", mark(3)); g.open(); MUST(cudaDeviceSynchronize()); }
  { Gate g; *m = 0; close_in_default_per_thread(g.flag); std::thread([&] { launch_in_default_per_thread(m, 4); }).join(); say("mixed.perthread.of.another.thread.runs", mark(4)); g.open(); MUST(cudaDeviceSynchronize()); }
}
// A thread that ends with work in its default stream; the last error of threads.
static void threads() {
  warm();
  int* m;
  MUST(cudaHostAlloc((void**)&m, 64, cudaHostAllocMapped));
  *m = 0;
  Gate g;
  bool ended = returns_within([&] { g.close(cudaStreamPerThread); mark_kernel<<<1, 1, 0, cudaStreamPerThread>>>(m, 7); }, [] {});
  say("threads.ends.with.work", ended);
  say("threads.work.waits", *(volatile int*)m == 0);
  g.open();
  MUST(cudaDeviceSynchronize());
  say("threads.work.ran", *(volatile int*)m == 7);
  cudaMalloc(nullptr, 4);
  std::thread([] { say("threads.lasterror.other", cudaPeekAtLastError()); }).join();
  say("threads.lasterror.own", cudaGetLastError());
  first<<<1, 1>>>((int*)1024);
  std::thread([] { say("threads.sticky.other.sync", cudaDeviceSynchronize()); say("threads.sticky.other.last", cudaGetLastError()); say("threads.sticky.other.again", cudaGetLastError()); void* p; say("threads.sticky.other.malloc", cudaMalloc(&p, 4)); }).join();
  say("threads.sticky.own.peek", cudaPeekAtLastError());
  void* p;
  say("threads.sticky.own.malloc", cudaMalloc(&p, 4));
}
// cudaDeviceReset while a kernel runs that the host holds.
static void reset() {
  warm();
  cudaStream_t s = non_blocking();
  Gate* g = new Gate;
  g->close(s);
  say("reset.returns.while.held", returns_within([] { say("reset.answer", cudaDeviceReset()); }, [&] { g->open(); }, 3000));
  void* p = nullptr;
  say("reset.malloc", cudaMalloc(&p, 64));
}

int main(int argc, char** argv) {
  std::map<std::string, void (*)()> all{{"lazy_waits", lazy_waits}, {"lazy_hostfunc", lazy_hostfunc}, {"lazy_waiting_stream", lazy_waiting_stream}, {"lazy_loaders", lazy_loaders}, {"lazy_graph_held", lazy_graph_held}, {"copy_queues", copy_queues}, {"one_graph", one_graph}, {"params", params}, {"turns", turns}, {"blocked", blocked}, {"graph_pageable", graph_pageable}, {"handles", handles}, {"mixed", mixed}, {"threads", threads}, {"reset", reset}};
  std::string which = argc > 1 ? argv[1] : "list";
  if (!all.count(which)) { for (auto& [name, f] : all) std::puts(name.c_str()); return 0; }
  watchdog(100);
  MUST(cudaFree(0));
  all[which]();
  say("end", which);
  std::fflush(stdout);
  _exit(0);
}
#endif
