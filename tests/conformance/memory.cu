// What memory calls answer: sizes, alignment, kinds of pointers, shapes, bounds, symbols, managed
// memory; inside host functions; during capture. One section a process, named on the command line.
#include <cstring>

#include "probe.h"

#define E(name, call) (say(name, call), (void)cudaGetLastError())

__device__ int sym[1024];
__constant__ int csym[64];
__managed__ int msym[64];

static void bounds(const std::string& which) {
  char *d, *d2, *big;
  static char page[8 << 20];
  char* hp;
  MUST(cudaMalloc(&d, 1000));
  MUST(cudaMalloc(&d2, 1000));
  MUST(cudaMalloc(&big, 5 << 20));
  MUST(cudaMallocHost(&hp, 4096));
  std::string n = "bounds." + which;
  cudaError_t r = cudaSuccess;
  if (which == "h2d.1001") r = cudaMemcpy(d, page, 1001, cudaMemcpyHostToDevice);
  if (which == "h2d.1025") r = cudaMemcpy(d, page, 1025, cudaMemcpyHostToDevice);
  if (which == "h2d.1M") r = cudaMemcpy(d, page, 1 << 20, cudaMemcpyHostToDevice);
  if (which == "h2d.3M") r = cudaMemcpy(d, page, 3 << 20, cudaMemcpyHostToDevice);
  if (which == "d2h.1001") r = cudaMemcpy(page, d, 1001, cudaMemcpyDeviceToHost);
  if (which == "d2h.3M") r = cudaMemcpy(page, d, 3 << 20, cudaMemcpyDeviceToHost);
  if (which == "d2d.1001") r = cudaMemcpy(d, big, 1001, cudaMemcpyDeviceToDevice);
  if (which == "d2d.src.1001") r = cudaMemcpy(big, d, 1001, cudaMemcpyDeviceToDevice);
  if (which == "d2d.3M") r = cudaMemcpy(d, big, 3 << 20, cudaMemcpyDeviceToDevice);
  if (which == "async.h2d.1001") r = cudaMemcpyAsync(d, page, 1001, cudaMemcpyHostToDevice, 0);
  if (which == "async.h2d.3M") r = cudaMemcpyAsync(d, page, 3 << 20, cudaMemcpyHostToDevice, 0);
  if (which == "interior.h2d") r = cudaMemcpy(d + 900, page, 101, cudaMemcpyHostToDevice);
  if (which == "big.h2d.plus1") r = cudaMemcpy(big, page, (5 << 20) + 1, cudaMemcpyHostToDevice);
  if (which == "big.h2d.6M") r = cudaMemcpy(big, page, 6 << 20, cudaMemcpyHostToDevice);
  if (which == "big.h2d.7M") r = cudaMemcpy(big, page, 7 << 20, cudaMemcpyHostToDevice);
  if (which == "pinned.src.past") r = cudaMemcpy(big, hp, 4097, cudaMemcpyHostToDevice);
  if (which == "pinned.dst.past") r = cudaMemcpy(hp, big, 4097, cudaMemcpyDeviceToHost);
  if (which == "memset.1001") r = cudaMemset(d, 0, 1001);
  if (which == "memset.1025") r = cudaMemset(d, 0, 1025);
  if (which == "memset.3M") r = cudaMemset(d, 0, 3 << 20);
  if (which == "memsetasync.1001") r = cudaMemsetAsync(d, 0, 1001, 0);
  if (which == "freed.h2d") {
    char* q;
    MUST(cudaMalloc(&q, 4 << 20));
    MUST(cudaFree(q));
    r = cudaMemcpy(q, page, 16, cudaMemcpyHostToDevice);
  }
  if (which == "freed.small.h2d") {
    MUST(cudaFree(d2));
    r = cudaMemcpy(d2, page, 16, cudaMemcpyHostToDevice);
  }
  if (which == "freed.memset") {
    char* q;
    MUST(cudaMalloc(&q, 4 << 20));
    MUST(cudaFree(q));
    r = cudaMemset(q, 0, 16);
  }
  if (which == "gap.h2d") r = cudaMemcpy(d + 1010, page, 4, cudaMemcpyHostToDevice);
  if (which == "2d.h2d.past") r = cudaMemcpy2D(d, 100, page, 100, 100, 11, cudaMemcpyHostToDevice);
  if (which == "2d.h2d.lastrow")
    r = cudaMemcpy2D(d, 110, page, 110, 10, 10, cudaMemcpyHostToDevice);
  if (which == "pool.h2d.past") {
    char* q;
    MUST(cudaMallocAsync(&q, 1000, 0));
    r = cudaMemcpy(q, page, 1001, cudaMemcpyHostToDevice);
  }
  if (which == "pool.freed.h2d") {
    char* q;
    MUST(cudaMallocAsync(&q, 1000, 0));
    MUST(cudaFreeAsync(q, 0));
    r = cudaMemcpyAsync(q, page, 10, cudaMemcpyHostToDevice, 0);
  }
  cudaError_t s = cudaDeviceSynchronize();
  say(n, std::string(cudaGetErrorName(r)) + " sync " + cudaGetErrorName(s));
}

