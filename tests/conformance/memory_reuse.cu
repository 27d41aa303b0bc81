// Stream-ordered memory: who reuses what another stream freed, and when memory goes back. One
// section a process, named on the command line.
#include <cstring>

#include "probe.h"

static unsigned long long attr(cudaMemPool_t p, cudaMemPoolAttr a) {
  unsigned long long v = 0;
  MUST(cudaMemPoolGetAttribute(p, a, &v));
  return v;
}
static std::string use(cudaMemPool_t p) {
  return "reserved " + std::to_string(attr(p, cudaMemPoolAttrReservedMemCurrent)) + " high " +
         std::to_string(attr(p, cudaMemPoolAttrReservedMemHigh)) + " used " +
         std::to_string(attr(p, cudaMemPoolAttrUsedMemCurrent)) + " high " +
         std::to_string(attr(p, cudaMemPoolAttrUsedMemHigh));
}

static void reuse() {
  cudaStream_t s, t;
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaMemPool_t p;
  MUST(cudaDeviceGetDefaultMemPool(&p, 0));
  cudaEvent_t e;
  MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  const size_t N = 64 << 20;
  void *a, *b;
  unsigned long long big = ~0ull;
  int zero = 0, one = 1;
  {
    Gate g;
    g.open();
    g.close(s);
    MUST(cudaDeviceSynchronize());
  }
  auto fresh = [&] {
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemPoolTrimTo(p, 0));
  };
  auto run = [&](const std::string& tag) {
    {
      Gate g;
      MUST(cudaMallocAsync(&a, N, s));
      g.close(s);
      MUST(cudaFreeAsync(a, s));
      MUST(cudaMallocAsync(&b, N, s));
      say(tag + "same.stream.held", a == b);
      g.open();
      MUST(cudaFreeAsync(b, s));
      fresh();
    }
    {
      Gate g;
      MUST(cudaMallocAsync(&a, N, s));
      g.close(s);
      MUST(cudaFreeAsync(a, s));
      MUST(cudaMallocAsync(&b, N, t));
      say(tag + "other.held", a == b);
      bool ran = wait_until([&] { return cudaStreamQuery(t) == cudaSuccess; }, 100);
      cudaGetLastError();
      say(tag + "other.held.t.idle", ran);
      MUST(cudaMemsetAsync(b, 0, 16, t));
      ran = wait_until([&] { return cudaStreamQuery(t) == cudaSuccess; }, 100);
      cudaGetLastError();
      say(tag + "other.held.memset.runs", ran);
      g.open();
      MUST(cudaFreeAsync(b, t));
      fresh();
    }
    {
      MUST(cudaMallocAsync(&a, N, s));
      MUST(cudaFreeAsync(a, s));
      wait_until([&] { return cudaStreamQuery(s) == cudaSuccess; });
      MUST(cudaMallocAsync(&b, N, t));
      say(tag + "other.queried", a == b);
      MUST(cudaFreeAsync(b, t));
      fresh();
    }
    {
      MUST(cudaMallocAsync(&a, N, s));
      MUST(cudaFreeAsync(a, s));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      MUST(cudaMallocAsync(&b, N, t));
      say(tag + "other.quiet", a == b);
      MUST(cudaFreeAsync(b, t));
      fresh();
    }
    {
      Gate g;
      MUST(cudaMallocAsync(&a, N, s));
      g.close(s);
      MUST(cudaFreeAsync(a, s));
      MUST(cudaEventRecord(e, s));
      MUST(cudaStreamWaitEvent(t, e, 0));
      MUST(cudaMallocAsync(&b, N, t));
      say(tag + "event.after.free", a == b);
      g.open();
      MUST(cudaFreeAsync(b, t));
      fresh();
    }
    {
      Gate g;
      MUST(cudaMallocAsync(&a, N, s));
      g.close(s);
      MUST(cudaEventRecord(e, s));
      MUST(cudaFreeAsync(a, s));
      MUST(cudaStreamWaitEvent(t, e, 0));
      MUST(cudaMallocAsync(&b, N, t));
      say(tag + "event.before.free", a == b);
      g.open();
      MUST(cudaFreeAsync(b, t));
      fresh();
    }
    {
      Gate g;
      MUST(cudaMallocAsync(&a, N, s));
      g.close(s);
      MUST(cudaFreeAsync(a, s));
      MUST(cudaMallocAsync(&b, N / 2, s));
      say(tag + "same.smaller", a == b);
      void* c;
      MUST(cudaMallocAsync(&c, N / 2, s));
      say(tag + "same.split", (char*)c == (char*)a + N / 2);
      g.open();
      MUST(cudaFreeAsync(b, s));
      MUST(cudaFreeAsync(c, s));
      fresh();
    }
    {
      Gate g;
      MUST(cudaMallocAsync(&a, N, s));
      g.close(s);
      void* d;
      MUST(cudaMallocAsync(&d, N, s));
      MUST(cudaFreeAsync(a, s));
      MUST(cudaFreeAsync(d, s));
      MUST(cudaMallocAsync(&b, 2 * N, s));
      say(tag + "same.merged", b == a || b == d);
      g.open();
      MUST(cudaFreeAsync(b, s));
      fresh();
    }
  };
  MUST(cudaMemPoolSetAttribute(p, cudaMemPoolAttrReleaseThreshold, &big));
  run("keep.");
  big = 0;
  MUST(cudaMemPoolSetAttribute(p, cudaMemPoolAttrReleaseThreshold, &big));
  run("zero.");
  big = ~0ull;
  MUST(cudaMemPoolSetAttribute(p, cudaMemPoolAttrReleaseThreshold, &big));
  MUST(cudaMemPoolSetAttribute(p, cudaMemPoolReuseAllowInternalDependencies, &zero));
  run("nointernal.");
  MUST(cudaMemPoolSetAttribute(p, cudaMemPoolReuseAllowInternalDependencies, &one));
  MUST(cudaMemPoolSetAttribute(p, cudaMemPoolReuseFollowEventDependencies, &zero));
  MUST(cudaMemPoolSetAttribute(p, cudaMemPoolReuseAllowInternalDependencies, &zero));
  run("noevents.");
  MUST(cudaMemPoolSetAttribute(p, cudaMemPoolReuseAllowOpportunistic, &zero));
  run("nothing.");
}

