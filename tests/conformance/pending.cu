// How many operations of each kind a held stream takes before the call blocks its caller, alone and
// mixed, and what other threads can do meanwhile. One section a process, named on the command line.
#include <cstring>
#include <unistd.h>

#include "probe.h"

static __global__ void fat_kernel(const int4 a[1], int4 b, int4 c, int4 d, int4 e) {
  if (a != nullptr && b.x + c.x + d.x + e.x == 77) *(volatile int*)a = 1;
}
struct big_params {
  int v[1000];
};
static __global__ void big_kernel(big_params p, int* out) {
  if (out != nullptr) *out = p.v[7];
}

// Never hangs: the process ends after this many seconds, with what it printed.
using op = std::function<void(int)>;
static char *d, *d2, *hp, *page;
constexpr int most = 4200;

// Calls f(0), f(1), ... on another thread until one does not return for 300 ms or `limit` are done;
// answers how many returned. `release` must let the one that blocks go on.
static std::string how_many(const op& f, const std::function<void()>& release, int limit = most) {
  std::atomic<int> done{0};
  std::atomic<bool> stop{false};
  std::thread t([&] {
    MUST(cudaSetDevice(0));
    for (int i = 0; i < limit && !stop; i++) {
      f(i);
      if (!stop) done = i + 1;
    }
  });
  int seen = -1;
  for (;;) {
    seen = done;
    if (seen >= limit) break;
    if (!wait_until([&] { return done.load() != seen; }, 300)) break;
  }
  stop = true;
  release();
  t.join();
  MUST(cudaDeviceSynchronize());
  return seen >= limit ? "more than " + std::to_string(limit - 1) : std::to_string(seen);
}

static std::vector<cudaStream_t> s(8);
static std::vector<cudaEvent_t> events;
static cudaEvent_t held_event;

struct kind {
  std::string name;
  std::function<void(cudaStream_t, int)> call;
};

static std::vector<kind> kinds() {
  std::vector<kind> k;
  k.push_back({"kernel", [](cudaStream_t q, int) { nop_kernel<<<1, 1, 0, q>>>(); }});
  k.push_back({"kernel.64B.params", [](cudaStream_t q, int) { fat_kernel<<<1, 1, 0, q>>>(nullptr, int4(), int4(), int4(), int4()); }});
  k.push_back({"kernel.4K.params", [](cudaStream_t q, int) { big_kernel<<<1, 1, 0, q>>>(big_params(), nullptr); }});
  for (size_t n : {(size_t)4, (size_t)4096, (size_t)65536, (size_t)1 << 20}) {
    const std::string size = std::to_string(n);
    k.push_back({"h2d." + size, [=](cudaStream_t q, int) { MUST(cudaMemcpyAsync(d, hp, n, cudaMemcpyHostToDevice, q)); }});
    k.push_back({"d2h." + size, [=](cudaStream_t q, int) { MUST(cudaMemcpyAsync(hp, d, n, cudaMemcpyDeviceToHost, q)); }});
    k.push_back({"d2d." + size, [=](cudaStream_t q, int) { MUST(cudaMemcpyAsync(d2, d, n, cudaMemcpyDeviceToDevice, q)); }});
    k.push_back({"memset." + size, [=](cudaStream_t q, int) { MUST(cudaMemsetAsync(d, 1, n, q)); }});
  }
  k.push_back({"h2d.pageable.4", [](cudaStream_t q, int) { MUST(cudaMemcpyAsync(d, page, 4, cudaMemcpyHostToDevice, q)); }});
  k.push_back({"h2d.pageable.4096", [](cudaStream_t q, int) { MUST(cudaMemcpyAsync(d, page, 4096, cudaMemcpyHostToDevice, q)); }});
  k.push_back({"h2d.2d", [](cudaStream_t q, int) { MUST(cudaMemcpy2DAsync(d, 512, hp, 256, 128, 16, cudaMemcpyHostToDevice, q)); }});
  k.push_back({"memset.2d", [](cudaStream_t q, int) { MUST(cudaMemset2DAsync(d, 512, 1, 128, 16, q)); }});
  k.push_back({"record.one", [](cudaStream_t q, int) { MUST(cudaEventRecord(events[0], q)); }});
  k.push_back({"record.each", [](cudaStream_t q, int i) { MUST(cudaEventRecord(events[i], q)); }});
  k.push_back({"hostfunc", [](cudaStream_t q, int) { MUST(cudaLaunchHostFunc(q, [](void*) {}, nullptr)); }});
  k.push_back({"callback", [](cudaStream_t q, int) { MUST(cudaStreamAddCallback(q, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0)); }});
  k.push_back({"wait.held", [](cudaStream_t q, int) { MUST(cudaStreamWaitEvent(q, held_event, 0)); }});
  k.push_back({"malloc.free.async", [](cudaStream_t q, int) { void* p; MUST(cudaMallocAsync(&p, 1000, q)); MUST(cudaFreeAsync(p, q)); }});
  return k;
}

