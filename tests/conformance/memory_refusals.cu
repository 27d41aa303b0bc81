// Memory calls during capture and inside host functions. One section a process, named on the
// command line.
#include "probe.h"

__device__ int sym[1024];

static void capture() {
  cudaStream_t a, b;
  MUST(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  char *d, *hp, *mm;
  static char pg[4096], reg[1 << 16];
  int v[16];
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMallocHost(&hp, 4096));
  MUST(cudaMallocManaged(&mm, 4096));
  void* x = nullptr;
  cudaMemLocation l0{cudaMemLocationTypeDevice, 0};
  cudaMemPool_t p;
  MUST(cudaDeviceGetDefaultMemPool(&p, 0));
  size_t s1, s2;
  MUST(cudaMemcpyToSymbol(sym, v, 16));
  nop_kernel<<<1, 1>>>();
  MUST(cudaDeviceSynchronize());
  auto H = cudaMemcpyHostToDevice;
  auto D = cudaMemcpyDeviceToHost;
  for (auto m : {std::make_pair("global", cudaStreamCaptureModeGlobal),
                 std::make_pair("relaxed", cudaStreamCaptureModeRelaxed)}) {
    void *fd, *fh, *fa;
    MUST(cudaMalloc(&fd, 64));
    MUST(cudaMallocHost(&fh, 64));
    MUST(cudaMallocAsync(&fa, 64, b));
    MUST(cudaDeviceSynchronize());
    auto ref = [&](const char* n, auto fn) {
      MUST(cudaStreamBeginCapture(a, m.second));
      nop_kernel<<<1, 1, 0, a>>>();
      cudaError_t r = fn();
      cudaGetLastError();
      cudaStreamCaptureStatus st;
      cudaStreamIsCapturing(a, &st);
      cudaGraph_t q = nullptr;
      cudaError_t z = cudaStreamEndCapture(a, &q);
      cudaGetLastError();
      size_t nn = 0;
      if (q) {
        cudaGraphGetNodes(q, nullptr, &nn);
        cudaGraphDestroy(q);
      }
      say(std::string("capture.") + m.first + "." + n,
          std::string(cudaGetErrorName(r)) + " status " + std::to_string((int)st) + " end " +
              cudaGetErrorName(z) + " nodes " + std::to_string(nn));
      MUST(cudaDeviceSynchronize());
    };
    ref("mallochost", [&] { return cudaMallocHost(&x, 64); });
    ref("hostalloc", [&] { return cudaHostAlloc(&x, 64, 0); });
    ref("malloc0", [&] { return cudaMalloc(&x, 0); });
    ref("malloc.null", [&] { return cudaMalloc((void**)nullptr, 16); });
    ref("mallocmanaged", [&] { return cudaMallocManaged(&x, 64); });
    ref("mallocpitch", [&] { return cudaMallocPitch(&x, &s1, 10, 10); });
    ref("free.null", [&] { return cudaFree(nullptr); });
    ref("free.bad", [&] { return cudaFree(v); });
    ref("free", [&] { return cudaFree(fd); });
    ref("freehost", [&] { return cudaFreeHost(fh); });
    ref("register", [&] { return cudaHostRegister(reg, sizeof reg, 0); });
    ref("unregister", [&] { return cudaHostUnregister(reg); });
    ref("memgetinfo", [&] { return cudaMemGetInfo(&s1, &s2); });
    ref("ptrattr", [&] {
      cudaPointerAttributes t;
      return cudaPointerGetAttributes(&t, d);
    });
    ref("devptr", [&] { return cudaHostGetDevicePointer(&x, hp, 0); });
    ref("memset", [&] { return cudaMemset(d, 0, 4); });
    ref("memcpy.d2d", [&] { return cudaMemcpy(d, d + 64, 4, cudaMemcpyDeviceToDevice); });
    ref("memcpy.d2h", [&] { return cudaMemcpy(pg, d, 4, D); });
    ref("memcpy.h2d.page", [&] { return cudaMemcpy(d, pg, 4, H); });
    ref("memcpy.h2h", [&] { return cudaMemcpy(pg, pg + 64, 4, cudaMemcpyHostToHost); });
    ref("memcpy2d", [&] { return cudaMemcpy2D(d, 64, pg, 64, 32, 2, H); });
    ref("tosym", [&] { return cudaMemcpyToSymbol(sym, v, 16); });
    ref("memcpy.bad", [&] { return cudaMemcpy(d, pg, 4, D); });
    ref("async.d2h.page", [&] { return cudaMemcpyAsync(pg, d, 16, D, a); });
    ref("async.h2h.page",
        [&] { return cudaMemcpyAsync(pg, pg + 64, 16, cudaMemcpyHostToHost, a); });
    ref("async.zero", [&] { return cudaMemcpyAsync(d, pg, 0, H, a); });
    ref("async.bad", [&] { return cudaMemcpyAsync(d, pg, 4, D, a); });
    ref("async.kind9", [&] { return cudaMemcpyAsync(d, pg, 4, (cudaMemcpyKind)9, a); });
    ref("async.2d", [&] { return cudaMemcpy2DAsync(d, 64, pg, 64, 32, 2, H, a); });
    ref("async.tosym", [&] { return cudaMemcpyToSymbolAsync(sym, v, 16, 0, H, a); });
    ref("async.null.stream", [&] { return cudaMemcpyAsync(d, hp, 16, H, 0); });
    ref("memsetasync.zero", [&] { return cudaMemsetAsync(d, 0, 0, a); });
    ref("memsetasync.bad", [&] { return cudaMemsetAsync(pg, 0, 4, a); });
    ref("memset2dasync", [&] { return cudaMemset2DAsync(d, 64, 0, 10, 2, a); });
    ref("memsetasync.pinned", [&] { return cudaMemsetAsync(hp, 0, 4, a); });
    ref("managed.copy", [&] { return cudaMemcpyAsync(mm, pg, 16, H, a); });
    ref("peer.self", [&] { return cudaMemcpyPeerAsync(d, 0, d + 64, 0, 16, a); });
    ref("prefetch", [&] { return cudaMemPrefetchAsync(mm, 4096, l0, 0, a); });
    ref("prefetch.other", [&] { return cudaMemPrefetchAsync(mm, 4096, l0, 0, b); });
    ref("advise", [&] { return cudaMemAdvise(mm, 4096, cudaMemAdviseSetReadMostly, l0); });
    ref("mallocasync.other", [&] { return cudaMallocAsync(&x, 64, b); });
    ref("freeasync.uncaptured", [&] { return cudaFreeAsync(fa, a); });
    ref("freeasync.other", [&] { return cudaFreeAsync(fa, b); });
    ref("mallocasync.zero", [&] { return cudaMallocAsync(&x, 0, a); });
    ref("trim", [&] { return cudaMemPoolTrimTo(p, 0); });
    ref("poolattr", [&] {
      unsigned long long t;
      return cudaMemPoolGetAttribute(p, cudaMemPoolAttrUsedMemCurrent, &t);
    });
    ref("poolcreate", [&] {
      cudaMemPool_t c;
      cudaMemPoolProps pr = {};
      pr.allocType = cudaMemAllocationTypePinned;
      pr.location = l0;
      return cudaMemPoolCreate(&c, &pr);
    });
    ref("symaddr", [&] { return cudaGetSymbolAddress(&x, sym); });
    ref("mallocasync.unfreed", [&] { return cudaMallocAsync(&x, 64, a); });
    ref("mallocasync.free.twice", [&] {
      cudaMallocAsync(&x, 64, a);
      cudaFreeAsync(x, a);
      return cudaFreeAsync(x, a);
    });
    ref("mallocasync.free.null", [&] {
      cudaMallocAsync(&x, 64, a);
      return cudaFree(x);
    });
  }
}