static void more() {
  cudaStream_t b1, n1, n2, n3;
  MUST(cudaStreamCreate(&b1));
  MUST(cudaStreamCreateWithFlags(&n1, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&n2, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&n3, cudaStreamNonBlocking));
  {
    Gate g;
    g.open();
    g.close(b1);
    MUST(cudaDeviceSynchronize());
  }
  cudaMemPool_t p;
  MUST(cudaDeviceGetDefaultMemPool(&p, 0));
  cudaMemLocation l0{cudaMemLocationTypeDevice, 0};
  void* pa;
  // cudaFree of pool memory against held streams
  {
    MUST(cudaMallocAsync(&pa, 4096, n1));
    MUST(cudaDeviceSynchronize());
    Gate g;
    g.close(n1);
    bool q = returns_within([&] { say("more.free.pool.own.result", cudaFree(pa)); },
                            [&] { g.open(); }, 150);
    say("more.free.pool.ownheld", q);
    MUST(cudaDeviceSynchronize());
  }
  {
    Gate g;
    g.close(n1);
    MUST(cudaMallocAsync(&pa, 4096, n1));
    bool q = returns_within([&] { say("more.free.pool.pending.result", cudaFree(pa)); },
                            [&] { g.open(); }, 150);
    say("more.free.pool.pendingalloc", q);
    MUST(cudaDeviceSynchronize());
  }
  {
    MUST(cudaMallocAsync(&pa, 4096, n1));
    Gate g;
    g.close(n1);
    MUST(cudaFreeAsync(pa, n1));
    say("more.freed.held", use(p));
    void* x;
    MUST(cudaMallocAsync(&x, 64, n2));
    say("more.freed.held.more", use(p));
    MUST(cudaStreamSynchronize(n2));
    say("more.othersync", use(p));
    MUST(cudaMemPoolTrimTo(p, 0));
    say("more.trim.held", use(p));
    g.open();
    wait_until([&] { return cudaStreamQuery(n1) == cudaSuccess; });
    say("more.queried", use(p));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    say("more.quiet", use(p));
    MUST(cudaStreamSynchronize(n1));
    say("more.synced", use(p));
    MUST(cudaFree(x));
    say("more.free", use(p));
    MUST(cudaDeviceSynchronize());
    say("more.devsync", use(p));
  }
  {
    MUST(cudaMallocAsync(&pa, 40 << 20, n1));
    MUST(cudaFreeAsync(pa, n1));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    say("more.quiet2", use(p));
    cudaEvent_t e;
    MUST(cudaEventCreate(&e));
    MUST(cudaEventRecord(e, n1));
    wait_until([&] { return cudaEventQuery(e) == cudaSuccess; });
    say("more.eventqueried", use(p));
    MUST(cudaStreamSynchronize(n2));
    say("more.syncother", use(p));
    MUST(cudaMalloc(&pa, 4 << 20));
    say("more.malloc", use(p));
    MUST(cudaStreamSynchronize(n1));
    say("more.sync", use(p));
  }
  {
    void *a, *b;
    MUST(cudaMallocAsync(&a, 32 << 20, n1));
    MUST(cudaMallocAsync(&b, 32 << 20, n1));
    MUST(cudaFreeAsync(a, n1));
    MUST(cudaStreamSynchronize(n1));
    say("more.hole.low", use(p));
    MUST(cudaFreeAsync(b, n1));
    MUST(cudaMallocAsync(&a, 32 << 20, n1));
    MUST(cudaMallocAsync(&b, 32 << 20, n1));
    say("more.order", (long long)((char*)b - (char*)a));
    MUST(cudaFreeAsync(b, n1));
    MUST(cudaStreamSynchronize(n1));
    say("more.hole.high", use(p));
    MUST(cudaFreeAsync(a, n1));
    MUST(cudaStreamSynchronize(n1));
  }
  cudaMemPoolProps pr = {};
  pr.allocType = cudaMemAllocationTypePinned;
  pr.location = l0;
  pr.maxSize = 64 << 20;
  cudaMemPool_t c;
  unsigned long long keep = ~0ull;
  int zero = 0;
  for (int internal = 1; internal >= 0; internal--) {
    MUST(cudaMemPoolCreate(&c, &pr));
    MUST(cudaMemPoolSetAttribute(c, cudaMemPoolAttrReleaseThreshold, &keep));
    if (!internal)
      MUST(cudaMemPoolSetAttribute(c, cudaMemPoolReuseAllowInternalDependencies, &zero));
    void *a, *b = nullptr;
    MUST(cudaMallocFromPoolAsync(&a, 64 << 20, c, n1));
    Gate g;
    g.close(n1);
    MUST(cudaFreeAsync(a, n1));
    std::string t = internal ? "more.internal." : "more.nointernal.";
    cudaError_t r = cudaMallocFromPoolAsync(&b, 64 << 20, c, n2);
    cudaGetLastError();
    say(t + "alloc", r);
    if (r == cudaSuccess) {
      say(t + "same", a == b);
      bool ran = wait_until([&] { return cudaStreamQuery(n2) == cudaSuccess; }, 100);
      say(t + "idle", ran);
      MUST(cudaMemsetAsync(b, 0, 16, n2));
      ran = wait_until([&] { return cudaStreamQuery(n2) == cudaSuccess; }, 100);
      say(t + "runs", ran);
      cudaGetLastError();
    }
    g.open();
    MUST(cudaDeviceSynchronize());
  }
  MUST(cudaMemPoolSetAttribute(p, cudaMemPoolAttrReleaseThreshold, &keep));
  const size_t N = 64 << 20;
  void *a, *b;
  cudaEvent_t e, f;
  MUST(cudaEventCreateWithFlags(&e, 2));
  MUST(cudaEventCreateWithFlags(&f, 2));
  auto fresh = [&] {
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemPoolTrimTo(p, 0));
  };
  {
    Gate g;
    MUST(cudaMallocAsync(&a, N, n1));
    g.close(n1);
    MUST(cudaFreeAsync(a, n1));
    MUST(cudaEventRecord(e, n1));
    MUST(cudaStreamWaitEvent(n2, e, 0));
    MUST(cudaEventRecord(f, n2));
    MUST(cudaStreamWaitEvent(n3, f, 0));
    MUST(cudaMallocAsync(&b, N, n3));
    say("more.transitive", a == b);
    g.open();
    MUST(cudaFreeAsync(b, n3));
    fresh();
  }
  {
    Gate g;
    MUST(cudaMallocAsync(&a, N, b1));
    g.close(b1);
    MUST(cudaFreeAsync(a, b1));
    MUST(cudaMallocAsync(&b, N, 0));
    say("more.legacy.after.blocking", a == b);
    g.open();
    MUST(cudaFreeAsync(b, 0));
    fresh();
  }
  {
    Gate g;
    MUST(cudaMallocAsync(&a, N, 0));
    g.close((cudaStream_t)0);
    MUST(cudaFreeAsync(a, 0));
    MUST(cudaMallocAsync(&b, N, b1));
    say("more.blocking.after.legacy", a == b);
    g.open();
    MUST(cudaFreeAsync(b, b1));
    fresh();
  }
  {
    Gate g;
    MUST(cudaMallocAsync(&a, N, n1));
    g.close(n1);
    MUST(cudaFreeAsync(a, n1));
    MUST(cudaEventRecord(e, n1));
    MUST(cudaEventRecord(e, n1));
    MUST(cudaStreamWaitEvent(n2, e, 0));
    MUST(cudaEventDestroy(e));
    MUST(cudaMallocAsync(&b, N, n2));
    say("more.event.destroyed", a == b);
    g.open();
    MUST(cudaFreeAsync(b, n2));
    fresh();
  }
  MUST(cudaMemPoolSetAttribute(p, cudaMemPoolReuseAllowOpportunistic, &zero));
  MUST(cudaMemPoolSetAttribute(p, cudaMemPoolReuseAllowInternalDependencies, &zero));
  {
    MUST(cudaMallocAsync(&a, N, n1));
    MUST(cudaFreeAsync(a, n1));
    MUST(cudaStreamSynchronize(n1));
    MUST(cudaMallocAsync(&b, N, n2));
    say("more.noopp.streamsync", a == b);
    MUST(cudaFreeAsync(b, n2));
    fresh();
  }
  {
    MUST(cudaMallocAsync(&a, N, n1));
    MUST(cudaFreeAsync(a, n1));
    MUST(cudaDeviceSynchronize());
    MUST(cudaMallocAsync(&b, N, n2));
    say("more.noopp.devsync", a == b);
    MUST(cudaFreeAsync(b, n2));
    fresh();
  }
  {
    MUST(cudaMallocAsync(&a, N, n1));
    MUST(cudaFreeAsync(a, n1));
    MUST(cudaEventCreateWithFlags(&e, 2));
    MUST(cudaEventRecord(e, n1));
    MUST(cudaEventSynchronize(e));
    MUST(cudaMallocAsync(&b, N, n2));
    say("more.noopp.eventsync", a == b);
    MUST(cudaFreeAsync(b, n2));
    fresh();
  }
  {
    void* z[6];
    for (auto& q : z) MUST(cudaMallocAsync(&q, 1 << 20, n1));
    std::string s;
    for (int i = 1; i < 6; i++) s += std::to_string((char*)z[i] - (char*)z[i - 1]) + " ";
    say("more.pool.1M.diffs", s);
    MUST(cudaFreeAsync(z[1], n1));
    MUST(cudaFreeAsync(z[4], n1));
    void* q;
    MUST(cudaMallocAsync(&q, 1 << 20, n1));
    say("more.fit", q == z[1] ? "first" : q == z[4] ? "last" : "new");
    MUST(cudaMallocAsync(&q, 1 << 19, n1));
    say("more.fit2", q == z[1] ? "first" : q == z[4] ? "last" : "new");
  }
}

int main(int argc, char** argv) {
  std::string section = argc > 1 ? argv[1] : "";
  MUST(cudaFree(0));
  if (section == "reuse") reuse();
  if (section == "more") more();
  say(section + ".end", "ok");
}
