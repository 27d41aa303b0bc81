// Parts of graphs, waits within host functions, questions asked of a captured stream, and what is
// left of things from before a reset. One section per process: `parts SECTION`; `parts list` names
// them. Uses of old streams and graphs crash NVIDIA's driver and are not in the suite.
#include "probe.h"

#include <cuda_profiler_api.h>

#include <unistd.h>
#include <cstring>
#include <map>

__device__ int device_word;
static __global__ void bad_kernel(int* p) { *p = 1; }
static __global__ void gate_then(volatile int* gate, int* p) {
  while (*gate == 0) {
  }
  if (p) *p = 1;
}
static __global__ void add_one(int* p) { atomicAdd(p, 1); }

static cudaStream_t non_blocking() {
  cudaStream_t s;
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}
static cudaStream_t blocking() {
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  return s;
}
static cudaEvent_t event(unsigned flags = cudaEventDisableTiming) {
  cudaEvent_t e;
  MUST(cudaEventCreateWithFlags(&e, flags));
  return e;
}
static void ask(const std::string& name, cudaError_t r) {
  say(name, r);
  cudaGetLastError();
}
static bool idle_within(cudaStream_t s, int ms = 150) {
  bool r = wait_until([&] { return cudaStreamQuery(s) == cudaSuccess; }, ms);
  cudaGetLastError();
  return r;
}
static int* host_words() {
  int* m;
  MUST(cudaHostAlloc((void**)&m, 4096, cudaHostAllocMapped));
  memset(m, 0, 4096);
  return m;
}
static bool shows(int* m, int v, int ms = 150) {
  return wait_until([&] { return *(volatile int*)m == v; }, ms);
}
static void all_done() { MUST(cudaDeviceSynchronize()); }
static void warm() {
  Gate g;
  g.open();
  g.close(0);
  int* m = host_words();
  mark_kernel<<<1, 1>>>(m, 1);
  nop_kernel<<<1, 1>>>();
  int* d;
  MUST(cudaMalloc(&d, 64));
  add_one<<<1, 1>>>(d);
  gate_then<<<1, 1>>>(g.flag, d);
  bad_kernel<<<1, 1>>>(d);
  MUST(cudaDeviceSynchronize());
}
struct Blocker {
  std::atomic<int> open{0}, entered{0};
  static void CUDART_CB run(void* p) {
    auto* b = (Blocker*)p;
    b->entered = 1;
    while (!b->open) std::this_thread::yield();
  }
};
static cudaGraph_t one_kernel(int* m, int v) {
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  volatile int* p = m;
  void* args[] = {&p, &v};
  cudaKernelNodeParams k{};
  k.func = (void*)mark_kernel;
  k.gridDim = k.blockDim = dim3(1);
  k.kernelParams = args;
  cudaGraphNode_t n;
  MUST(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k));
  return g;
}
static cudaGraphExec_t made(cudaGraph_t g) {
  cudaGraphExec_t e;
  MUST(cudaGraphInstantiate(&e, g, 0));
  return e;
}

