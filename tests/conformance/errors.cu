// The answer of each call, used rightly and wrongly: streams, events, memory, launches, host functions,
// pools, names of errors. Lines that begin with attr. or priority. belong to the device.
#include "probe.h"
#include <cstring>

__global__ void k_shared() { extern __shared__ int s[]; s[threadIdx.x] = 1; }

static void CUDART_CB host_calls_api(void* p) {
  int n = 0;
  void* q = nullptr;
  cudaError_t* out = (cudaError_t*)p;
  out[0] = cudaMalloc(&q, 16);
  out[1] = cudaStreamQuery(0);
  out[2] = cudaGetDeviceCount(&n);
  out[3] = cudaDeviceSynchronize();
}
static void CUDART_CB cb_status(cudaStream_t, cudaError_t st, void* p) { *(cudaError_t*)p = st; }

int main() {
  int lo = 99, hi = 99;
  MUST(cudaFree(0));
  MUST(cudaDeviceGetStreamPriorityRange(&lo, &hi));
  say("priority.least", lo);
  say("priority.greatest", hi);
  cudaStream_t s, n, p;
  MUST(cudaStreamCreate(&s));
  MUST(cudaStreamCreateWithFlags(&n, cudaStreamNonBlocking));
  unsigned fl = 77;
  MUST(cudaStreamGetFlags(s, &fl)); say("flags.blocking", (int)fl);
  MUST(cudaStreamGetFlags(n, &fl)); say("flags.nonblocking", (int)fl);
  MUST(cudaStreamGetFlags(0, &fl)); say("flags.null", (int)fl);
  MUST(cudaStreamGetFlags(cudaStreamLegacy, &fl)); say("flags.legacy", (int)fl);
  MUST(cudaStreamGetFlags(cudaStreamPerThread, &fl)); say("flags.perthread", (int)fl);
  cudaStream_t bad;
  say("create.flags8", cudaStreamCreateWithFlags(&bad, 8)); cudaGetLastError();
  say("create.null", cudaStreamCreate(nullptr)); cudaGetLastError();
  for (int want : {-100, -5, -3, -1, 0, 1, 100}) {
    int got = 99;
    MUST(cudaStreamCreateWithPriority(&p, cudaStreamNonBlocking, want));
    MUST(cudaStreamGetPriority(p, &got));
    say("priority.want" + std::to_string(want), got);
    MUST(cudaStreamDestroy(p));
  }
  int got = 99; MUST(cudaStreamGetPriority(s, &got)); say("priority.plain", got);
  say("query.idle", cudaStreamQuery(s));
  say("query.null", cudaStreamQuery(0));
  say("query.legacy", cudaStreamQuery(cudaStreamLegacy));
  say("query.perthread", cudaStreamQuery(cudaStreamPerThread));
  say("destroy.null", cudaStreamDestroy(0)); cudaGetLastError();
  say("destroy.legacy", cudaStreamDestroy(cudaStreamLegacy)); cudaGetLastError();
  say("sync.null", cudaStreamSynchronize(0));

  // events
  cudaEvent_t a, b, nt;
  MUST(cudaEventCreate(&a)); MUST(cudaEventCreate(&b));
  MUST(cudaEventCreateWithFlags(&nt, cudaEventDisableTiming));
  float ms = -1;
  say("event.query.unrecorded", cudaEventQuery(a));
  say("event.sync.unrecorded", cudaEventSynchronize(a));
  say("event.wait.unrecorded", cudaStreamWaitEvent(s, a, 0));
  say("event.elapsed.unrecorded", cudaEventElapsedTime(&ms, a, b)); cudaGetLastError();
  MUST(cudaEventRecord(a, s)); MUST(cudaStreamSynchronize(s));
  say("event.elapsed.one", cudaEventElapsedTime(&ms, a, b)); cudaGetLastError();
  MUST(cudaEventRecord(nt, s)); MUST(cudaStreamSynchronize(s));
  say("event.elapsed.notiming", cudaEventElapsedTime(&ms, a, nt)); cudaGetLastError();
  say("event.create.flags.bad", cudaEventCreateWithFlags(&nt, 0x80)); cudaGetLastError();
  say("event.create.interprocess.timing", cudaEventCreateWithFlags(&nt, cudaEventInterprocess)); cudaGetLastError();
  say("event.create.null", cudaEventCreate(nullptr)); cudaGetLastError();
  say("event.record.null", cudaEventRecord(nullptr, s)); cudaGetLastError();
  say("event.wait.null", cudaStreamWaitEvent(s, nullptr, 0)); cudaGetLastError();
  say("event.wait.flags7", cudaStreamWaitEvent(s, a, 7)); cudaGetLastError();
  say("event.destroy.null", cudaEventDestroy(nullptr)); cudaGetLastError();
  say("event.query.null", cudaEventQuery(nullptr)); cudaGetLastError();
  say("event.elapsed.null", cudaEventElapsedTime(nullptr, a, a)); cudaGetLastError();
  say("event.elapsed.self", cudaEventElapsedTime(&ms, a, a)); say("event.elapsed.self.zero", ms == 0.0f);
  {
    Gate g; g.close(s);
    MUST(cudaEventRecord(b, s));
    say("query.busy", cudaStreamQuery(s));
    say("query.busy.lasterror", cudaGetLastError());
    say("event.query.busy", cudaEventQuery(b));
    say("event.query.busy.peek", cudaPeekAtLastError()); cudaGetLastError();
    say("event.elapsed.pending", cudaEventElapsedTime(&ms, a, b)); cudaGetLastError();
    g.open(); MUST(cudaStreamSynchronize(s));
    say("event.elapsed.done", cudaEventElapsedTime(&ms, a, b));
    say("event.elapsed.order", ms > 0);
    say("event.elapsed.reverse", cudaEventElapsedTime(&ms, b, a)); say("event.elapsed.reverse.neg", ms < 0);
  }
  // memory
  void* d = (void*)1; 
  say("malloc.zero", cudaMalloc(&d, 0)); say("malloc.zero.null", d == nullptr);
  say("malloc.huge", cudaMalloc(&d, (size_t)1 << 46));
  say("malloc.huge.peek", cudaPeekAtLastError());
  say("malloc.huge.last", cudaGetLastError());
  say("malloc.huge.last2", cudaGetLastError());
  say("malloc.null", cudaMalloc((void**)nullptr, 16)); cudaGetLastError();
  MUST(cudaMalloc(&d, 1 << 20));
  say("free.null", cudaFree(nullptr));
  int host_int[256]; 
  say("free.hostptr", cudaFree(host_int)); cudaGetLastError();
  say("free.interior", cudaFree((char*)d + 256)); cudaGetLastError();
  void* d2; MUST(cudaMalloc(&d2, 4096)); say("free.first", cudaFree(d2)); say("free.twice", cudaFree(d2)); cudaGetLastError();
  say("freehost.null", cudaFreeHost(nullptr)); cudaGetLastError();
  say("freehost.stack", cudaFreeHost(host_int)); cudaGetLastError();
  say("memcpy.null.dst", cudaMemcpy(nullptr, host_int, 4, cudaMemcpyHostToDevice)); cudaGetLastError();
  say("memcpy.null.zero", cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice)); cudaGetLastError();
  say("memcpy.kind9", cudaMemcpy(d, host_int, 4, (cudaMemcpyKind)9)); cudaGetLastError();
  say("memcpy.h2d.ok", cudaMemcpy(d, host_int, 4, cudaMemcpyHostToDevice));
  say("memcpy.wrong.h2d.as.d2h", cudaMemcpy(d, host_int, 4, cudaMemcpyDeviceToHost)); cudaGetLastError();
  say("memcpy.wrong.d2h.as.h2d", cudaMemcpy(host_int, d, 4, cudaMemcpyHostToDevice)); cudaGetLastError();
  say("memcpy.wrong.d2d.hostptr", cudaMemcpy(d, host_int, 4, cudaMemcpyDeviceToDevice)); cudaGetLastError();
  say("memcpy.default", cudaMemcpy(d, host_int, 4, cudaMemcpyDefault)); cudaGetLastError();
  say("memcpy.past.end", cudaMemcpy(d, host_int, 4, cudaMemcpyHostToDevice)); 
  say("memcpyasync.kind9", cudaMemcpyAsync(d, host_int, 4, (cudaMemcpyKind)9, s)); cudaGetLastError();
  say("memset.null", cudaMemset(nullptr, 0, 4)); cudaGetLastError();
  say("memset.null.zero", cudaMemset(nullptr, 0, 0)); cudaGetLastError();
  say("memset.hostptr", cudaMemset(host_int, 0, 4)); cudaGetLastError();
  cudaPointerAttributes pa;
  void *hp, *hm; MUST(cudaMallocHost(&hp, 4096)); MUST(cudaMallocManaged(&hm, 4096));
  say("ptr.device", cudaPointerGetAttributes(&pa, d)); say("ptr.device.type", (int)pa.type);
  say("ptr.interior", cudaPointerGetAttributes(&pa, (char*)d + 100)); say("ptr.interior.type", (int)pa.type);
  say("ptr.pinned", cudaPointerGetAttributes(&pa, hp)); say("ptr.pinned.type", (int)pa.type); say("ptr.pinned.devsame", pa.devicePointer == hp);
  say("ptr.managed", cudaPointerGetAttributes(&pa, hm)); say("ptr.managed.type", (int)pa.type);
  say("ptr.stack", cudaPointerGetAttributes(&pa, host_int)); say("ptr.stack.type", (int)pa.type); cudaGetLastError();
  say("ptr.null", cudaPointerGetAttributes(&pa, nullptr)); say("ptr.null.type", (int)pa.type); cudaGetLastError();
  static char reg[1 << 16];
  say("register.ok", cudaHostRegister(reg, sizeof reg, 0));
  say("register.twice", cudaHostRegister(reg, sizeof reg, 0)); cudaGetLastError();
  say("ptr.registered", cudaPointerGetAttributes(&pa, reg + 5)); say("ptr.registered.type", (int)pa.type);
  say("unregister.ok", cudaHostUnregister(reg));
  say("unregister.twice", cudaHostUnregister(reg)); cudaGetLastError();
  void* dp = nullptr;
  say("hostgetdevptr.stack", cudaHostGetDevicePointer(&dp, host_int, 0)); cudaGetLastError();
  say("hostgetdevptr.pinned", cudaHostGetDevicePointer(&dp, hp, 0));
  // launches
  nop_kernel<<<1, 2048>>>(); say("launch.block2048", cudaGetLastError());
  nop_kernel<<<0, 1>>>(); say("launch.grid0", cudaGetLastError());
  nop_kernel<<<1, 0>>>(); say("launch.block0", cudaGetLastError());
  nop_kernel<<<dim3(1, 70000, 1), 1>>>(); say("launch.gridy70000", cudaGetLastError());
  nop_kernel<<<dim3(1, 1, 70000), 1>>>(); say("launch.gridz70000", cudaGetLastError());
  nop_kernel<<<1, dim3(1, 1, 65)>>>(); say("launch.blockz65", cudaGetLastError());
  nop_kernel<<<1, dim3(32, 32, 1)>>>(); say("launch.block32x32", cudaGetLastError());
  k_shared<<<1, 32, 1 << 20>>>(); say("launch.shared1M", cudaGetLastError());
  k_shared<<<1, 32, 49152>>>(); say("launch.shared48K", cudaGetLastError());
  k_shared<<<1, 32, 49153>>>(); say("launch.shared48K+1", cudaGetLastError());
  say("launch.shared.attr100K", cudaFuncSetAttribute(k_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
  k_shared<<<1, 32, 100 * 1024>>>(); say("launch.shared100K.after", cudaGetLastError());
  MUST(cudaDeviceSynchronize());
  nop_kernel<<<1, 2048>>>();
  say("peek.keeps", cudaPeekAtLastError());
  say("sync.after.badlaunch", cudaDeviceSynchronize());
  say("last.after.sync", cudaGetLastError());
  say("last.cleared", cudaGetLastError());
  // host functions
  cudaError_t out[4];
  MUST(cudaLaunchHostFunc(s, host_calls_api, out)); MUST(cudaStreamSynchronize(s));
  say("hostfunc.malloc", out[0]); say("hostfunc.streamquery", out[1]); say("hostfunc.devicecount", out[2]); say("hostfunc.devicesync", out[3]);
  cudaGetLastError();
  cudaError_t st = cudaErrorUnknown;
  MUST(cudaStreamAddCallback(s, cb_status, &st, 0)); MUST(cudaStreamSynchronize(s)); say("callback.status", st);
  say("callback.flags1", cudaStreamAddCallback(s, cb_status, &st, 1)); cudaGetLastError();
  say("hostfunc.null", cudaLaunchHostFunc(s, nullptr, nullptr)); cudaGetLastError();
  // devices
  int cnt = 0; MUST(cudaGetDeviceCount(&cnt));
  say("setdevice.minus1", cudaSetDevice(-1)); cudaGetLastError();
  say("setdevice.999", cudaSetDevice(999)); cudaGetLastError();
  int can = 7; say("peer.self", cudaDeviceCanAccessPeer(&can, 0, 0)); say("peer.self.value", can); cudaGetLastError();
  say("peer.enable.self", cudaDeviceEnablePeerAccess(0, 0)); cudaGetLastError();
  cudaDeviceProp prop; say("props.bad", cudaGetDeviceProperties(&prop, 999)); cudaGetLastError();
  int v = 0;
  say("attr.bad", cudaDeviceGetAttribute(&v, (cudaDeviceAttr)100000, 0)); cudaGetLastError();
  MUST(cudaDeviceGetAttribute(&v, cudaDevAttrConcurrentKernels, 0)); say("attr.concurrentKernels", v);
  MUST(cudaDeviceGetAttribute(&v, cudaDevAttrStreamPrioritiesSupported, 0)); say("attr.streamPriorities", v);
  MUST(cudaDeviceGetAttribute(&v, cudaDevAttrGpuOverlap, 0)); say("attr.gpuOverlap", v);
  MUST(cudaDeviceGetAttribute(&v, cudaDevAttrAsyncEngineCount, 0)); say("attr.asyncEngineCount", v);
  MUST(cudaDeviceGetAttribute(&v, cudaDevAttrMemoryPoolsSupported, 0)); say("attr.memoryPools", v);
  MUST(cudaDeviceGetAttribute(&v, cudaDevAttrMaxThreadsPerBlock, 0)); say("attr.maxThreadsPerBlock", v);
  MUST(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0)); say("attr.warpSize", v);
  // stream-ordered allocation
  void *x = nullptr, *y = nullptr;
  say("mallocasync", cudaMallocAsync(&x, 1 << 20, s));
  say("freeasync", cudaFreeAsync(x, s));
  say("mallocasync.again", cudaMallocAsync(&y, 1 << 20, s)); say("mallocasync.reused", x == y);
  say("freeasync.ok", cudaFreeAsync(y, s)); MUST(cudaStreamSynchronize(s));
  say("freeasync.twice", cudaFreeAsync(y, s)); cudaGetLastError();
  say("freeasync.stack", cudaFreeAsync(host_int, s)); cudaGetLastError();
  say("freeasync.of.malloc", cudaFreeAsync(d, s)); cudaGetLastError(); MUST(cudaStreamSynchronize(s));
  say("mallocasync.zero", cudaMallocAsync(&x, 0, s)); cudaGetLastError();
  MUST(cudaMallocAsync(&x, 4096, s)); MUST(cudaStreamSynchronize(s)); say("free.of.mallocasync", cudaFree(x)); cudaGetLastError();
  // handles after destroy, repeated use
  MUST(cudaEventDestroy(a));
  MUST(cudaStreamDestroy(s)); MUST(cudaStreamDestroy(n));
  say("errname.0", cudaGetErrorName(cudaSuccess)); say("errstr.0", cudaGetErrorString(cudaSuccess));
  for (int e : {1, 2, 3, 4, 9, 13, 21, 35, 98, 100, 101, 201, 205, 206, 208, 209, 218, 219, 300, 400, 401, 500, 600, 700, 701, 702, 704, 705, 709, 710, 712, 713, 716, 717, 718, 719, 720, 800, 801, 900, 901, 902, 903, 904, 905, 906, 907, 908, 909, 910, 911, 999, 12345}) {
    say("errname." + std::to_string(e), cudaGetErrorName((cudaError_t)e));
    say("errstr." + std::to_string(e), cudaGetErrorString((cudaError_t)e));
  }
  say("end", "ok");
}
