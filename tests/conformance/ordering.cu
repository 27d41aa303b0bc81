// Something is held at a gate in one stream: what may finish meanwhile in the others, what do queries say,
// and which calls of the host return.
#include "probe.h"
#include <map>
#include <mutex>
#include <condition_variable>

struct HostGate {
  std::atomic<int> open{0}, entered{0};
  static void CUDART_CB run(void* p) {
    auto* g = (HostGate*)p; g->entered = 1;
    while (!g->open) std::this_thread::yield();
  }
};
static void CUDART_CB set_flag(void* p) { *(std::atomic<int>*)p = 1; }

int main(int argc, char**) {
  MUST(cudaFree(0));
  int *marks, *dm;
  MUST(cudaHostAlloc((void**)&marks, 4096, cudaHostAllocMapped));
  char *d1, *d2, *hp; char* pageable = (char*)malloc(8 << 20);
  MUST(cudaMalloc((void**)&d1, 8 << 20)); MUST(cudaMalloc((void**)&d2, 8 << 20));
  MUST(cudaMallocHost((void**)&hp, 8 << 20));
  MUST(cudaMalloc((void**)&dm, 4096));
  cudaStream_t b1, b2, n1, n2, hi;
  MUST(cudaStreamCreate(&b1)); MUST(cudaStreamCreate(&b2));
  MUST(cudaStreamCreateWithFlags(&n1, cudaStreamNonBlocking)); MUST(cudaStreamCreateWithFlags(&n2, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithPriority(&hi, cudaStreamNonBlocking, -5));
  // warm every kernel and copy path, so that lazy loading does not decide anything below
  { Gate g; g.open(); g.close(b1); MUST(cudaDeviceSynchronize()); }
  mark_kernel<<<1, 1>>>(marks, 0); nop_kernel<<<1, 1>>>();
  MUST(cudaMemcpy(d1, hp, 1 << 20, cudaMemcpyHostToDevice)); MUST(cudaMemcpy(pageable, d1, 1 << 20, cudaMemcpyDeviceToHost));
  MUST(cudaMemset(d1, 0, 1024)); MUST(cudaMemcpy(d2, d1, 1024, cudaMemcpyDeviceToDevice));
  MUST(cudaDeviceSynchronize());

  std::vector<std::pair<const char*, cudaStream_t>> streams = {
      {"null", 0}, {"legacy", cudaStreamLegacy}, {"perthread", cudaStreamPerThread}, {"b1", b1}, {"b2", b2}, {"n1", n1}, {"n2", n2}, {"hi", hi}};
  // 1. kernel held in X: may a kernel / copy / hostfunc / event in Y finish?
  for (auto& X : streams)
    for (auto& Y : streams) {
      if (X.second == Y.second && std::string(X.first) != "b1") continue;
      Gate g; g.close(X.second);
      *(volatile int*)marks = 0;
      mark_kernel<<<1, 1, 0, Y.second>>>(marks, 1);
      bool ok = wait_until([&] { return *(volatile int*)marks == 1; }, 60);
      say(std::string("hold.") + X.first + ".kernel." + Y.first, ok);
      g.open(); MUST(cudaDeviceSynchronize());
    }
  std::map<std::string, cudaStream_t> pick = {{"null", (cudaStream_t)0}, {"b1", b1}, {"b2", b2}, {"n1", n1}, {"perthread", cudaStreamPerThread}};
  for (auto& X : pick)
    for (auto& Y : pick) {
      if (X.first == Y.first) continue;
      cudaEvent_t e; MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
      { Gate g; g.close(X.second); MUST(cudaEventRecord(e, Y.second));
        say("hold." + X.first + ".event." + Y.first, wait_until([&] { return cudaEventQuery(e) == cudaSuccess; }, 60)); cudaGetLastError();
        g.open(); MUST(cudaDeviceSynchronize()); }
      { Gate g; g.close(X.second); MUST(cudaMemcpyAsync(d1, hp, 4096, cudaMemcpyHostToDevice, Y.second)); MUST(cudaEventRecord(e, Y.second));
        say("hold." + X.first + ".h2d." + Y.first, wait_until([&] { return cudaEventQuery(e) == cudaSuccess; }, 60)); cudaGetLastError();
        g.open(); MUST(cudaDeviceSynchronize()); }
      { Gate g; std::atomic<int> f{0}; g.close(X.second); MUST(cudaLaunchHostFunc(Y.second, set_flag, &f));
        say("hold." + X.first + ".hostfunc." + Y.first, wait_until([&] { return f.load() == 1; }, 60));
        g.open(); MUST(cudaDeviceSynchronize()); }
      { Gate g; g.close(X.second);
        say("hold." + X.first + ".query." + Y.first, cudaStreamQuery(Y.second)); cudaGetLastError();
        g.open(); MUST(cudaDeviceSynchronize()); }
      { Gate g; g.close(X.second); cudaStream_t y = Y.second;
        bool q = returns_within([y] { cudaStreamSynchronize(y); }, [&] { g.open(); });
        say("hold." + X.first + ".streamsync." + Y.first, q); MUST(cudaDeviceSynchronize()); }
      { HostGate h; MUST(cudaLaunchHostFunc(X.second, HostGate::run, &h)); wait_until([&] { return h.entered.load() == 1; });
        *(volatile int*)marks = 0; mark_kernel<<<1, 1, 0, Y.second>>>(marks, 1);
        say("hostgate." + X.first + ".kernel." + Y.first, wait_until([&] { return *(volatile int*)marks == 1; }, 60));
        h.open = 1; MUST(cudaDeviceSynchronize()); }
      MUST(cudaEventDestroy(e));
    }
  // 2. host functions against each other
  { HostGate h; std::atomic<int> f{0}; MUST(cudaLaunchHostFunc(n1, HostGate::run, &h)); wait_until([&] { return h.entered.load() == 1; });
    MUST(cudaLaunchHostFunc(n2, set_flag, &f)); say("hostgate.n1.hostfunc.n2", wait_until([&] { return f.load() == 1; }, 100)); h.open = 1; MUST(cudaDeviceSynchronize()); }
  // 3. which host calls return while a kernel is held in a blocking / a non-blocking stream
  struct Call { const char* name; std::function<void()> f; };
  void* tmp = nullptr; void* tmp2 = nullptr; static char reg[1 << 16];
  for (auto held : {std::make_pair("b1", b1), std::make_pair("n1", n1)}) {
    std::vector<Call> calls = {
      {"cudaMalloc64K", [&] { cudaMalloc(&tmp, 1 << 16); }},
      {"cudaMalloc64M", [&] { cudaMalloc(&tmp2, 64 << 20); }},
      {"cudaFree", [&] { cudaFree(tmp); }},
      {"cudaFree64M", [&] { cudaFree(tmp2); }},
      {"cudaMallocHost", [&] { cudaMallocHost(&tmp, 1 << 16); }},
      {"cudaFreeHost", [&] { cudaFreeHost(tmp); }},
      {"cudaHostRegister", [&] { cudaHostRegister(reg, sizeof reg, 0); }},
      {"cudaHostUnregister", [&] { cudaHostUnregister(reg); }},
      {"cudaMemcpy.h2d.pageable.4K", [&] { cudaMemcpy(d1, pageable, 4096, cudaMemcpyHostToDevice); }},
      {"cudaMemcpy.h2d.pinned.4K", [&] { cudaMemcpy(d1, hp, 4096, cudaMemcpyHostToDevice); }},
      {"cudaMemcpy.h2d.pageable.1M", [&] { cudaMemcpy(d1, pageable, 1 << 20, cudaMemcpyHostToDevice); }},
      {"cudaMemcpy.d2h.pageable.4K", [&] { cudaMemcpy(pageable, d1, 4096, cudaMemcpyDeviceToHost); }},
      {"cudaMemcpy.d2d.4K", [&] { cudaMemcpy(d2, d1, 4096, cudaMemcpyDeviceToDevice); }},
      {"cudaMemset", [&] { cudaMemset(d2, 0, 4096); }},
      {"cudaDeviceSynchronize", [&] { cudaDeviceSynchronize(); }},
      {"cudaStreamCreate", [&] { cudaStream_t t; cudaStreamCreate(&t); cudaStreamDestroy(t); }},
      {"cudaEventCreate", [&] { cudaEvent_t t; cudaEventCreate(&t); cudaEventDestroy(t); }},
      {"cudaMallocAsync.n2", [&] { void* q; cudaMallocAsync(&q, 1 << 16, n2); cudaFreeAsync(q, n2); }},
      {"cudaMemGetInfo", [&] { size_t a, b; cudaMemGetInfo(&a, &b); }},
      {"kernel.null", [&] { nop_kernel<<<1, 1>>>(); }},
      {"launchhostfunc.null", [&] { static std::atomic<int> f; cudaLaunchHostFunc(0, set_flag, &f); }},
    };
    for (auto& c : calls) {
      Gate g; g.close(held.second);
      bool q = returns_within(c.f, [&] { g.open(); });
      say(std::string("whileheld.") + held.first + "." + c.name, q);
      cudaGetLastError(); MUST(cudaDeviceSynchronize());
    }
    // async copies on another stream and on the held stream itself
    struct Copy { const char* name; void* dst; const void* src; size_t n; cudaMemcpyKind k; };
    std::vector<Copy> copies = {
      {"h2d.pinned.1M", d1, hp, 1 << 20, cudaMemcpyHostToDevice}, {"d2h.pinned.1M", hp, d1, 1 << 20, cudaMemcpyDeviceToHost},
      {"h2d.pageable.4K", d1, pageable, 4096, cudaMemcpyHostToDevice}, {"h2d.pageable.64K", d1, pageable, 65536, cudaMemcpyHostToDevice},
      {"h2d.pageable.65K", d1, pageable, 65537 + 1023, cudaMemcpyHostToDevice},
      {"h2d.pageable.1M", d1, pageable, 1 << 20, cudaMemcpyHostToDevice}, {"h2d.pageable.8M", d1, pageable, 8 << 20, cudaMemcpyHostToDevice},
      {"d2h.pageable.4K", pageable, d1, 4096, cudaMemcpyDeviceToHost}, {"d2h.pageable.1M", pageable, d1, 1 << 20, cudaMemcpyDeviceToHost},
      {"d2d.1M", d2, d1, 1 << 20, cudaMemcpyDeviceToDevice}, {"h2h.pinned", hp, hp + (4 << 20), 4096, cudaMemcpyHostToHost},
      {"h2h.pageable", pageable, pageable + (4 << 20), 4096, cudaMemcpyHostToHost}};
    for (auto where : {std::make_pair("same", held.second), std::make_pair("other", std::string(held.first) == "b1" ? b2 : n2)})
      for (auto& c : copies) {
        Gate g; g.close(held.second);
        bool q = returns_within([&] { cudaMemcpyAsync(c.dst, c.src, c.n, c.k, where.second); }, [&] { g.open(); });
        say(std::string("asynccopy.") + held.first + "." + where.first + "." + c.name, q);
        cudaGetLastError(); MUST(cudaDeviceSynchronize());
      }
  }
  // 4. event semantics
  { // wait captures the most recent record at the time of the call; re-record later does not move it
    cudaEvent_t e; MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    Gate g; *(volatile int*)marks = 0;
    MUST(cudaEventRecord(e, n1)); MUST(cudaStreamWaitEvent(n2, e, 0));
    g.close(n1); MUST(cudaEventRecord(e, n1));
    mark_kernel<<<1, 1, 0, n2>>>(marks, 1);
    say("event.rerecord.does.not.move.wait", wait_until([&] { return *(volatile int*)marks == 1; }, 100));
    say("event.rerecord.query", cudaEventQuery(e)); cudaGetLastError();
    g.open(); MUST(cudaDeviceSynchronize()); MUST(cudaEventDestroy(e)); }
  { // wait before record is a no-op
    cudaEvent_t e; MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    Gate g; *(volatile int*)marks = 0; MUST(cudaStreamWaitEvent(n2, e, 0)); g.close(n1); MUST(cudaEventRecord(e, n1));
    mark_kernel<<<1, 1, 0, n2>>>(marks, 1);
    say("event.wait.before.record.noop", wait_until([&] { return *(volatile int*)marks == 1; }, 100));
    g.open(); MUST(cudaDeviceSynchronize()); MUST(cudaEventDestroy(e)); }
  { // wait holds only later work
    cudaEvent_t e; MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    Gate g; *(volatile int*)marks = 0; marks[1] = 0; g.close(n1); MUST(cudaEventRecord(e, n1));
    mark_kernel<<<1, 1, 0, n2>>>(marks, 1); MUST(cudaStreamWaitEvent(n2, e, 0)); mark_kernel<<<1, 1, 0, n2>>>(marks + 1, 1);
    say("event.wait.earlier.work.runs", wait_until([&] { return *(volatile int*)marks == 1; }, 100));
    say("event.wait.later.work.runs", wait_until([&] { return *(volatile int*)(marks + 1) == 1; }, 60));
    g.open(); MUST(cudaDeviceSynchronize()); say("event.wait.later.work.ran", *(volatile int*)(marks + 1) == 1); 
    // destroyed while waited for
    Gate g2; *(volatile int*)marks = 0; g2.close(n1); MUST(cudaEventRecord(e, n1)); MUST(cudaStreamWaitEvent(n2, e, 0)); 
    say("event.destroy.pending", cudaEventDestroy(e)); mark_kernel<<<1, 1, 0, n2>>>(marks, 1);
    say("event.destroyed.still.holds", !wait_until([&] { return *(volatile int*)marks == 1; }, 60)); g2.open(); MUST(cudaDeviceSynchronize()); }
  { // a stream destroyed with work pending
    cudaStream_t t; MUST(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking)); Gate g; *(volatile int*)marks = 0; g.close(t); mark_kernel<<<1, 1, 0, t>>>(marks, 1);
    bool q = returns_within([t] { cudaStreamDestroy(t); }, [] {}); say("stream.destroy.pending.returns", q);
    say("stream.destroy.pending.held", *(volatile int*)marks == 0); g.open(); MUST(cudaDeviceSynchronize()); say("stream.destroy.pending.ran", wait_until([&] { return *(volatile int*)marks == 1; })); }
  { // legacy work sits between: b1 held -> null -> b2 must wait for null
    Gate g; *(volatile int*)marks = 0; g.close(b1); nop_kernel<<<1, 1>>>(); mark_kernel<<<1, 1, 0, b2>>>(marks, 1);
    say("legacy.barrier.b1.null.b2", wait_until([&] { return *(volatile int*)marks == 1; }, 60)); g.open(); MUST(cudaDeviceSynchronize()); }
  { Gate g; *(volatile int*)marks = 0; g.close(b1); nop_kernel<<<1, 1>>>(); mark_kernel<<<1, 1, 0, n1>>>(marks, 1);
    say("legacy.barrier.b1.null.n1", wait_until([&] { return *(volatile int*)marks == 1; }, 60)); g.open(); MUST(cudaDeviceSynchronize()); }
  { // event record on the null stream is legacy work too
    cudaEvent_t e; MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming)); Gate g; *(volatile int*)marks = 0; g.close(b1); MUST(cudaEventRecord(e, 0)); mark_kernel<<<1, 1, 0, b2>>>(marks, 1);
    say("legacy.eventrecord.barrier.b2", wait_until([&] { return *(volatile int*)marks == 1; }, 60)); g.open(); MUST(cudaDeviceSynchronize()); 
    Gate g2; *(volatile int*)marks = 0; g2.close(n1); MUST(cudaEventRecord(e, n1)); MUST(cudaStreamWaitEvent(0, e, 0)); mark_kernel<<<1, 1, 0, b2>>>(marks, 1);
    say("legacy.streamwait.barrier.b2", wait_until([&] { return *(volatile int*)marks == 1; }, 60)); g2.open(); MUST(cudaDeviceSynchronize()); MUST(cudaEventDestroy(e)); }
  // 5. blocking a stream with a host thread's per-thread default stream
  { Gate g; std::atomic<int> ready{0}, stop{0}; 
    std::thread t([&] { cudaSetDevice(0); g.close(cudaStreamPerThread); ready = 1; while (!stop) std::this_thread::yield(); cudaStreamSynchronize(cudaStreamPerThread); });
    wait_until([&] { return ready.load() == 1; }, 2000); *(volatile int*)marks = 0; mark_kernel<<<1, 1, 0, cudaStreamPerThread>>>(marks, 1);
    say("perthread.other.thread.independent", wait_until([&] { return *(volatile int*)marks == 1; }, 100)); g.open(); stop = 1; t.join(); MUST(cudaDeviceSynchronize()); }
  say("end", "ok");
}