// 23. Graph memory, clones and child graphs under gates.
static void graph_parts() {
  warm();
  cudaStream_t s = non_blocking(), t = non_blocking();
  int* m = host_words();
  cudaGraph_t child = one_kernel(m, 1), g, k;
  cudaGraphNode_t n;
  MUST(cudaGraphCreate(&g, 0));
  ask("graph_parts.child", cudaGraphAddChildGraphNode(&n, g, nullptr, 0, child));
  ask("graph_parts.child.destroy", cudaGraphDestroy(child));
  cudaGraphExec_t e = made(g);
  MUST(cudaGraphLaunch(e, s));
  all_done();
  say("graph_parts.child.ran", *m);
  ask("graph_parts.clone", cudaGraphClone(&k, g));
  cudaGraphNode_t found;
  ask("graph_parts.find", cudaGraphNodeFindInClone(&found, n, k));
  ask("graph_parts.find.wrong", cudaGraphNodeFindInClone(&found, n, g));
  ask("graph_parts.destroynode", cudaGraphDestroyNode(n));
  size_t c = 9;
  MUST(cudaGraphGetNodes(g, nullptr, &c));
  say("graph_parts.nodes", (int)c);
  *m = 0;
  MUST(cudaGraphLaunch(e, s));
  all_done();
  say("graph_parts.exec.keeps", *m);
  cudaGraphExecUpdateResultInfo info{};
  ask("graph_parts.update.empty", cudaGraphExecUpdate(e, g, &info));
  say("graph_parts.update.result", (int)info.result);
  ask("graph_parts.update.clone", cudaGraphExecUpdate(e, k, &info));
  say("graph_parts.update.clone.result", (int)info.result);
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  void* p;
  ask("graph_parts.capture.malloc", cudaMallocAsync(&p, 1 << 20, s));
  MUST(cudaMemsetAsync(p, 7, 64, s));
  MUST(cudaMemcpyAsync(m, p, 4, cudaMemcpyDeviceToHost, s));
  ask("graph_parts.capture.free", cudaFreeAsync(p, s));
  ask("graph_parts.capture.free.twice", cudaFreeAsync(p, s));
  cudaError_t end = cudaStreamEndCapture(s, &g);
  say("graph_parts.capture.end", end);
  cudaGetLastError();
  if (end == cudaSuccess) {
    e = made(g);
    ask("graph_parts.mem.launch", cudaGraphLaunch(e, s));
    ask("graph_parts.mem.launch.again", cudaGraphLaunch(e, s));
    all_done();
    say("graph_parts.mem.value", *m == 0x07070707);
    unsigned long long v = 0;
    MUST(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &v));
    say("graph_parts.mem.used", (long long)v);
    ask("graph_parts.mem.trim", cudaDeviceGraphMemTrim(0));
    MUST(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &v));
    say("graph_parts.mem.reserved", (long long)v);
    ask("graph_parts.mem.free.outside", cudaFree(p));
  }
  {
    Gate gate;
    gate.close(t);
    cudaGraph_t y = one_kernel(m, 4);
    cudaGraphExec_t x = made(y);
    MUST(cudaGraphLaunch(x, t));
    MUST(cudaGraphLaunch(x, t));
    say("graph_parts.twice.queued", cudaStreamQuery(t));
    cudaGetLastError();
    MUST(cudaGraphLaunch(x, s));
    say("graph_parts.third.elsewhere", cudaStreamQuery(s));
    cudaGetLastError();
    cudaGraphNode_t nodes[2];
    size_t cc = 2;
    MUST(cudaGraphGetNodes(y, nodes, &cc));
    ask("graph_parts.disable", cudaGraphNodeSetEnabled(x, nodes[0], 0));
    unsigned on = 9;
    ask("graph_parts.enabled", cudaGraphNodeGetEnabled(x, nodes[0], &on));
    say("graph_parts.enabled.value", (int)on);
    gate.open();
    all_done();
    say("graph_parts.disable.pending.ran", *m);
    *m = 0;
    MUST(cudaGraphLaunch(x, s));
    all_done();
    say("graph_parts.disabled.ran", *m);
  }
}