static void layout() {
  size_t f0, f1, tot;
  MUST(cudaMemGetInfo(&f0, &tot));
  say("mem.total", (long long)tot);
  char* p[10];
  for (auto& q : p) MUST(cudaMalloc(&q, 1));
  std::string s;
  for (int i = 1; i < 10; i++) s += std::to_string(p[i] - p[i - 1]) + " ";
  say("layout.1B.diffs", s);
  MUST(cudaMemGetInfo(&f1, &tot));
  say("info.10x1B", (long long)(f0 - f1));
  f0 = f1;
  for (size_t n : {(size_t)257, (size_t)513, (size_t)4097, (size_t)70000}) {
    char *a, *b;
    MUST(cudaMalloc(&a, n));
    MUST(cudaMalloc(&b, n));
    say("layout.diff." + std::to_string(n), (long long)(b - a));
  }
  for (size_t n : {(size_t)1 << 20, ((size_t)1 << 20) + 1, (size_t)3 << 19, (size_t)2 << 20,
                   (size_t)3 << 20, (size_t)5 << 20, (size_t)64 << 20}) {
    MUST(cudaMemGetInfo(&f0, &tot));
    char* a;
    MUST(cudaMalloc(&a, n));
    MUST(cudaMemGetInfo(&f1, &tot));
    say("info.alloc." + std::to_string(n), (long long)(f0 - f1));
    say("align.alloc." + std::to_string(n), (long long)((size_t)a & -(size_t)a) >= (2 << 20)
                                                ? std::string("2M+")
                                                : std::to_string((size_t)a & -(size_t)a));
    MUST(cudaFree(a));
    size_t f2;
    MUST(cudaMemGetInfo(&f2, &tot));
    say("info.free." + std::to_string(n), (long long)(f2 - f1));
  }
  {
    char *a, *b;
    MUST(cudaMalloc(&a, 4096));
    MUST(cudaFree(a));
    MUST(cudaMalloc(&b, 4096));
    say("reuse.small.same", a == b);
  }
  {
    char *a, *b;
    MUST(cudaMalloc(&a, 8 << 20));
    MUST(cudaFree(a));
    MUST(cudaMalloc(&b, 8 << 20));
    say("reuse.big.same", a == b);
  }
  for (size_t w : {(size_t)1, (size_t)100, (size_t)512, (size_t)513, (size_t)1000, (size_t)4096,
                   (size_t)4097}) {
    void* q;
    size_t pitch;
    MUST(cudaMallocPitch(&q, &pitch, w, 3));
    say("pitch." + std::to_string(w), (long long)pitch);
  }
  {
    void* q = (void*)1;
    size_t pitch = 77;
    E("pitch.w0", cudaMallocPitch(&q, &pitch, 0, 3));
    say("pitch.w0.ptr", q == nullptr);
    say("pitch.w0.pitch", (long long)pitch);
  }
  {
    void* q = (void*)1;
    size_t pitch = 77;
    E("pitch.h0", cudaMallocPitch(&q, &pitch, 10, 0));
    say("pitch.h0.ptr", q == nullptr);
    say("pitch.h0.pitch", (long long)pitch);
  }
  {
    void* q;
    size_t pitch;
    E("pitch.null", cudaMallocPitch(nullptr, &pitch, 10, 1));
    E("pitch.nullpitch", cudaMallocPitch(&q, nullptr, 10, 1));
    E("pitch.huge", cudaMallocPitch(&q, &pitch, (size_t)1 << 40, 1 << 10));
  }
  {
    cudaPitchedPtr q;
    E("malloc3d", cudaMalloc3D(&q, make_cudaExtent(100, 5, 7)));
    say("malloc3d.pitch", (long long)q.pitch);
    say("malloc3d.xsize", (long long)q.xsize);
    say("malloc3d.ysize", (long long)q.ysize);
    q.ptr = (void*)1;
    E("malloc3d.zero", cudaMalloc3D(&q, make_cudaExtent(0, 5, 7)));
    say("malloc3d.zero.null", q.ptr == nullptr);
    E("malloc3d.null", cudaMalloc3D(nullptr, make_cudaExtent(1, 1, 1)));
  }
  {
    void* q;
    E("malloc.all", cudaMalloc(&q, tot));
    E("malloc.max", cudaMalloc(&q, ~(size_t)0));
    E("mallochost.max", cudaMallocHost(&q, ~(size_t)0));
    E("managed.max", cudaMallocManaged(&q, ~(size_t)0));
    E("mallocasync.max", cudaMallocAsync(&q, ~(size_t)0, 0));
    E("mallocasync.1<<46", cudaMallocAsync(&q, (size_t)1 << 46, 0));
  }
  E("info.null.free", cudaMemGetInfo(nullptr, &tot));
  E("info.null.total", cudaMemGetInfo(&f0, nullptr));
  E("info.null.both", cudaMemGetInfo(nullptr, nullptr));
}