static kind named(const std::string& name) {
  for (auto& k : kinds())
    if (k.name == name) return k;
  std::abort();
}

// The gate is in s[0]; for waits it is in s[1], so that the stream that waits is another one.
static void alone() {
  for (auto& k : kinds()) {
    Gate g;
    g.close(s[1]);
    MUST(cudaEventRecord(held_event, s[1]));
    if (k.name != "wait.held") g.close(s[0]);
    say("alone." + k.name, how_many([&](int i) { k.call(s[0], i); }, [&] { g.open(); }));
  }
  for (int nodes : {1, 2, 10}) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaStreamBeginCapture(s[2], cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < nodes; i++) nop_kernel<<<1, 1, 0, s[2]>>>();
    MUST(cudaStreamEndCapture(s[2], &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, s[2]));
    MUST(cudaDeviceSynchronize());
    Gate g;
    g.close(s[0]);
    say("alone.graph." + std::to_string(nodes), how_many([&](int) { MUST(cudaGraphLaunch(exec, s[0])); }, [&] { g.open(); }));
  }
  for (auto where : {"null", "blocking", "perthread"}) {
    cudaStream_t b = nullptr;
    if (std::string(where) == "blocking") MUST(cudaStreamCreate(&b));
    if (std::string(where) == "perthread") b = cudaStreamPerThread;
    Gate g;
    say(std::string("alone.kernel.in.") + where, how_many([&](int i) { if (i == 0) g.close(b); else nop_kernel<<<1, 1, 0, b>>>(); }, [&] { g.open(); }));
  }
}

// Two kinds in one stream: the first one 500 times, then the second; and by turns.
static void mixed() {
  const char* pairs[][2] = {{"kernel", "h2d.4"}, {"kernel", "h2d.65536"}, {"kernel", "d2h.4"}, {"kernel", "d2h.1048576"}, {"kernel", "d2d.4096"}, {"kernel", "memset.4096"}, {"kernel", "record.one"}, {"kernel", "record.each"}, {"kernel", "hostfunc"}, {"h2d.65536", "d2h.65536"}, {"h2d.4", "h2d.65536"}, {"h2d.65536", "record.one"}, {"memset.4096", "d2d.4096"}, {"hostfunc", "record.one"}, {"d2h.4096", "kernel"}, {"hostfunc", "kernel"}, {"record.one", "kernel"}};
  for (auto& p : pairs) {
    const kind a = named(p[0]), b = named(p[1]);
    {
      Gate g;
      g.close(s[0]);
      say("first500." + a.name + ".then." + b.name, how_many([&](int i) { (i < 500 ? a : b).call(s[0], i); }, [&] { g.open(); }));
    }
    {
      Gate g;
      g.close(s[0]);
      say("turns." + a.name + "." + b.name, how_many([&](int i) { (i % 2 == 0 ? a : b).call(s[0], i); }, [&] { g.open(); }));
    }
  }
}