// After a reset: one use of an old handle each.
static void reset_use(const std::string& what) {
  warm();
  cudaStream_t s = non_blocking(), c = non_blocking();
  cudaEvent_t e = event(cudaEventDefault);
  MUST(cudaEventRecord(e, s));
  int* d;
  MUST(cudaMalloc(&d, 64));
  int* h = host_words();
  all_done();
  cudaGraph_t g = one_kernel(h, 1);
  if (what == "capture") MUST(cudaStreamBeginCapture(c, cudaStreamCaptureModeGlobal));
  say("resets." + what + ".reset", cudaDeviceReset());
  void* q;
  int v;
  float ms;
  cudaPointerAttributes pa;
  cudaStreamCaptureStatus st;
  unsigned f;
  ask("resets." + what + ".malloc", cudaMalloc(&q, 64));
  cudaError_t r = cudaErrorUnknown;
  if (what == "stream.query") r = cudaStreamQuery(s);
  if (what == "stream.sync") r = cudaStreamSynchronize(s);
  if (what == "stream.destroy") r = cudaStreamDestroy(s);
  if (what == "stream.flags") r = cudaStreamGetFlags(s, &f);
  if (what == "stream.launch") {
    nop_kernel<<<1, 1, 0, s>>>();
    r = cudaGetLastError();
  }
  if (what == "stream.record") {
    cudaEvent_t n = event();
    r = cudaEventRecord(n, s);
  }
  if (what == "stream.wait") r = cudaStreamWaitEvent(0, e, 0);
  if (what == "event.query") r = cudaEventQuery(e);
  if (what == "event.elapsed") r = cudaEventElapsedTime(&ms, e, e);
  if (what == "event.destroy") r = cudaEventDestroy(e);
  if (what == "event.record") r = cudaEventRecord(e, 0);
  if (what == "free") r = cudaFree(d);
  if (what == "freehost") r = cudaFreeHost(h);
  if (what == "memset") r = cudaMemset(d, 0, 4);
  if (what == "pointer") {
    r = cudaPointerGetAttributes(&pa, d);
    say("resets.pointer.type", (int)pa.type);
  }
  if (what == "capture") r = cudaStreamIsCapturing(c, &st);
  if (what == "launch") {
    nop_kernel<<<1, 1>>>();
    r = cudaDeviceSynchronize();
  }
  if (what == "symbol") r = cudaMemcpyFromSymbol(&v, device_word, 4);
  if (what == "mallocasync") r = cudaMallocAsync(&q, 64, 0);
  if (what == "perthread") r = cudaStreamQuery(cudaStreamPerThread);
  if (what == "graph") {
    cudaGraphExec_t x;
    r = cudaGraphInstantiate(&x, g, 0);
  }
  ask("resets." + what + ".answer", r);
  ask("resets." + what + ".after", cudaDeviceSynchronize());
}
static const char* uses[] = {"stream.query",  "stream.sync",   "stream.destroy", "stream.flags",
                             "stream.launch", "stream.record", "stream.wait",    "event.query",
                             "event.elapsed", "event.destroy", "event.record",   "free",
                             "freehost",      "memset",        "pointer",        "capture",
                             "launch",        "symbol",        "mallocasync",    "perthread",
                             "graph"};