static void host() {
  void *q = (void*)1, *d, *p, *m;
  static char reg[1 << 20];
  char* al = (char*)(((size_t)reg + 4095) & ~(size_t)4095);
  E("hostalloc.0", cudaHostAlloc(&q, 0, 0));
  say("hostalloc.0.null", q == nullptr);
  q = (void*)1;
  E("mallochost.0", cudaMallocHost(&q, 0));
  say("mallochost.0.null", q == nullptr);
  E("hostalloc.null", cudaHostAlloc(nullptr, 16, 0));
  E("hostalloc.flags8", cudaHostAlloc(&q, 16, 8));
  E("hostalloc.flags7", cudaHostAlloc(&q, 16, 7));
  E("hostalloc.flags64", cudaHostAlloc(&q, 16, 64));
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMallocHost(&p, 4096));
  MUST(cudaMallocManaged(&m, 4096));
  say("pinned.align", (long long)((size_t)p & 4095));
  E("free.pinned", cudaFree(p));
  MUST(cudaMallocHost(&p, 4096));
  E("freehost.device", cudaFreeHost(d));
  E("freehost.managed", cudaFreeHost(m));
  E("freehost.interior", cudaFreeHost((char*)p + 8));
  E("register.null", cudaHostRegister(nullptr, 16, 0));
  E("register.0", cudaHostRegister(al, 0, 0));
  E("register.flags64", cudaHostRegister(al, 4096, 64));
  E("register.flags16", cudaHostRegister(al, 4096, 16));
  E("register.unaligned", cudaHostRegister(al + 100, 1000, 0));
  E("register.samepage", cudaHostRegister(al + 2000, 100, 0));
  E("register.nextpage", cudaHostRegister(al + 4096, 100, 0));
  E("register.overlap", cudaHostRegister(al, 8192 + 5, 0));
  cudaPointerAttributes pa;
  MUST(cudaPointerGetAttributes(&pa, al + 50));
  say("register.unaligned.before", (int)pa.type);
  MUST(cudaPointerGetAttributes(&pa, al + 1200));
  say("register.unaligned.after", (int)pa.type);
  unsigned fl = 99;
  E("getflags.registered", cudaHostGetFlags(&fl, al + 100));
  say("getflags.registered.value", (int)fl);
  fl = 99;
  E("getflags.pinned", cudaHostGetFlags(&fl, p));
  say("getflags.pinned.value", (int)fl);
  {
    void* w;
    MUST(cudaHostAlloc(&w, 64, cudaHostAllocDefault));
    MUST(cudaHostGetFlags(&fl, w));
    say("getflags.default.value", (int)fl);
    MUST(cudaHostAlloc(&w, 64, 7));
    MUST(cudaHostGetFlags(&fl, w));
    say("getflags.7.value", (int)fl);
    E("getflags.interior", cudaHostGetFlags(&fl, (char*)w + 3));
  }
  E("getflags.stack", cudaHostGetFlags(&fl, &fl));
  E("getflags.device", cudaHostGetFlags(&fl, d));
  fl = 99;
  E("getflags.managed", cudaHostGetFlags(&fl, m));
  say("getflags.managed.value", (int)fl);
  E("getflags.null", cudaHostGetFlags(nullptr, p));
  E("getflags.nullptr", cudaHostGetFlags(&fl, nullptr));
  E("unregister.interior", cudaHostUnregister(al + 200));
  E("unregister.pinned", cudaHostUnregister(p));
  E("unregister.null", cudaHostUnregister(nullptr));
  E("freehost.registered", cudaFreeHost(al + 100));
  E("unregister.unaligned", cudaHostUnregister(al + 100));
  E("unregister.next", cudaHostUnregister(al + 4096));
  E("register.pinned", cudaHostRegister(p, 4096, 0));
  E("register.managed", cudaHostRegister(m, 4096, 0));
  E("register.device", cudaHostRegister(d, 4096, 0));
  void* g = nullptr;
  E("devptr.flags1", cudaHostGetDevicePointer(&g, p, 1));
  E("devptr.null", cudaHostGetDevicePointer(nullptr, p, 0));
  E("devptr.nullhost", cudaHostGetDevicePointer(&g, nullptr, 0));
  E("devptr.interior", cudaHostGetDevicePointer(&g, (char*)p + 5, 0));
  say("devptr.interior.same", g == (char*)p + 5);
  E("devptr.device", cudaHostGetDevicePointer(&g, d, 0));
  E("devptr.managed", cudaHostGetDevicePointer(&g, m, 0));
  MUST(cudaHostUnregister(al + 2000));
  MUST(cudaHostRegister(al, 4096, 0));
  E("devptr.registered", cudaHostGetDevicePointer(&g, al, 0));
  say("devptr.registered.same", g == al);
  MUST(cudaHostUnregister(al));
  q = (void*)1;
  E("managed.0", cudaMallocManaged(&q, 0));
  say("managed.0.null", q == nullptr);
  E("managed.flags0", cudaMallocManaged(&q, 16, 0));
  E("managed.flags3", cudaMallocManaged(&q, 16, 3));
  E("managed.flags2", cudaMallocManaged(&q, 16, 2));
  E("managed.flags4", cudaMallocManaged(&q, 16, 4));
  E("managed.null", cudaMallocManaged((void**)nullptr, 16));
  auto attrs = [&](const char* n, const void* x) {
    cudaPointerAttributes a;
    memset(&a, 7, sizeof a);
    cudaError_t r = cudaPointerGetAttributes(&a, x);
    cudaGetLastError();
    say(std::string("attr.") + n, std::string(cudaGetErrorName(r)) + " type " +
                                      std::to_string(a.type) + " device " +
                                      std::to_string(a.device) + " dev " +
                                      (a.devicePointer == x ? "same"
                                       : a.devicePointer    ? "other"
                                                            : "null") +
                                      " host " +
                                      (a.hostPointer == x ? "same"
                                       : a.hostPointer    ? "other"
                                                          : "null"));
  };
  attrs("device", d);
  attrs("device.end", (char*)d + 4096);
  attrs("device.interior", (char*)d + 9);
  attrs("pinned", p);
  attrs("managed", m);
  attrs("stack", &fl);
  attrs("null", nullptr);
  void* y;
  MUST(cudaMallocAsync(&y, 4096, 0));
  MUST(cudaStreamSynchronize(0));
  attrs("pool", y);
  MUST(cudaFreeAsync(y, 0));
  attrs("pool.freed", y);
  MUST(cudaStreamSynchronize(0));
  attrs("pool.freed.synced", y);
  void* sa;
  MUST(cudaGetSymbolAddress(&sa, sym));
  attrs("symbol", sa);
  MUST(cudaGetSymbolAddress(&sa, csym));
  attrs("constant", sa);
  MUST(cudaGetSymbolAddress(&sa, msym));
  attrs("managedvar", sa);
  attrs("managedvar.host", msym);
  MUST(cudaHostRegister(al, 4096, 0));
  attrs("registered", al);
  void* q2;
  MUST(cudaMalloc(&q2, 4 << 20));
  MUST(cudaFree(q2));
  attrs("freed", q2);
  E("attr.nullout", cudaPointerGetAttributes(nullptr, d));
  // kinds with each sort of pointer
  struct P {
    const char* n;
    void* p;
  };
  static char st[64];
  P ps[] = {{"dev", d}, {"pin", p}, {"man", m}, {"page", st}};
  for (auto& a : ps)
    for (auto& b : ps) {
      std::string s;
      for (int k = 0; k < 5; k++) {
        cudaError_t r = cudaMemcpy((char*)a.p + 32, b.p, 16, (cudaMemcpyKind)k);
        s += std::to_string(r) + " ";
        cudaGetLastError();
        r = cudaMemcpyAsync((char*)a.p + 32, b.p, 16, (cudaMemcpyKind)k, 0);
        s += std::to_string(r) + " ";
        cudaGetLastError();
        MUST(cudaDeviceSynchronize());
      }
      say(std::string("kinds.") + a.n + "." + b.n, s);
    }
  for (auto& a : ps) {
    E(std::string("memset.") + a.n, cudaMemset(a.p, 1, 16));
    MUST(cudaDeviceSynchronize());
  }
  // order of checks
  E("memcpy.zero.kind9", cudaMemcpy(d, st, 0, (cudaMemcpyKind)9));
  E("memcpy.null.kind9", cudaMemcpy(nullptr, st, 4, (cudaMemcpyKind)9));
  E("memcpy.zero.wrongdir", cudaMemcpy(st, d, 0, cudaMemcpyHostToDevice));
  E("memcpy.null.src", cudaMemcpy(d, nullptr, 4, cudaMemcpyHostToDevice));
  E("memcpy.null.default", cudaMemcpy(d, nullptr, 4, cudaMemcpyDefault));
  E("memcpy.h2h.null", cudaMemcpy(nullptr, st, 4, cudaMemcpyHostToHost));
  E("memcpy.kind-1", cudaMemcpy(d, st, 4, (cudaMemcpyKind)-1));
  E("memcpy.kind5", cudaMemcpy(d, st, 4, (cudaMemcpyKind)5));
  E("memset.zero.host", cudaMemset(st, 0, 0));
  E("memset.zero.bad", cudaMemset((void*)16, 0, 0));
  E("memset.bad", cudaMemset((void*)16, 0, 4));
}