static cudaError_t got[40];
static char *gd, *ghp;
static cudaStream_t gs;
static void CUDART_CB calls_all(void*) {
  int i = 0;
  void* x;
  size_t a, b;
  static char pg[64];
  cudaPointerAttributes pa;
  unsigned f;
  cudaMemPool_t p = nullptr;
  got[i++] = cudaMalloc(&x, 0);
  got[i++] = cudaFree(nullptr);
  got[i++] = cudaFree(pg);
  got[i++] = cudaMallocHost(&x, 64);
  got[i++] = cudaFreeHost(nullptr);
  got[i++] = cudaMemcpy(gd, pg, 4, cudaMemcpyHostToDevice);
  got[i++] = cudaMemcpyAsync(gd, ghp, 4, cudaMemcpyHostToDevice, gs);
  got[i++] = cudaMemset(gd, 0, 4);
  got[i++] = cudaMemsetAsync(gd, 0, 4, gs);
  got[i++] = cudaMemGetInfo(&a, &b);
  got[i++] = cudaPointerGetAttributes(&pa, gd);
  got[i++] = cudaHostGetFlags(&f, ghp);
  got[i++] = cudaMallocAsync(&x, 64, gs);
  got[i++] = cudaMallocManaged(&x, 64);
  got[i++] = cudaHostRegister(pg, 64, 0);
  got[i++] = cudaDeviceGetDefaultMemPool(&p, 0);
  got[i++] = cudaGetSymbolAddress(&x, sym);
  got[i++] = cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice);
  got[i++] = cudaMalloc((void**)nullptr, 4);
  got[i++] = cudaMemcpy(gd, pg, 4, (cudaMemcpyKind)9);
  got[i++] = cudaHostGetDevicePointer(&x, ghp, 0);
  got[i++] = cudaMemPoolTrimTo(p, 0);
}

static void hostfn() {
  const char* n[] = {"malloc0",     "free.null",   "free.bad",    "mallochost",  "freehost.null",
                     "memcpy",      "memcpyasync", "memset",      "memsetasync", "memgetinfo",
                     "ptrattr",     "getflags",    "mallocasync", "managed",     "register",
                     "defaultpool", "symaddr",     "memcpy.zero", "malloc.null", "kind9",
                     "devptr",      "trim"};
  MUST(cudaMalloc(&gd, 64));
  MUST(cudaMallocHost(&ghp, 64));
  MUST(cudaStreamCreate(&gs));
  MUST(cudaLaunchHostFunc(gs, calls_all, nullptr));
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < 22; i++) say(std::string("hostfn.") + n[i], got[i]);
}

int main(int argc, char** argv) {
  std::string section = argc > 1 ? argv[1] : "";
  MUST(cudaFree(0));
  if (section == "capture") capture();
  if (section == "hostfn") hostfn();
  say(section + ".end", "ok");
}
