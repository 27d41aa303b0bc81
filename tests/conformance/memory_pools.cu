// Stream-ordered memory: pools, their attributes and usage. The section is named on the command
// line.
#include <cstring>

#include "probe.h"

#define E(name, call) (say(name, call), (void)cudaGetLastError())

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

static void pools() {
  cudaMemPool_t p = nullptr, p2, c;
  MUST(cudaDeviceGetDefaultMemPool(&p, 0));
  MUST(cudaDeviceGetMemPool(&p2, 0));
  say("pool.current.is.default", p == p2);
  E("pool.default.bad", cudaDeviceGetDefaultMemPool(&p2, 9));
  E("pool.default.null", cudaDeviceGetDefaultMemPool(nullptr, 0));
  E("pool.get.bad", cudaDeviceGetMemPool(&p2, -1));
  for (int a = 1; a <= 3; a++) {
    int v = 9;
    MUST(cudaMemPoolGetAttribute(p, (cudaMemPoolAttr)a, &v));
    say("pool.attr" + std::to_string(a), v);
  }
  say("pool.threshold", (long long)attr(p, cudaMemPoolAttrReleaseThreshold));
  say("pool.start", use(p));
  cudaStream_t s, t;
  MUST(cudaStreamCreate(&s));
  MUST(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  void *a, *b;
  MUST(cudaMallocAsync(&a, 1, s));
  say("pool.1B", use(p));
  MUST(cudaMallocAsync(&b, 1000, s));
  say("pool.1000B", use(p));
  say("pool.diff", (long long)((char*)b - (char*)a));
  MUST(cudaFreeAsync(a, s));
  MUST(cudaFreeAsync(b, s));
  say("pool.freed.called", use(p));
  MUST(cudaStreamSynchronize(s));
  say("pool.freed.synced", use(p));
  MUST(cudaMallocAsync(&a, 40 << 20, s));
  say("pool.40M", use(p));
  MUST(cudaMallocAsync(&b, 33 << 20, s));
  say("pool.40M+33M", use(p));
  MUST(cudaFreeAsync(a, s));
  MUST(cudaFreeAsync(b, s));
  MUST(cudaEventSynchronize([&] {
    cudaEvent_t e;
    cudaEventCreate(&e);
    cudaEventRecord(e, s);
    return e;
  }()));
  say("pool.eventsynced", use(p));
  MUST(cudaStreamSynchronize(t));
  say("pool.othersynced", use(p));
  MUST(cudaStreamSynchronize(s));
  say("pool.streamsynced", use(p));
  MUST(cudaDeviceSynchronize());
  say("pool.devsynced", use(p));
  unsigned long long v = 0, one = 1;
  E("pool.high.reset", cudaMemPoolSetAttribute(p, cudaMemPoolAttrReservedMemHigh, &v));
  E("pool.usedhigh.reset", cudaMemPoolSetAttribute(p, cudaMemPoolAttrUsedMemHigh, &v));
  say("pool.after.reset", use(p));
  E("pool.high.set1", cudaMemPoolSetAttribute(p, cudaMemPoolAttrReservedMemHigh, &one));
  E("pool.current.set", cudaMemPoolSetAttribute(p, cudaMemPoolAttrReservedMemCurrent, &v));
  E("pool.used.set", cudaMemPoolSetAttribute(p, cudaMemPoolAttrUsedMemCurrent, &v));
  E("pool.attr.bad", cudaMemPoolGetAttribute(p, (cudaMemPoolAttr)99, &v));
  E("pool.attr.null", cudaMemPoolGetAttribute(nullptr, cudaMemPoolAttrReleaseThreshold, &v));
  E("pool.attr.nullvalue", cudaMemPoolGetAttribute(p, cudaMemPoolAttrReleaseThreshold, nullptr));
  E("pool.set.null", cudaMemPoolSetAttribute(nullptr, cudaMemPoolAttrReleaseThreshold, &v));
  int two = 2;
  E("pool.reuse.set2", cudaMemPoolSetAttribute(p, cudaMemPoolReuseAllowOpportunistic, &two));
  MUST(cudaMemPoolGetAttribute(p, cudaMemPoolReuseAllowOpportunistic, &two));
  say("pool.reuse.value", two);
  v = 64 << 20;
  MUST(cudaMemPoolSetAttribute(p, cudaMemPoolAttrReleaseThreshold, &v));
  MUST(cudaMallocAsync(&a, 100 << 20, s));
  MUST(cudaMallocAsync(&b, 20 << 20, s));
  say("pool.thr.alloc", use(p));
  MUST(cudaFreeAsync(a, s));
  MUST(cudaFreeAsync(b, s));
  MUST(cudaStreamSynchronize(s));
  say("pool.thr.synced", use(p));
  MUST(cudaMallocAsync(&a, 50 << 20, s));
  MUST(cudaFreeAsync(a, s));
  MUST(cudaStreamSynchronize(s));
  say("pool.thr.kept", use(p));
  E("pool.trim.40M", cudaMemPoolTrimTo(p, 40 << 20));
  say("pool.trimmed40", use(p));
  E("pool.trim.0", cudaMemPoolTrimTo(p, 0));
  say("pool.trimmed0", use(p));
  E("pool.trim.null", cudaMemPoolTrimTo(nullptr, 0));
  v = 0;
  MUST(cudaMemPoolSetAttribute(p, cudaMemPoolAttrReleaseThreshold, &v));
  size_t f0, f1, tt;
  MUST(cudaMemGetInfo(&f0, &tt));
  MUST(cudaMallocAsync(&a, 100 << 20, s));
  MUST(cudaMemGetInfo(&f1, &tt));
  say("pool.info.alloc", (long long)(f0 - f1));
  MUST(cudaFreeAsync(a, s));
  MUST(cudaStreamSynchronize(s));
  MUST(cudaMemGetInfo(&f1, &tt));
  say("pool.info.freed", (long long)(f0 - f1));
  cudaMemPoolProps pr = {};
  pr.allocType = cudaMemAllocationTypePinned;
  pr.location = {cudaMemLocationTypeDevice, 0};
  E("create.ok", cudaMemPoolCreate(&c, &pr));
  E("create.nullprops", cudaMemPoolCreate(&p2, nullptr));
  E("create.null", cudaMemPoolCreate(nullptr, &pr));
  {
    auto q = pr;
    q.allocType = cudaMemAllocationTypeInvalid;
    E("create.badtype", cudaMemPoolCreate(&p2, &q));
    q = pr;
    q.location.id = 9;
    E("create.baddev", cudaMemPoolCreate(&p2, &q));
    q = pr;
    q.reserved[3] = 1;
    E("create.reserved", cudaMemPoolCreate(&p2, &q));
    q = pr;
    q.maxSize = 64 << 20;
    E("create.max64M", cudaMemPoolCreate(&p2, &q));
    void* z;
    E("create.max.alloc32M", cudaMallocFromPoolAsync(&z, 32 << 20, p2, s));
    E("create.max.alloc48M", cudaMallocFromPoolAsync(&z, 48 << 20, p2, s));
  }
  for (int i = 1; i <= 3; i++) {
    int w = 9;
    MUST(cudaMemPoolGetAttribute(c, (cudaMemPoolAttr)i, &w));
    say("created.attr" + std::to_string(i), w);
  }
  say("created.threshold", (long long)attr(c, cudaMemPoolAttrReleaseThreshold));
  E("frompool.ok", cudaMallocFromPoolAsync(&a, 4096, c, s));
  say("created.use", use(c));
  E("frompool.null", cudaMallocFromPoolAsync(&b, 4096, nullptr, s));
  E("frompool.nullptr", cudaMallocFromPoolAsync(nullptr, 4096, c, s));
  b = (void*)1;
  E("frompool.zero", cudaMallocFromPoolAsync(&b, 0, c, s));
  say("frompool.zero.null", b == nullptr);
  E("mallocasync.null", cudaMallocAsync((void**)nullptr, 16, s));
  E("freeasync.null", cudaFreeAsync(nullptr, s));
  E("freeasync.interior", cudaFreeAsync((char*)a + 256, s));
  E("setpool", cudaDeviceSetMemPool(0, c));
  MUST(cudaDeviceGetMemPool(&p2, 0));
  say("setpool.got", p2 == c);
  E("setpool.null", cudaDeviceSetMemPool(0, nullptr));
  E("setpool.bad", cudaDeviceSetMemPool(9, c));
  MUST(cudaMallocAsync(&b, 4096, s));
  say("setpool.use", use(c));
  E("destroy.default", cudaMemPoolDestroy(p));
  E("destroy.null", cudaMemPoolDestroy(nullptr));
  E("destroy.current.outstanding", cudaMemPoolDestroy(c));
  MUST(cudaDeviceGetMemPool(&p2, 0));
  say("destroyed.current.is.default", p2 == p);
  E("destroyed.freeasync", cudaFreeAsync(a, s));
  MUST(cudaFreeAsync(b, s));
  MUST(cudaMemPoolCreate(&c, &pr));
  cudaMemAccessFlags fl;
  cudaMemLocation l0{cudaMemLocationTypeDevice, 0}, l9{cudaMemLocationTypeDevice, 9},
      lh{cudaMemLocationTypeHost, 0};
  E("getaccess", cudaMemPoolGetAccess(&fl, c, &l0));
  say("getaccess.value", (int)fl);
  E("getaccess.9", cudaMemPoolGetAccess(&fl, c, &l9));
  E("getaccess.host", cudaMemPoolGetAccess(&fl, c, &lh));
  cudaMemAccessDesc de{l0, cudaMemAccessFlagsProtReadWrite};
  E("setaccess.own.rw", cudaMemPoolSetAccess(c, &de, 1));
  de.flags = cudaMemAccessFlagsProtNone;
  E("setaccess.own.none", cudaMemPoolSetAccess(c, &de, 1));
  de.location = l9;
  de.flags = cudaMemAccessFlagsProtReadWrite;
  E("setaccess.9", cudaMemPoolSetAccess(c, &de, 1));
  de.location = lh;
  E("setaccess.host", cudaMemPoolSetAccess(c, &de, 1));

  // misuse of frees
  MUST(cudaMallocAsync(&a, 4096, s));
  MUST(cudaFreeAsync(a, s));
  E("freeasync.twice.pending", cudaFreeAsync(a, s));
  E("free.after.freeasync", cudaFree(a));
  MUST(cudaDeviceSynchronize());
  {
    Gate g;
    MUST(cudaMallocAsync(&a, 4096, s));
    g.close(s);
    MUST(cudaFreeAsync(a, s));
    E("freeasync.twice.held", cudaFreeAsync(a, t));
    cudaPointerAttributes pa;
    E("attr.freed.held", cudaPointerGetAttributes(&pa, a));
    say("attr.freed.held.type", (int)pa.type);
    E("memset.freed.held", cudaMemsetAsync(a, 0, 16, t));
    E("memset.freed.held.same", cudaMemsetAsync(a, 0, 16, s));
    g.open();
    say("held.sync", cudaDeviceSynchronize());
  }
  {
    void *d, *h;
    MUST(cudaMalloc(&d, 4096));
    MUST(cudaMallocHost(&h, 4096));
    E("freeasync.pinned", cudaFreeAsync(h, s));
    E("freeasync.malloc", cudaFreeAsync(d, s));
    void* m;
    MUST(cudaMallocManaged(&m, 4096));
    E("freeasync.managed", cudaFreeAsync(m, s));
    MUST(cudaDeviceSynchronize());
  }
}

int main(int argc, char** argv) {
  std::string section = argc > 1 ? argv[1] : "";
  MUST(cudaFree(0));
  if (section == "pools") pools();
  say(section + ".end", "ok");
}