static void shapes() {
  char* d;
  static char h[1 << 16];
  size_t pitch;
  MUST(cudaMallocPitch(&d, &pitch, 100, 16));
  auto H = cudaMemcpyHostToDevice;
  E("2d.ok", cudaMemcpy2D(d, pitch, h, 100, 100, 16, H));
  E("2d.dpitch.small", cudaMemcpy2D(d, 50, h, 100, 100, 16, H));
  E("2d.spitch.small", cudaMemcpy2D(d, pitch, h, 50, 100, 16, H));
  E("2d.w0", cudaMemcpy2D(d, pitch, h, 100, 0, 16, H));
  E("2d.h0", cudaMemcpy2D(d, pitch, h, 100, 100, 0, H));
  E("2d.w0.badpitch", cudaMemcpy2D(d, 0, h, 0, 0, 16, H));
  E("2d.h0.badpitch", cudaMemcpy2D(d, 1, h, 1, 100, 0, H));
  E("2d.null", cudaMemcpy2D(nullptr, pitch, h, 100, 100, 16, H));
  E("2d.kind9", cudaMemcpy2D(d, pitch, h, 100, 100, 16, (cudaMemcpyKind)9));
  E("2d.kind9.badpitch", cudaMemcpy2D(d, 5, h, 100, 100, 16, (cudaMemcpyKind)9));
  E("2d.wrongdir", cudaMemcpy2D(d, pitch, h, 100, 100, 16, cudaMemcpyDeviceToHost));
  E("2d.pitch.huge", cudaMemcpy2D(d, (size_t)1 << 33, h, 100, 100, 1, H));
  E("2d.pitch.2G", cudaMemcpy2D(d, (size_t)1 << 31, h, 100, 100, 1, H));
  E("2d.pitch.2G-1", cudaMemcpy2D(d, ((size_t)1 << 31) - 1, h, 100, 100, 1, H));
  E("2d.null.kind9", cudaMemcpy2D(nullptr, pitch, h, 100, 100, 16, (cudaMemcpyKind)9));
  E("2dasync.dpitch.small", cudaMemcpy2DAsync(d, 50, h, 100, 100, 16, H, 0));
  E("2dasync.kind9", cudaMemcpy2DAsync(d, pitch, h, 100, 100, 16, (cudaMemcpyKind)9, 0));
  E("memset2d.ok", cudaMemset2D(d, pitch, 1, 100, 16));
  E("memset2d.pitch.small", cudaMemset2D(d, 50, 1, 100, 16));
  E("memset2d.pitch.small.h1", cudaMemset2D(d, 50, 1, 100, 1));
  E("memset2d.w0", cudaMemset2D(d, pitch, 1, 0, 16));
  E("memset2d.null", cudaMemset2D(nullptr, pitch, 1, 100, 16));
  E("memset2d.null.w0", cudaMemset2D(nullptr, pitch, 1, 0, 16));
  E("memset2d.past", cudaMemset2D(d, pitch, 1, 100, 17));
  E("memset2d.host", cudaMemset2D(h, 100, 1, 100, 10));
  MUST(cudaDeviceSynchronize());
  cudaPitchedPtr q;
  MUST(cudaMalloc3D(&q, make_cudaExtent(64, 8, 4)));
  E("memset3d.ok", cudaMemset3D(q, 1, make_cudaExtent(64, 8, 4)));
  E("memset3d.wide", cudaMemset3D(q, 1, make_cudaExtent(q.pitch + 1, 8, 4)));
  E("memset3d.pad", cudaMemset3D(q, 1, make_cudaExtent(65, 8, 4)));
  E("memset3d.high", cudaMemset3D(q, 1, make_cudaExtent(64, 9, 4)));
  E("memset3d.deep", cudaMemset3D(q, 1, make_cudaExtent(64, 8, 5)));
  E("memset3d.zero", cudaMemset3D(q, 1, make_cudaExtent(0, 8, 4)));
  MUST(cudaDeviceSynchronize());
  auto par = [&] {
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(h, 64, 64, 8);
    p.dstPtr = q;
    p.extent = make_cudaExtent(64, 8, 4);
    p.kind = H;
    return p;
  };
  auto p = par();
  E("3d.ok", cudaMemcpy3D(&p));
  E("3d.null", cudaMemcpy3D(nullptr));
  p = par();
  p.extent.width = 65;
  E("3d.wide.src", cudaMemcpy3D(&p));
  p = par();
  p.srcPtr.ysize = 4;
  E("3d.ysize.small", cudaMemcpy3D(&p));
  p = par();
  p.dstPtr.ysize = 4;
  E("3d.dst.ysize.small", cudaMemcpy3D(&p));
  p = par();
  p.extent = make_cudaExtent(0, 8, 4);
  E("3d.zero", cudaMemcpy3D(&p));
  p = par();
  p.kind = (cudaMemcpyKind)9;
  E("3d.kind9", cudaMemcpy3D(&p));
  p = par();
  p.kind = cudaMemcpyDeviceToHost;
  E("3d.wrongdir", cudaMemcpy3D(&p));
  p = par();
  p.dstPtr.ptr = nullptr;
  E("3d.dst.null", cudaMemcpy3D(&p));
  p = par();
  p.srcPos.x = 10;
  E("3d.srcpos.past", cudaMemcpy3D(&p));
  p = par();
  p.dstPos.z = 1;
  E("3d.dstpos.past", cudaMemcpy3D(&p));
  p = par();
  p.srcPtr.xsize = 5;
  E("3d.xsize.small", cudaMemcpy3D(&p));
  p = par();
  p.extent.depth = 1;
  p.srcPtr.ysize = 0;
  E("3d.ysize0.depth1", cudaMemcpy3D(&p));
  // symbols
  int v[2048] = {0};
  void* a = nullptr;
  size_t sz = 0;
  static int nosym;
  E("sym.addr", cudaGetSymbolAddress(&a, sym));
  E("sym.size", cudaGetSymbolSize(&sz, sym));
  say("sym.size.value", (long long)sz);
  E("sym.addr.bad", cudaGetSymbolAddress(&a, (const void*)&nosym));
  E("sym.size.bad", cudaGetSymbolSize(&sz, (const void*)&nosym));
  E("sym.addr.null", cudaGetSymbolAddress(&a, (const void*)nullptr));
  E("tosym.ok", cudaMemcpyToSymbol(sym, v, 4096));
  E("tosym.past", cudaMemcpyToSymbol(sym, v, 4097));
  E("tosym.offset.past", cudaMemcpyToSymbol(sym, v, 4, 4096));
  E("tosym.offset.last", cudaMemcpyToSymbol(sym, v, 4, 4092));
  E("tosym.zero", cudaMemcpyToSymbol(sym, v, 0));
  E("tosym.zero.past", cudaMemcpyToSymbol(sym, v, 0, 5000));
  E("tosym.bad", cudaMemcpyToSymbol((const void*)&nosym, v, 4));
  E("tosym.zero.bad", cudaMemcpyToSymbol((const void*)&nosym, v, 0));
  E("tosym.kind.d2h", cudaMemcpyToSymbol(sym, v, 4, 0, cudaMemcpyDeviceToHost));
  E("tosym.kind.h2h", cudaMemcpyToSymbol(sym, v, 4, 0, cudaMemcpyHostToHost));
  E("tosym.kind.d2d.host", cudaMemcpyToSymbol(sym, v, 4, 0, cudaMemcpyDeviceToDevice));
  E("tosym.kind.default", cudaMemcpyToSymbol(sym, v, 4, 0, cudaMemcpyDefault));
  E("tosym.kind9", cudaMemcpyToSymbol(sym, v, 4, 0, (cudaMemcpyKind)9));
  E("tosym.bad.kind9", cudaMemcpyToSymbol((const void*)&nosym, v, 4, 0, (cudaMemcpyKind)9));
  E("tosym.src.null", cudaMemcpyToSymbol(sym, (void*)nullptr, 4));
  E("fromsym.ok", cudaMemcpyFromSymbol(v, sym, 4096));
  E("fromsym.past", cudaMemcpyFromSymbol(v, sym, 4100));
  E("fromsym.kind.h2d", cudaMemcpyFromSymbol(v, sym, 4, 0, cudaMemcpyHostToDevice));
  E("fromsym.null", cudaMemcpyFromSymbol((void*)nullptr, sym, 4));
  E("tosym.const", cudaMemcpyToSymbol(csym, v, 256));
  E("tosym.const.past", cudaMemcpyToSymbol(csym, v, 257));
  E("tosym.managed", cudaMemcpyToSymbol(msym, v, 256));
  E("sym.size.managed", cudaGetSymbolSize(&sz, msym));
  MUST(cudaGetSymbolAddress(&a, msym));
  say("sym.managed.same", a == (void*)msym);
  E("memset.sym", cudaMemset(sym, 0, 4));
  E("memcpy.sym.direct", cudaMemcpy(sym, v, 4, H));
  E("peer.self", cudaMemcpyPeer(d, 0, d + 512, 0, 16));
  E("peer.bad.dst", cudaMemcpyPeer(d, 9, d + 512, 0, 16));
  E("peer.bad.src", cudaMemcpyPeer(d, 0, d + 512, -1, 16));
  E("peer.host", cudaMemcpyPeer(d, 0, h, 0, 16));
  E("peer.zero", cudaMemcpyPeer(nullptr, 0, nullptr, 0, 0));
  E("peer.zero.bad", cudaMemcpyPeer(nullptr, 9, nullptr, 0, 0));
  {
    cudaMemcpy3DPeerParms pp = {};
    pp.srcPtr = make_cudaPitchedPtr(d, 100, 100, 2);
    pp.dstPtr = q;
    pp.extent = make_cudaExtent(64, 2, 1);
    E("3dpeer.ok", cudaMemcpy3DPeer(&pp));
    pp.dstDevice = 9;
    E("3dpeer.bad", cudaMemcpy3DPeer(&pp));
  }
  void* m;
  MUST(cudaMallocManaged(&m, 1 << 16));
  cudaMemLocation l0{cudaMemLocationTypeDevice, 0}, lh{cudaMemLocationTypeHost, 0},
      l9{cudaMemLocationTypeDevice, 9};
  E("prefetch.ok", cudaMemPrefetchAsync(m, 1 << 16, l0, 0, 0));
  E("prefetch.host", cudaMemPrefetchAsync(m, 1 << 16, lh, 0, 0));
  E("prefetch.bad", cudaMemPrefetchAsync(m, 1 << 16, l9, 0, 0));
  E("prefetch.device", cudaMemPrefetchAsync(d, 16, l0, 0, 0));
  E("prefetch.stack", cudaMemPrefetchAsync(v, 16, l0, 0, 0));
  E("prefetch.zero", cudaMemPrefetchAsync(m, 0, l0, 0, 0));
  E("prefetch.past", cudaMemPrefetchAsync(m, 1 << 22, l0, 0, 0));
  E("prefetch.flags", cudaMemPrefetchAsync(m, 16, l0, 1, 0));
  E("prefetch.null", cudaMemPrefetchAsync(nullptr, 16, l0, 0, 0));
  MUST(cudaDeviceSynchronize());
  E("advise.ok", cudaMemAdvise(m, 1 << 16, cudaMemAdviseSetReadMostly, l0));
  E("advise.bad", cudaMemAdvise(m, 1 << 16, (cudaMemoryAdvise)77, l0));
  E("advise.device", cudaMemAdvise(d, 16, cudaMemAdviseSetReadMostly, l0));
  E("advise.stack", cudaMemAdvise(v, 16, cudaMemAdviseSetReadMostly, l0));
  E("advise.loc9", cudaMemAdvise(m, 1 << 16, cudaMemAdviseSetPreferredLocation, l9));
  E("advise.pref", cudaMemAdvise(m, 1 << 16, cudaMemAdviseSetPreferredLocation, l0));
  E("advise.zero", cudaMemAdvise(m, 0, cudaMemAdviseSetReadMostly, l0));
  int x = 77;
  E("range.readmostly",
    cudaMemRangeGetAttribute(&x, 4, cudaMemRangeAttributeReadMostly, m, 1 << 16));
  say("range.readmostly.value", x);
  E("range.pref",
    cudaMemRangeGetAttribute(&x, 4, cudaMemRangeAttributePreferredLocation, m, 1 << 16));
  say("range.pref.value", x);
  E("range.last",
    cudaMemRangeGetAttribute(&x, 4, cudaMemRangeAttributeLastPrefetchLocation, m, 1 << 16));
  say("range.last.value", x);
  int ab[4] = {7, 7, 7, 7};
  E("range.accessedby",
    cudaMemRangeGetAttribute(ab, 16, cudaMemRangeAttributeAccessedBy, m, 1 << 16));
  say("range.accessedby.value", ab[0]);
  E("range.size3", cudaMemRangeGetAttribute(&x, 3, cudaMemRangeAttributeReadMostly, m, 1 << 16));
  E("range.device", cudaMemRangeGetAttribute(&x, 4, cudaMemRangeAttributeReadMostly, d, 16));
  E("range.bad", cudaMemRangeGetAttribute(&x, 4, (cudaMemRangeAttribute)99, m, 16));
}

int main(int argc, char** argv) {
  std::string section = argc > 1 ? argv[1] : "";
  MUST(cudaFree(0));
  if (section == "layout") layout();
  if (section == "host") host();
  if (section == "shapes") shapes();
  if (section == "bounds") {
    for (const char* which :
         {"h2d.1001",         "h2d.1025",       "h2d.1M",          "h2d.3M",
          "d2h.1001",         "d2h.3M",         "d2d.1001",        "d2d.src.1001",
          "d2d.3M",           "async.h2d.1001", "async.h2d.3M",    "interior.h2d",
          "big.h2d.plus1",    "big.h2d.6M",     "big.h2d.7M",      "pinned.src.past",
          "pinned.dst.past",  "memset.1001",    "memset.1025",     "memset.3M",
          "memsetasync.1001", "freed.h2d",      "freed.small.h2d", "freed.memset",
          "gap.h2d",          "2d.h2d.past",    "2d.h2d.lastrow",  "pool.h2d.past",
          "pool.freed.h2d"})
      bounds(which);
  }
  say(section + ".end", "ok");
}