// Several streams held by one gate or by their own; kinds[i % n] into stream i % n.
static void streams() {
  for (int n : {2, 4, 8}) {
    for (auto name : {"kernel", "h2d.65536", "record.one"}) {
      const kind k = named(name);
      Gate g;
      for (int i = 0; i < n; i++) g.close(s[i]);
      say("streams." + std::to_string(n) + "." + k.name, how_many([&](int i) { k.call(s[i % n], i); }, [&] { g.open(); }, 4090));
    }
  }
  // s[0] takes all it can; then s[1], held too.
  Gate g;
  g.close(s[0]);
  g.close(s[1]);
  say("full.then.other", how_many([&](int i) { nop_kernel<<<1, 1, 0, s[i < 1000 ? 0 : 1]>>>(); }, [&] { g.open(); }));
}

// While one thread is blocked in a launch: what returns on another.
static void blocked() {
  std::vector<kind> calls = {
      {"kernel.other", [](cudaStream_t, int) { nop_kernel<<<1, 1, 0, s[3]>>>(); }},
      {"kernel.same", [](cudaStream_t q, int) { nop_kernel<<<1, 1, 0, q>>>(); }},
      {"record.other", [](cudaStream_t, int) { MUST(cudaEventRecord(events[3], s[3])); }},
      {"record.same", [](cudaStream_t q, int) { MUST(cudaEventRecord(events[3], q)); }},
      {"h2d.other", [](cudaStream_t, int) { MUST(cudaMemcpyAsync(d, hp, 4, cudaMemcpyHostToDevice, s[3])); }},
      {"hostfunc.same", [](cudaStream_t q, int) { MUST(cudaLaunchHostFunc(q, [](void*) {}, nullptr)); }},
      {"query.other", [](cudaStream_t, int) { cudaStreamQuery(s[3]); }},
      {"query.same", [](cudaStream_t q, int) { cudaStreamQuery(q); }},
      {"eventquery", [](cudaStream_t, int) { cudaEventQuery(events[4]); }},
      {"malloc", [](cudaStream_t, int) { void* p; MUST(cudaMalloc(&p, 4096)); }},
      {"streamcreate", [](cudaStream_t, int) { cudaStream_t q; MUST(cudaStreamCreate(&q)); }},
      {"eventcreate", [](cudaStream_t, int) { cudaEvent_t e; MUST(cudaEventCreate(&e)); }},
      {"getlasterror", [](cudaStream_t, int) { cudaGetLastError(); }},
  };
  for (auto& c : calls) {
    Gate g;
    g.close(s[0]);
    std::atomic<bool> stop{false};
    std::atomic<int> done{0};
    std::thread filler([&] {
      for (int i = 0; i < 1500 && !stop; i++) {
        nop_kernel<<<1, 1, 0, s[0]>>>();
        done = i;
      }
    });
    int seen = -1;
    do seen = done;
    while (wait_until([&] { return done.load() != seen; }, 200));
    say("blocked." + c.name, returns_within([&] { c.call(s[0], 0); }, [&] { stop = true; g.open(); }, 600));
    filler.join();
    MUST(cudaDeviceSynchronize());
  }
}

int main(int argc, char** argv) {
  const std::string section = argc > 1 ? argv[1] : "";
  watchdog(150);
  MUST(cudaFree(0));
  MUST(cudaMalloc((void**)&d, 4 << 20));
  MUST(cudaMalloc((void**)&d2, 4 << 20));
  MUST(cudaMallocHost((void**)&hp, 4 << 20));
  page = (char*)std::calloc(4, 1 << 20);
  for (auto& q : s) MUST(cudaStreamCreateWithFlags(&q, cudaStreamNonBlocking));
  events.resize(most + 1);
  for (auto& e : events) MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  MUST(cudaEventCreateWithFlags(&held_event, cudaEventDisableTiming));
  // Everything once, so that nothing is loaded while a gate is closed.
  {
    Gate g;
    g.open();
    g.close(s[0]);
    MUST(cudaEventRecord(held_event, s[0]));
    for (auto& k : kinds()) k.call(s[1], 0);
    MUST(cudaDeviceSynchronize());
  }
  if (section == "alone") alone();
  if (section == "mixed") mixed();
  if (section == "streams") streams();
  if (section == "blocked") blocked();
  say(section + ".end", "ok");
  std::fflush(stdout);
  _exit(0);
}
