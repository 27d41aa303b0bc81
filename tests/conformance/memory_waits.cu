// Which memory calls return while a kernel is held, in a blocking and in a non-blocking stream;
// what is staged.
#include <cstring>

#include "probe.h"

__device__ int sym[1024];

static void waits() {
  char *d1, *d2, *hp, *mm;
  char* pg = (char*)malloc(8 << 20);
  memset(pg, 1, 8 << 20);
  MUST(cudaMalloc(&d1, 8 << 20));
  MUST(cudaMalloc(&d2, 8 << 20));
  MUST(cudaMallocHost(&hp, 8 << 20));
  MUST(cudaMallocManaged(&mm, 4 << 20));
  cudaStream_t b1, b2, n1, n2;
  MUST(cudaStreamCreate(&b1));
  MUST(cudaStreamCreate(&b2));
  MUST(cudaStreamCreateWithFlags(&n1, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&n2, cudaStreamNonBlocking));
  {
    Gate g;
    g.open();
    g.close(b1);
    MUST(cudaDeviceSynchronize());
  }
  MUST(cudaMemcpy(d1, pg, 1 << 20, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(d2, d1, 4096, cudaMemcpyDeviceToDevice));
  MUST(cudaMemset(d1, 0, 64));
  MUST(cudaMemset(mm, 0, 64));
  int v[64] = {0};
  MUST(cudaMemcpyToSymbol(sym, v, 64));
  MUST(cudaMemset2D(d1, 100, 0, 50, 4));
  MUST(cudaMemcpy2D(d1, 100, pg, 100, 50, 4, cudaMemcpyHostToDevice));
  MUST(cudaDeviceSynchronize());
  cudaMemPool_t p;
  MUST(cudaDeviceGetDefaultMemPool(&p, 0));
  cudaMemLocation l0{cudaMemLocationTypeDevice, 0};
  void *pa = nullptr, *x = nullptr;
  size_t sz;
  auto H = cudaMemcpyHostToDevice;
  auto D = cudaMemcpyDeviceToHost;
  auto DD = cudaMemcpyDeviceToDevice;
  struct Call {
    const char* name;
    std::function<void()> f;
  };
  for (auto held : {std::make_pair("b1", b1), std::make_pair("n1", n1)}) {
    MUST(cudaMallocAsync(&pa, 4096, n2));
    MUST(cudaDeviceSynchronize());
    void* mf;
    MUST(cudaMallocManaged(&mf, 4096));
    cudaStream_t hs = held.second;
    std::vector<Call> calls = {
        {"free.null", [&] { cudaFree(nullptr); }},
        {"free.bad", [&] { cudaFree(v); }},
        {"freehost.null", [&] { cudaFreeHost(nullptr); }},
        {"freehost.bad", [&] { cudaFreeHost(v); }},
        {"unregister.bad", [&] { cudaHostUnregister(v); }},
        {"free.pool", [&] { cudaFree(pa); }},
        {"mallocmanaged", [&] { cudaMallocManaged(&x, 4096); }},
        {"free.managed", [&] { cudaFree(mf); }},
        {"hostalloc", [&] { cudaHostAlloc(&x, 4096, 0); }},
        {"mallocpitch",
         [&] {
           size_t q;
           cudaMallocPitch(&x, &q, 100, 10);
         }},
        {"memcpy.zero", [&] { cudaMemcpy(d1, pg, 0, H); }},
        {"memcpy.bad", [&] { cudaMemcpy(d1, pg, 4, D); }},
        {"memcpy.d2h.pinned", [&] { cudaMemcpy(hp, d1, 4096, D); }},
        {"memcpy.h2h.pinned", [&] { cudaMemcpy(hp, hp + 8192, 64, cudaMemcpyHostToHost); }},
        {"memcpy.h2h.page", [&] { cudaMemcpy(pg, pg + 8192, 64, cudaMemcpyHostToHost); }},
        {"memcpy.default.h2h.page", [&] { cudaMemcpy(pg, pg + 8192, 64, cudaMemcpyDefault); }},
        {"memcpy.default.h2h.pinned", [&] { cudaMemcpy(hp, hp + 8192, 64, cudaMemcpyDefault); }},
        {"memcpy.d2d.kind.pinned", [&] { cudaMemcpy(d1, hp, 64, DD); }},
        {"memcpy.d2d.default", [&] { cudaMemcpy(d1, d2, 64, cudaMemcpyDefault); }},
        {"memcpy.managed.h2d", [&] { cudaMemcpy(mm, pg, 64, H); }},
        {"memcpy.managed.src", [&] { cudaMemcpy(d1, mm, 64, H); }},
        {"memcpy.managed.default", [&] { cudaMemcpy(d1, mm, 64, cudaMemcpyDefault); }},
        {"memcpy.d2d.64M", [&] { cudaMemcpy(d1, d2, 8 << 20, DD); }},
        {"memcpy.d2d.self", [&] { cudaMemcpy(d1, d1 + 4096, 64, DD); }},
        {"memcpy2d.h2d", [&] { cudaMemcpy2D(d1, 100, pg, 100, 50, 4, H); }},
        {"memcpy2d.d2d", [&] { cudaMemcpy2D(d1, 100, d2, 100, 50, 4, DD); }},
        {"memcpypeer", [&] { cudaMemcpyPeer(d1, 0, d2, 0, 64); }},
        {"tosym", [&] { cudaMemcpyToSymbol(sym, v, 64); }},
        {"fromsym", [&] { cudaMemcpyFromSymbol(v, sym, 64); }},
        {"tosym.d2d", [&] { cudaMemcpyToSymbol(sym, d1, 64, 0, DD); }},
        {"getsymbol", [&] { cudaGetSymbolAddress(&x, sym); }},
        {"memset.managed", [&] { cudaMemset(mm, 0, 64); }},
        {"memset.pinned", [&] { cudaMemset(hp, 0, 64); }},
        {"memset2d", [&] { cudaMemset2D(d1, 100, 0, 50, 4); }},
        {"mallocasync.held", [&] { cudaMallocAsync(&x, 4096, hs); }},
        {"freeasync.held", [&] { cudaFreeAsync(x, hs); }},
        {"mallocasync.null", [&] { cudaMallocAsync(&x, 4096, 0); }},
        {"freeasync.null", [&] { cudaFreeAsync(x, 0); }},
        {"freeasync.of.malloc",
         [&] {
           void* q;
           cudaMalloc(&q, 4096);
           cudaFreeAsync(q, n2);
         }},
        {"trim", [&] { cudaMemPoolTrimTo(p, 0); }},
        {"poolcreate",
         [&] {
           cudaMemPool_t c;
           cudaMemPoolProps pr = {};
           pr.allocType = cudaMemAllocationTypePinned;
           pr.location = l0;
           cudaMemPoolCreate(&c, &pr);
           cudaMemPoolDestroy(c);
         }},
        {"ptrattr",
         [&] {
           cudaPointerAttributes a;
           cudaPointerGetAttributes(&a, d1);
         }},
        {"prefetch.n2", [&] { cudaMemPrefetchAsync(mm, 4096, l0, 0, n2); }},
        {"prefetch.held", [&] { cudaMemPrefetchAsync(mm, 4096, l0, 0, hs); }},
        {"advise", [&] { cudaMemAdvise(mm, 4096, cudaMemAdviseSetReadMostly, l0); }},
        {"getflags",
         [&] {
           unsigned f;
           cudaHostGetFlags(&f, hp);
         }},
        {"async.h2d.page.null", [&] { cudaMemcpyAsync(d1, pg, 4096, H, 0); }},
        {"async.h2h.zero", [&] { cudaMemcpyAsync(pg, pg + 4096, 0, cudaMemcpyHostToHost, hs); }},
        {"async.d2h.page.zero", [&] { cudaMemcpyAsync(pg, d1, 0, D, hs); }},
        {"async.2d.h2d.page", [&] { cudaMemcpy2DAsync(d1, 100, pg, 100, 50, 4, H, hs); }},
        {"async.2d.h2d.page.1M", [&] { cudaMemcpy2DAsync(d1, 2048, pg, 2048, 1024, 1024, H, hs); }},
        {"async.2d.h2d.page.2M", [&] { cudaMemcpy2DAsync(d1, 2048, pg, 2048, 1024, 2048, H, hs); }},
        {"async.2d.h2d.page.2.5M",
         [&] { cudaMemcpy2DAsync(d1, 2048, pg, 2048, 1024, 2560, H, hs); }},
        {"async.2d.d2h.page", [&] { cudaMemcpy2DAsync(pg, 100, d1, 100, 50, 4, D, hs); }},
        {"async.2d.h2d.pinned", [&] { cudaMemcpy2DAsync(d1, 100, hp, 100, 50, 4, H, hs); }},
        {"async.tosym", [&] { cudaMemcpyToSymbolAsync(sym, v, 64, 0, H, hs); }},
        {"async.fromsym", [&] { cudaMemcpyFromSymbolAsync(v, sym, 64, 0, D, hs); }},
        {"async.managed.src", [&] { cudaMemcpyAsync(d1, mm, 64, H, hs); }},
        {"async.managed.dst.page", [&] { cudaMemcpyAsync(mm, pg, 64, H, hs); }},
        {"async.managed.to.page", [&] { cudaMemcpyAsync(pg, mm, 64, D, hs); }},
        {"async.managed.d2h", [&] { cudaMemcpyAsync(mm, d1, 64, D, hs); }},
        {"async.managed.managed",
         [&] { cudaMemcpyAsync(mm, mm + 4096, 64, cudaMemcpyDefault, hs); }},
        {"async.default.h2d.page", [&] { cudaMemcpyAsync(d1, pg, 64, cudaMemcpyDefault, hs); }},
        {"async.default.d2h.page", [&] { cudaMemcpyAsync(pg, d1, 64, cudaMemcpyDefault, hs); }},
        {"async.pin.to.page", [&] { cudaMemcpyAsync(pg, hp, 64, cudaMemcpyDefault, hs); }},
        {"async.page.to.pin", [&] { cudaMemcpyAsync(hp, pg, 64, cudaMemcpyDefault, hs); }},
        {"async.pin.pin.default",
         [&] { cudaMemcpyAsync(hp, hp + 4096, 64, cudaMemcpyDefault, hs); }},
        {"async.peer", [&] { cudaMemcpyPeerAsync(d1, 0, d2, 0, 64, hs); }},
        {"memsetasync.pinned", [&] { cudaMemsetAsync(hp, 0, 64, hs); }},
        {"memsetasync.managed", [&] { cudaMemsetAsync(mm, 0, 64, hs); }},
        {"getsymbolsize", [&] { cudaGetSymbolSize(&sz, sym); }},
        {"stage.two.streams.2M",
         [&] {
           cudaMemcpyAsync(d1, pg, 2 << 20, H, hs);
           cudaStreamWaitEvent(
               n2,
               [&] {
                 cudaEvent_t e;
                 cudaEventCreateWithFlags(&e, 2);
                 cudaEventRecord(e, hs);
                 return e;
               }(),
               0);
           cudaMemcpyAsync(d2, pg, 2 << 20, H, n2);
         }},
        {"stage.1.5M+0.5M",
         [&] {
           cudaMemcpyAsync(d1, pg, 3 << 19, H, hs);
           cudaMemcpyAsync(d1, pg, 1 << 19, H, hs);
         }},
        {"stage.1.5M+0.5M+4K",
         [&] {
           cudaMemcpyAsync(d1, pg, 3 << 19, H, hs);
           cudaMemcpyAsync(d1, pg, (1 << 19) + 4096, H, hs);
         }},
        {"stage.32x64K",
         [&] {
           for (int i = 0; i < 32; i++) cudaMemcpyAsync(d1, pg, 65536, H, hs);
         }},
        {"stage.33x64K",
         [&] {
           for (int i = 0; i < 33; i++) cudaMemcpyAsync(d1, pg, 65536, H, hs);
         }},
        {"stage.600x4K",
         [&] {
           for (int i = 0; i < 600; i++) cudaMemcpyAsync(d1, pg, 4096, H, hs);
         }},
        {"stage.1000x16",
         [&] {
           for (int i = 0; i < 1000; i++) cudaMemcpyAsync(d1, pg, 16, H, hs);
         }},
        {"stage.two.held.streams",
         [&] {
           cudaMemcpyAsync(d1, pg, 3 << 19, H, hs);
           cudaEvent_t e;
           cudaEventCreateWithFlags(&e, 2);
           cudaEventRecord(e, hs);
           cudaStreamWaitEvent(b2, e, 0);
           cudaMemcpyAsync(d2, pg, 3 << 19, H, b2);
         }},
    };
    for (auto& c : calls) {
      Gate g;
      g.close(hs);
      bool q = returns_within(c.f, [&] { g.open(); }, 120);
      say(std::string("while.") + held.first + "." + c.name, q);
      cudaGetLastError();
      MUST(cudaDeviceSynchronize());
    }
  }
}

static void staging() {
  char *d1, *d2, *hp, *mm;
  char* pg = (char*)malloc(8 << 20);
  memset(pg, 1, 8 << 20);
  MUST(cudaMalloc(&d1, 8 << 20));
  MUST(cudaMalloc(&d2, 8 << 20));
  MUST(cudaMallocHost(&hp, 8 << 20));
  MUST(cudaMallocManaged(&mm, 4 << 20));
  cudaStream_t b1, b2, n1, n2, n3;
  MUST(cudaStreamCreate(&b1));
  MUST(cudaStreamCreate(&b2));
  MUST(cudaStreamCreateWithFlags(&n1, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&n2, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&n3, cudaStreamNonBlocking));
  {
    Gate g;
    g.open();
    g.close(b1);
    MUST(cudaDeviceSynchronize());
  }
  MUST(cudaMemcpy(d1, pg, 1 << 20, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(d2, d1, 4096, cudaMemcpyDeviceToDevice));
  MUST(cudaMemset(d1, 0, 64));
  MUST(cudaMemset(mm, 0, 64));
  MUST(cudaDeviceSynchronize());
  auto H = cudaMemcpyHostToDevice;
  auto D = cudaMemcpyDeviceToHost;
  auto times = [&](int k, size_t n, cudaStream_t s) {
    for (int i = 0; i < k; i++) cudaMemcpyAsync(d1, pg, n, H, s);
  };
  struct Call {
    const char* name;
    std::function<void()> f;
  };
  std::vector<Call> calls = {
      {"2x65537", [&] { times(2, 65537, n1); }},
      {"3x65537", [&] { times(3, 65537, n1); }},
      {"3x128K", [&] { times(3, 1 << 17, n1); }},
      {"2x128K", [&] { times(2, 1 << 17, n1); }},
      {"4x64K+64", [&] { times(4, 65536 + 64, n1); }},
      {"100x64K", [&] { times(100, 65536, n1); }},
      {"300x64K", [&] { times(300, 65536, n1); }},
      {"1000x64K", [&] { times(1000, 65536, n1); }},
      {"700x4K", [&] { times(700, 4096, n1); }},
      {"800x4K", [&] { times(800, 4096, n1); }},
      {"900x4K", [&] { times(900, 4096, n1); }},
      {"950x4K", [&] { times(950, 4096, n1); }},
      {"1000x4K", [&] { times(1000, 4096, n1); }},
      {"40x64K", [&] { times(40, 65536, n1); }},
      {"48x64K", [&] { times(48, 65536, n1); }},
      {"52x64K", [&] { times(52, 65536, n1); }},
      {"56x64K", [&] { times(56, 65536, n1); }},
      {"60x64K", [&] { times(60, 65536, n1); }},
      {"63x64K", [&] { times(63, 65536, n1); }},
      {"64x64K", [&] { times(64, 65536, n1); }},
      {"300x16K", [&] { times(300, 16384, n1); }},
      {"200x16K", [&] { times(200, 16384, n1); }},
      {"1020x1K", [&] { times(1020, 1024, n1); }},
      {"1020x2K", [&] { times(1020, 2048, n1); }},
      {"1020x3K", [&] { times(1020, 3072, n1); }},
      {"1030x16", [&] { times(1030, 16, n1); }},
      {"2000x16", [&] { times(2000, 16, n1); }},
      {"4000x16", [&] { times(4000, 16, n1); }},
      {"2x1M+64K",
       [&] {
         times(2, 1 << 20, n1);
         times(1, 65536, n1);
       }},
      {"2x1M+64K+1",
       [&] {
         times(2, 1 << 20, n1);
         times(1, 65537, n1);
       }},
      {"1M+1.then.64K",
       [&] {
         times(1, (1 << 20) + 1, n1);
         times(1, 65536, n1);
       }},
      {"16x128K", [&] { times(16, 1 << 17, n1); }},
      {"17x128K", [&] { times(17, 1 << 17, n1); }},
      {"8x256K", [&] { times(8, 1 << 18, n1); }},
      {"4x512K", [&] { times(4, 1 << 19, n1); }},
      {"3x512K", [&] { times(3, 1 << 19, n1); }},
      {"512K+1M",
       [&] {
         times(1, 1 << 19, n1);
         times(1, 1 << 20, n1);
       }},
      {"512K+1M+512K",
       [&] {
         times(1, 1 << 19, n1);
         times(1, 1 << 20, n1);
         times(1, 1 << 19, n1);
       }},
      {"512K+1.5M",
       [&] {
         times(1, 1 << 19, n1);
         times(1, 3 << 19, n1);
       }},
      {"man.default.from", [&] { cudaMemcpyAsync(d1, mm, 64, cudaMemcpyDefault, n1); }},
      {"man.default.to", [&] { cudaMemcpyAsync(mm, d1, 64, cudaMemcpyDefault, n1); }},
      {"man.default.page.from", [&] { cudaMemcpyAsync(mm, pg, 64, cudaMemcpyDefault, n1); }},
      {"man.default.page.to", [&] { cudaMemcpyAsync(pg, mm, 64, cudaMemcpyDefault, n1); }},
      {"man.d2d", [&] { cudaMemcpyAsync(mm, d1, 64, cudaMemcpyDeviceToDevice, n1); }},
      {"man.pin.h2d", [&] { cudaMemcpyAsync(mm, hp, 64, H, n1); }},
      {"man.pin.d2h", [&] { cudaMemcpyAsync(hp, mm, 64, D, n1); }},
      {"man.pin.default", [&] { cudaMemcpyAsync(hp, mm, 64, cudaMemcpyDefault, n1); }},
      {"man.h2h", [&] { cudaMemcpyAsync(mm, mm + 4096, 64, cudaMemcpyHostToHost, n1); }},
      {"pin.d2d", [&] { cudaMemcpyAsync(hp, d1, 64, cudaMemcpyDeviceToDevice, n1); }},
      {"pin.pin.d2d", [&] { cudaMemcpyAsync(hp, hp + 4096, 64, cudaMemcpyDeviceToDevice, n1); }},
      {"pin.pin.h2d", [&] { cudaMemcpyAsync(hp, hp + 4096, 64, H, n1); }},
      {"page.pin.h2d", [&] { cudaMemcpyAsync(hp, pg, 64, H, n1); }},
      {"pin.as.dev.d2h.page", [&] { cudaMemcpyAsync(pg, hp, 64, D, n1); }},
      {"pin.h2d.dst.pin.1M", [&] { cudaMemcpyAsync(hp, pg, 1 << 20, H, n1); }}};
  for (auto& c : calls) {
    Gate g;
    g.close(n1);
    bool q = returns_within(c.f, [&] { g.open(); }, 150);
    say(std::string("stage.") + c.name, q);
    cudaGetLastError();
    MUST(cudaDeviceSynchronize());
  }
}

int main(int argc, char** argv) {
  std::string section = argc > 1 ? argv[1] : "";
  MUST(cudaFree(0));
  if (section == "waits") waits();
  if (section == "staging") staging();
  say(section + ".end", "ok");
}