// Host functions that wait for events.
static void host_waits() {
  warm();
  cudaStream_t s = non_blocking(), t = non_blocking(), u = non_blocking();
  static cudaEvent_t pending, done;
  pending = event();
  done = event();
  MUST(cudaEventRecord(done, t));
  all_done();
  static cudaError_t r[3];
  static std::atomic<int> stage;
  stage = 0;
  Gate g;
  g.close(t);
  MUST(cudaEventRecord(pending, t));
  MUST(cudaLaunchHostFunc(
      s,
      [](void*) {
        r[0] = cudaEventSynchronize(done);
        stage = 1;
        r[1] = cudaEventQuery(pending);
        r[2] = cudaEventSynchronize(pending);
        stage = 2;
      },
      nullptr));
  say("host_waits.done.returns", wait_until([&] { return stage.load() >= 1; }, 1000));
  say("host_waits.pending.waits", !wait_until([&] { return stage.load() == 2; }, 200));
  g.open();
  say("host_waits.released", wait_until([&] { return stage.load() == 2; }, 2000));
  say("host_waits.done", r[0]);
  say("host_waits.query", r[1]);
  say("host_waits.pending", r[2]);
  all_done();
  (void)u;
}
// What asking about a stream does to its capture; uploads.
static void asked() {
  warm();
  cudaStream_t s = non_blocking(), o = non_blocking();
  int v;
  unsigned f;
  unsigned long long l;
  cudaStreamAttrValue av{};
  int* m = host_words();
  cudaGraphExec_t x = made(one_kernel(m, 1));
  MUST(cudaGraphLaunch(x, o));
  all_done();
  struct Call {
    const char* name;
    std::function<cudaError_t()> f;
  };
  std::vector<Call> calls = {
      {"priority", [&] { return cudaStreamGetPriority(s, &v); }},
      {"id", [&] { return cudaStreamGetId(s, &l); }},
      {"device", [&] { return cudaStreamGetDevice(s, &v); }},
      {"flags.other", [&] { return cudaStreamGetFlags(o, &f); }},
      {"flags.legacy", [&] { return cudaStreamGetFlags(0, &f); }},
      {"flags.null", [&] { return cudaStreamGetFlags(s, nullptr); }},
      {"set.priority",
       [&] {
         av.priority = -1;
         return cudaStreamSetAttribute(s, cudaStreamAttributePriority, &av);
       }},
      {"copy.attributes", [&] { return cudaStreamCopyAttributes(s, o); }},
      {"destroy.other",
       [&] {
         cudaStream_t z = o;
         o = non_blocking();
         return cudaStreamDestroy(z);
       }},
      {"updatedeps",
       [&] { return cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, 0); }},
      {"reset", [&] { return cudaSuccess; }}};
  for (auto& c : calls) {
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    nop_kernel<<<1, 1, 0, s>>>();
    cudaError_t r = c.f();
    cudaGetLastError();
    cudaGraph_t g = nullptr;
    cudaError_t end = cudaStreamEndCapture(s, &g);
    cudaGetLastError();
    say(std::string("asked.") + c.name,
        std::string(cudaGetErrorName(r)) + " end " + cudaGetErrorName(end));
  }
  {
    Gate g;
    g.close(o);
    MUST(cudaGraphUpload(x, o));
    say("asked.upload.held.query", cudaStreamQuery(o));
    cudaGetLastError();
    cudaEvent_t e = event();
    MUST(cudaEventRecord(e, o));
    g.open();
    all_done();
  }
  {
    Gate g;
    g.close(o);
    cudaStream_t b = non_blocking();
    cudaEvent_t e = event();
    MUST(cudaEventRecord(e, o));
    MUST(cudaStreamWaitEvent(b, e, 0));
    MUST(cudaGraphUpload(x, b));
    say("asked.upload.behind.wait", cudaStreamQuery(b));
    cudaGetLastError();
    MUST(cudaGraphLaunch(x, s));
    say("asked.launch.beside.held.upload", idle_within(s));
    g.open();
    all_done();
  }
  {
    cudaGraph_t eg;
    MUST(cudaGraphCreate(&eg, 0));
    cudaGraphNode_t n;
    MUST(cudaGraphAddEmptyNode(&n, eg, nullptr, 0));
    cudaGraphExec_t y = made(eg);
    cudaStream_t b1 = blocking(), b2 = blocking();
    MUST(cudaGraphLaunch(y, b1));
    all_done();
    Gate g;
    g.close(b1);
    *m = 0;
    MUST(cudaGraphLaunch(y, 0));
    mark_kernel<<<1, 1, 0, b2>>>(m, 1);
    say("asked.legacy.empty.node.holds", !shows(m, 1, 80));
    g.open();
    all_done();
  }
}
int main(int argc, char** argv) {
  std::string which = argc > 1 ? argv[1] : "list";
  std::vector<std::string> all{"graph_parts", "host_waits", "asked"};
  for (auto u : uses) all.push_back(std::string("reset:") + u);
  if (which == "list") {
    for (auto& n : all) std::puts(n.c_str());
    return 0;
  }
  watchdog(40);
  MUST(cudaFree(0));
  if (which == "graph_parts")
    graph_parts();
  else if (which == "host_waits")
    host_waits();
  else if (which == "asked")
    asked();
  else if (which.rfind("reset:", 0) == 0)
    reset_use(which.substr(6));
  say("end", which);
  std::fflush(stdout);
  _exit(0);
}
