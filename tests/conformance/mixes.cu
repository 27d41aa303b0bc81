// Calls in combinations that the other programs leave out. One section per process: `mixes SECTION`;
// `mixes list` names them.
#include "probe.h"

#include <cuda_profiler_api.h>

#include <cstring>
#include <map>
#include <unistd.h>

__device__ int device_word;
static __global__ void bad_kernel(int* p) { *p = 1; }
static __global__ void gate_then(volatile int* gate, int* p) { while (*gate == 0) {} if (p) *p = 1; }
static __global__ void add_one(int* p) { atomicAdd(p, 1); }

static cudaStream_t non_blocking() { cudaStream_t s; MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); return s; }
static cudaStream_t blocking() { cudaStream_t s; MUST(cudaStreamCreate(&s)); return s; }
static cudaEvent_t event(unsigned flags = cudaEventDisableTiming) { cudaEvent_t e; MUST(cudaEventCreateWithFlags(&e, flags)); return e; }
static void ask(const std::string& name, cudaError_t r) { say(name, r); cudaGetLastError(); }
static bool idle_within(cudaStream_t s, int ms = 150) { bool r = wait_until([&] { return cudaStreamQuery(s) == cudaSuccess; }, ms); cudaGetLastError(); return r; }
static int* host_words() { int* m; MUST(cudaHostAlloc((void**)&m, 4096, cudaHostAllocMapped)); memset(m, 0, 4096); return m; }
static bool shows(int* m, int v, int ms = 150) { return wait_until([&] { return *(volatile int*)m == v; }, ms); }
static void all_done() { MUST(cudaDeviceSynchronize()); }
static void warm() { Gate g; g.open(); g.close(0); int* m = host_words(); mark_kernel<<<1, 1>>>(m, 1); nop_kernel<<<1, 1>>>(); int* d; MUST(cudaMalloc(&d, 64)); add_one<<<1, 1>>>(d); gate_then<<<1, 1>>>(g.flag, d); bad_kernel<<<1, 1>>>(d); MUST(cudaDeviceSynchronize()); }
struct Blocker { std::atomic<int> open{0}, entered{0}; static void CUDART_CB run(void* p) { auto* b = (Blocker*)p; b->entered = 1; while (!b->open) std::this_thread::yield(); } };
static void CUDART_CB bump(void* p) { ++*(std::atomic<int>*)p; }
static cudaGraph_t one_kernel(int* m, int v) { cudaGraph_t g; MUST(cudaGraphCreate(&g, 0)); volatile int* p = m; void* args[] = {&p, &v}; cudaKernelNodeParams k{}; k.func = (void*)mark_kernel; k.gridDim = k.blockDim = dim3(1); k.kernelParams = args; cudaGraphNode_t n; MUST(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k)); return g; }
static cudaGraphExec_t made(cudaGraph_t g) { cudaGraphExec_t e; MUST(cudaGraphInstantiate(&e, g, 0)); return e; }

// A fault while another stream captures, and graphs after it.
static void fault_capture() {
  warm();
  cudaStream_t s = non_blocking(), t = non_blocking(), u = non_blocking();
  int* m = host_words();
  cudaGraph_t ready = one_kernel(m, 1), g = nullptr; cudaGraphExec_t e = made(ready), x = nullptr;
  MUST(cudaGraphLaunch(e, t)); all_done();
  MUST(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  nop_kernel<<<1, 1, 0, t>>>();
  bad_kernel<<<1, 1, 0, s>>>(nullptr);
  say("fault_capture.launch", cudaGetLastError());
  say("fault_capture.sync", cudaStreamSynchronize(s));
  cudaStreamCaptureStatus st = cudaStreamCaptureStatusNone;
  say("fault_capture.iscapturing", cudaStreamIsCapturing(t, &st)); say("fault_capture.status", (int)st);
  nop_kernel<<<1, 1, 0, t>>>(); say("fault_capture.captured.launch", cudaGetLastError());
  say("fault_capture.end", cudaStreamEndCapture(t, &g)); say("fault_capture.graph", g != nullptr);
  say("fault_capture.begin.other", cudaStreamBeginCapture(u, cudaStreamCaptureModeGlobal));
  say("fault_capture.graphcreate", cudaGraphCreate(&g, 0));
  say("fault_capture.instantiate", cudaGraphInstantiate(&x, ready, 0));
  say("fault_capture.launch.graph", cudaGraphLaunch(e, u));
  say("fault_capture.upload", cudaGraphUpload(e, u));
  size_t n = 0; say("fault_capture.getnodes", cudaGraphGetNodes(ready, nullptr, &n));
  say("fault_capture.clone", cudaGraphClone(&g, ready));
  say("fault_capture.execdestroy", cudaGraphExecDestroy(e));
  say("fault_capture.graphdestroy", cudaGraphDestroy(ready));
  say("fault_capture.last", cudaGetLastError());
}
// A fault inside of a graph.
static void fault_graph() {
  warm();
  cudaStream_t s = non_blocking(), t = non_blocking();
  int* m = host_words(); cudaEvent_t before = event(), after = event(); std::atomic<int> ran{0};
  cudaGraph_t g; MUST(cudaGraphCreate(&g, 0)); int* null = nullptr; void* args[] = {&null}; cudaKernelNodeParams k{}; k.func = (void*)bad_kernel; k.gridDim = k.blockDim = dim3(1); k.kernelParams = args; cudaGraphNode_t a, b, c;
  MUST(cudaGraphAddKernelNode(&a, g, nullptr, 0, &k)); cudaHostNodeParams hp{}; hp.fn = bump; hp.userData = &ran; MUST(cudaGraphAddHostNode(&b, g, &a, 1, &hp)); MUST(cudaGraphAddHostNode(&c, g, nullptr, 0, &hp));
  cudaGraphExec_t e = made(g); all_done();
  MUST(cudaEventRecord(before, s));
  say("fault_graph.launch", cudaGraphLaunch(e, s));
  cudaEventRecord(after, s); cudaGetLastError();
  say("fault_graph.sync", cudaStreamSynchronize(s));
  say("fault_graph.host.nodes.ran", ran.load() <= 1);
  say("fault_graph.before", cudaEventQuery(before));
  say("fault_graph.after", cudaEventQuery(after));
  say("fault_graph.again", cudaGraphLaunch(e, t));
  say("fault_graph.setparams", cudaGraphExecKernelNodeSetParams(e, a, &k));
  cudaGraphExecUpdateResultInfo info{}; say("fault_graph.update", cudaGraphExecUpdate(e, g, &info));
  say("fault_graph.execdestroy", cudaGraphExecDestroy(e));
  say("fault_graph.last", cudaGetLastError());
  (void)m;
}
// Threads that wait when a fault comes: for another stream, for an event, for the device.
static void fault_waiters() {
  warm();
  cudaStream_t s = non_blocking(), held = non_blocking();
  Gate g, never; cudaEvent_t e = event(cudaEventDisableTiming | cudaEventBlockingSync);
  gate_then<<<1, 1, 0, s>>>(g.flag, (int*)1024);
  never.close(held);
  MUST(cudaEventRecord(e, held));
  cudaError_t r[3] = {(cudaError_t)-1, (cudaError_t)-1, (cudaError_t)-1}; std::atomic<int> done{0};
  std::thread a([&] { r[0] = cudaStreamSynchronize(held); ++done; }), b([&] { r[1] = cudaEventSynchronize(e); ++done; }), c([&] { r[2] = cudaDeviceSynchronize(); ++done; });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  say("fault_waiters.before", done.load());
  g.open();
  say("fault_waiters.all.return", wait_until([&] { return done.load() == 3; }, 3000));
  never.open(); a.join(); b.join(); c.join();
  say("fault_waiters.stream", r[0]); say("fault_waiters.event", r[1]); say("fault_waiters.device", r[2]);
  say("fault_waiters.main.peek", cudaPeekAtLastError());
}
// What else answers after a fault.
static void fault_calls() {
  warm();
  cudaStream_t s = non_blocking(), t = non_blocking(); int* d; MUST(cudaMalloc(&d, 4096)); void* async; MUST(cudaMallocAsync(&async, 64, t)); int *h = host_words(); static char page[8192]; char* managed; MUST(cudaMallocManaged(&managed, 4096));
  cudaMemPool_t pool, mine; MUST(cudaDeviceGetDefaultMemPool(&pool, 0)); cudaMemPoolProps pp{}; pp.allocType = cudaMemAllocationTypePinned; pp.location.type = cudaMemLocationTypeDevice; MUST(cudaMemPoolCreate(&mine, &pp)); cudaEvent_t a = event(cudaEventDefault), b = event(cudaEventDefault); MUST(cudaEventRecord(a, t)); MUST(cudaEventRecord(b, t)); all_done();
  bad_kernel<<<1, 1, 0, s>>>(nullptr);
  say("fault_calls.sync", cudaDeviceSynchronize());
  void* q; size_t n; int v; unsigned long long l; float ms; cudaFuncAttributes fa; cudaStream_t u; cudaEvent_t e; unsigned f; cudaIpcMemHandle_t ipc; cudaPointerAttributes pa; void* args[] = {&d};
#define AFTER(name, call) say(std::string("fault_calls.") + name, call)
  AFTER("elapsed", cudaEventElapsedTime(&ms, a, b)); AFTER("eventsync", cudaEventSynchronize(a)); AFTER("eventcreate.flags", cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  AFTER("streamcreate.priority", cudaStreamCreateWithPriority(&u, cudaStreamNonBlocking, -1)); AFTER("streampriority", cudaStreamGetPriority(t, &v)); AFTER("streamid", cudaStreamGetId(t, &l)); AFTER("streamflags", cudaStreamGetFlags(t, &f)); AFTER("query.null", cudaStreamQuery(0)); AFTER("query.other", cudaStreamQuery(t));
  AFTER("callback", cudaStreamAddCallback(t, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0)); AFTER("record.flags", cudaEventRecordWithFlags(a, t, 0));
  AFTER("pool.getattribute", cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &l)); l = 0; AFTER("pool.setattribute", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &l)); AFTER("pool.trim", cudaMemPoolTrimTo(pool, 0)); AFTER("pool.default", cudaDeviceGetDefaultMemPool(&pool, 0)); AFTER("pool.current", cudaDeviceGetMemPool(&pool, 0)); AFTER("pool.set", cudaDeviceSetMemPool(0, mine)); AFTER("pool.create", cudaMemPoolCreate(&mine, &pp)); AFTER("pool.malloc", cudaMallocFromPoolAsync(&q, 64, pool, t)); AFTER("pool.destroy", cudaMemPoolDestroy(mine)); AFTER("freeasync", cudaFreeAsync(async, t));
  AFTER("symbol.address", cudaGetSymbolAddress(&q, device_word)); AFTER("symbol.size", cudaGetSymbolSize(&n, device_word)); AFTER("symbol.to", cudaMemcpyToSymbol(device_word, h, 4)); AFTER("symbol.from.async", cudaMemcpyFromSymbolAsync(h, device_word, 4, 0, cudaMemcpyDeviceToHost, t));
  AFTER("func.attributes", cudaFuncGetAttributes(&fa, (const void*)nop_kernel)); AFTER("func.set", cudaFuncSetAttribute((const void*)nop_kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 50)); AFTER("occupancy", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, nop_kernel, 32, 0)); AFTER("launchkernel", cudaLaunchKernel((const void*)add_one, dim3(1), dim3(1), args, 0, t)); AFTER("cooperative", cudaLaunchCooperativeKernel((const void*)add_one, dim3(1), dim3(1), args, 0, t));
  AFTER("limit.get", cudaDeviceGetLimit(&n, cudaLimitStackSize)); AFTER("limit.set", cudaDeviceSetLimit(cudaLimitStackSize, 2048)); cudaFuncCache cc; AFTER("cacheconfig", cudaDeviceGetCacheConfig(&cc)); AFTER("deviceflags", cudaGetDeviceFlags(&f)); AFTER("deviceflags.set", cudaSetDeviceFlags(0)); AFTER("canaccesspeer", cudaDeviceCanAccessPeer(&v, 0, 0));
  AFTER("hostregister", cudaHostRegister(page, 4096, 0)); AFTER("hostalloc", cudaHostAlloc(&q, 64, 0)); AFTER("hostdevicepointer", cudaHostGetDevicePointer(&q, h, 0)); AFTER("hostflags", cudaHostGetFlags(&f, h)); AFTER("managed", cudaMallocManaged(&q, 64)); AFTER("pitch", cudaMallocPitch(&q, &n, 64, 4)); AFTER("ipc", cudaIpcGetMemHandle(&ipc, d)); AFTER("pointer.host", cudaPointerGetAttributes(&pa, page));
  AFTER("memcpy2d", cudaMemcpy2D(d, 16, h, 16, 16, 4, cudaMemcpyHostToDevice)); AFTER("memcpy.h2h", cudaMemcpy(page, page + 4096, 16, cudaMemcpyHostToHost)); AFTER("memset2d", cudaMemset2D(d, 16, 0, 16, 4)); AFTER("memset.zero", cudaMemset(d, 0, 0)); AFTER("memsetasync", cudaMemsetAsync(d, 0, 4, t)); AFTER("memcpy.null", cudaMemcpy(nullptr, h, 4, cudaMemcpyHostToDevice)); AFTER("attach", cudaStreamAttachMemAsync(t, managed, 0, cudaMemAttachGlobal));
  AFTER("malloc.null", cudaMalloc(nullptr, 4)); AFTER("malloc.zero", cudaMalloc(&q, 0)); AFTER("free.bad", cudaFree(page)); AFTER("eventdestroy", cudaEventDestroy(a)); AFTER("streamdestroy.null", cudaStreamDestroy(0)); AFTER("setdevice.bad", cudaSetDevice(99)); AFTER("begincapture", cudaStreamBeginCapture(t, cudaStreamCaptureModeGlobal)); cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed; AFTER("exchangemode", cudaThreadExchangeStreamCaptureMode(&mode)); AFTER("driverversion", cudaDriverGetVersion(&v)); char bus[32]; AFTER("pcibusid", cudaDeviceGetPCIBusId(bus, 32, 0)); AFTER("choosedevice", cudaDeviceGetByPCIBusId(&v, bus)); AFTER("profilerstart", cudaProfilerStart());
}
// Which calls leave a stream busy that is not held, behind a wait and beside one.
static void busy() {
  warm();
  cudaStream_t s = non_blocking(), t = non_blocking(); cudaEvent_t e = event(), done = event(), unrecorded = event(); Gate g; int* d; MUST(cudaMalloc(&d, 4096)); int* h = host_words(); void *q, *p; std::atomic<int> n{0}; MUST(cudaMallocAsync(&q, 64, t));
  cudaGraph_t empty, eg; MUST(cudaGraphCreate(&empty, 0)); cudaGraphExec_t x = made(empty); MUST(cudaGraphCreate(&eg, 0)); cudaGraphNode_t en; MUST(cudaGraphAddEmptyNode(&en, eg, nullptr, 0)); cudaGraphExec_t y = made(eg); MUST(cudaGraphLaunch(x, t)); MUST(cudaGraphLaunch(y, t)); MUST(cudaEventRecord(done, t)); all_done();
  g.close(s); MUST(cudaEventRecord(e, s));
  auto behind = [&](const char* name, const std::function<void()>& f) { cudaStream_t b = non_blocking(); MUST(cudaStreamWaitEvent(b, e, 0)); f ? (t = b, f()) : (void)0; say(std::string("busy.behind.") + name, cudaStreamQuery(b)); cudaGetLastError(); MUST(cudaStreamDestroy(b)); };
  behind("nothing", nullptr);
  behind("record", [&] { MUST(cudaEventRecord(event(), t)); }); behind("timed.record", [&] { MUST(cudaEventRecord(event(cudaEventDefault), t)); }); behind("wait.done", [&] { MUST(cudaStreamWaitEvent(t, done, 0)); }); behind("wait.unrecorded", [&] { MUST(cudaStreamWaitEvent(t, unrecorded, 0)); });
  behind("mallocasync", [&] { MUST(cudaMallocAsync(&p, 64, t)); }); behind("freeasync", [&] { MUST(cudaFreeAsync(q, t)); }); behind("memset.zero", [&] { MUST(cudaMemsetAsync(d, 0, 0, t)); }); behind("memcpy.zero", [&] { MUST(cudaMemcpyAsync(d, h, 0, cudaMemcpyHostToDevice, t)); }); behind("empty.graph", [&] { MUST(cudaGraphLaunch(x, t)); }); behind("empty.node", [&] { MUST(cudaGraphLaunch(y, t)); }); behind("hostfunc", [&] { MUST(cudaLaunchHostFunc(t, bump, &n)); }); behind("kernel", [&] { nop_kernel<<<1, 1, 0, t>>>(); }); behind("memset", [&] { MUST(cudaMemsetAsync(d, 0, 4, t)); });
  behind("record.then.event", [&] { cudaEvent_t r = event(); MUST(cudaEventRecord(r, t)); say("busy.event.behind.wait", cudaEventQuery(r)); cudaGetLastError(); });
  say("busy.legacy", cudaStreamQuery(0)); cudaGetLastError();
  g.open(); all_done();
}
// An event recorded again while others wait for it.
static void rerecord() {
  warm();
  cudaStream_t s = non_blocking(), t = non_blocking(), u = non_blocking(); int* m = host_words();
  { Gate a; cudaEvent_t e = event(); a.close(s); MUST(cudaEventRecord(e, s)); MUST(cudaStreamWaitEvent(t, e, 0)); mark_kernel<<<1, 1, 0, t>>>(m, 1); MUST(cudaEventRecord(e, u)); say("rerecord.idle.query", wait_until([&] { return cudaEventQuery(e) == cudaSuccess; })); say("rerecord.idle.sync.returns", returns_within([&] { cudaEventSynchronize(e); }, [] {})); say("rerecord.idle.first.waiter.held", !shows(m, 1)); a.open(); all_done(); }
  { Gate a, b; cudaEvent_t e = event(); a.close(s); b.close(u); MUST(cudaEventRecord(e, s)); std::atomic<int> back{0}; std::thread w([&] { cudaEventSynchronize(e); back = 1; }); std::this_thread::sleep_for(std::chrono::milliseconds(50)); MUST(cudaEventRecord(e, u)); a.open(); say("rerecord.host.waits.for.first", wait_until([&] { return back.load() == 1; }, 400)); b.open(); w.join(); all_done(); }
  { Gate a; cudaEvent_t e = event(); a.close(s); MUST(cudaEventRecord(e, s)); std::atomic<int> back{0}; std::thread w([&] { cudaEventSynchronize(e); back = 1; }); std::this_thread::sleep_for(std::chrono::milliseconds(50)); MUST(cudaEventRecord(e, u)); say("rerecord.host.released.by.second", wait_until([&] { return back.load() == 1; }, 400)); a.open(); w.join(); all_done(); }
  { Gate a; cudaEvent_t e = event(cudaEventDefault), f = event(cudaEventDefault); float ms; MUST(cudaEventRecord(e, u)); MUST(cudaEventRecord(f, u)); all_done(); a.close(s); MUST(cudaEventRecord(f, s)); ask("rerecord.elapsed.pending", cudaEventElapsedTime(&ms, e, f)); MUST(cudaEventRecord(f, u)); wait_until([&] { return cudaEventQuery(f) == cudaSuccess; }); ask("rerecord.elapsed.moved", cudaEventElapsedTime(&ms, e, f)); a.open(); all_done(); }
  { Gate a; cudaEvent_t e = event(); a.close(s); for (int i = 0; i < 3; i++) { MUST(cudaEventRecord(e, s)); MUST(cudaStreamWaitEvent(t, e, 0)); MUST(cudaEventRecord(e, t)); MUST(cudaStreamWaitEvent(s, e, 0)); } *m = 0; mark_kernel<<<1, 1, 0, s>>>(m, 3); say("rerecord.ping.held", !shows(m, 3, 60)); a.open(); all_done(); say("rerecord.ping.ran", *m == 3); }
}
// What counts as work of the legacy stream, and for whom.
static void legacy() {
  warm();
  cudaStream_t b1 = blocking(), b2 = blocking(), n1 = non_blocking(); int* m = host_words(); int* d; MUST(cudaMalloc(&d, 1 << 20)); void *p, *q; std::atomic<int> n{0}; cudaGraphExec_t x = made(one_kernel(m + 8, 1)); cudaGraph_t eg; MUST(cudaGraphCreate(&eg, 0)); cudaGraphExec_t empty = made(eg); MUST(cudaGraphLaunch(x, b1)); MUST(cudaGraphLaunch(empty, b1)); MUST(cudaMallocAsync(&q, 64, 0)); cudaEvent_t done = event(), un = event(); MUST(cudaEventRecord(done, n1)); all_done();
  auto barrier = [&](const char* name, const std::function<void()>& f) { Gate g; g.close(b1); *m = 0; f(); mark_kernel<<<1, 1, 0, b2>>>(m, 1); say(std::string("legacy.") + name + ".holds.b2", !shows(m, 1, 80)); g.open(); all_done(); };
  barrier("nothing", [] {}); barrier("memset", [&] { MUST(cudaMemsetAsync(d, 0, 64, 0)); }); barrier("memset.zero", [&] { MUST(cudaMemsetAsync(d, 0, 0, 0)); }); barrier("h2d", [&] { MUST(cudaMemcpyAsync(d, m + 64, 64, cudaMemcpyHostToDevice, 0)); }); barrier("d2h.64K", [&] { MUST(cudaMemcpyAsync(m + 64, d, 1024, cudaMemcpyDeviceToHost, 0)); }); barrier("hostfunc", [&] { MUST(cudaLaunchHostFunc(0, bump, &n)); }); barrier("mallocasync", [&] { MUST(cudaMallocAsync(&p, 64, 0)); }); barrier("freeasync", [&] { MUST(cudaFreeAsync(q, 0)); }); barrier("graph", [&] { MUST(cudaGraphLaunch(x, 0)); }); barrier("empty.graph", [&] { MUST(cudaGraphLaunch(empty, 0)); }); barrier("wait.done", [&] { MUST(cudaStreamWaitEvent(0, done, 0)); }); barrier("wait.unrecorded", [&] { MUST(cudaStreamWaitEvent(0, un, 0)); }); barrier("query", [&] { cudaStreamQuery(0); cudaGetLastError(); }); barrier("launch.refused", [&] { nop_kernel<<<1, 4096>>>(); cudaGetLastError(); }); barrier("upload", [&] { MUST(cudaGraphUpload(x, 0)); });
  { Gate g; g.close(0); *m = 0; cudaStream_t late = blocking(); mark_kernel<<<1, 1, 0, late>>>(m, 1); say("legacy.held.stream.made.later.runs", shows(m, 1, 80)); g.open(); all_done(); }
  { Gate g; g.close(0); *m = 0; cudaStream_t hi; MUST(cudaStreamCreateWithPriority(&hi, cudaStreamDefault, -5)); mark_kernel<<<1, 1, 0, hi>>>(m, 1); say("legacy.held.urgent.runs", shows(m, 1, 80)); g.open(); all_done(); }
  { Gate g; g.close(0); cudaEvent_t e = event(); MUST(cudaEventRecord(e, b1)); say("legacy.held.record.in.b1", cudaEventQuery(e)); cudaGetLastError(); MUST(cudaStreamWaitEvent(n1, e, 0)); *m = 0; mark_kernel<<<1, 1, 0, n1>>>(m, 1); say("legacy.held.n1.behind.record.in.b1.runs", shows(m, 1, 80)); g.open(); all_done(); }
  { Gate g; g.close(0); MUST(cudaGraphLaunch(x, b1)); say("legacy.held.graph.in.b1", cudaStreamQuery(b1)); cudaGetLastError(); cudaGraph_t c; MUST(cudaStreamBeginCapture(b2, cudaStreamCaptureModeRelaxed)); nop_kernel<<<1, 1, 0, b2>>>(); ask("legacy.held.capture.b2", cudaStreamEndCapture(b2, &c)); g.open(); all_done(); }
  { Gate g; g.close(b1); MUST(cudaStreamDestroy(b1)); *m = 0; mark_kernel<<<1, 1>>>(m, 1); say("legacy.waits.for.destroyed.stream", !shows(m, 1, 80)); say("legacy.query.destroyed.stream", cudaStreamQuery(0)); cudaGetLastError(); g.open(); all_done(); }
  { Gate g; std::thread([&] { g.close(cudaStreamPerThread); }).join(); *m = 0; mark_kernel<<<1, 1>>>(m, 1); say("legacy.waits.for.perthread.of.ended.thread", !shows(m, 1, 80)); g.open(); all_done(); }
}
// The per-thread default stream by its handle.
static void per_thread() {
  warm();
  int* m = host_words(); unsigned long long a = 0, b = 0, l = 0; int pr = 9; cudaStreamCaptureStatus st;
  MUST(cudaStreamGetId(cudaStreamPerThread, &a)); std::thread([&] { MUST(cudaStreamGetId(cudaStreamPerThread, &b)); }).join(); MUST(cudaStreamGetId(cudaStreamLegacy, &l)); unsigned long long z = 0; MUST(cudaStreamGetId(0, &z));
  say("per_thread.ids.differ", a != b); say("per_thread.legacy.id.differs", a != l); say("per_thread.null.is.legacy", z == l); ask("per_thread.priority", cudaStreamGetPriority(cudaStreamPerThread, &pr)); say("per_thread.priority.value", pr);
  ask("per_thread.destroy", cudaStreamDestroy(cudaStreamPerThread));
  cudaGraph_t g; ask("per_thread.begin", cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal)); std::thread([&] { ask("per_thread.other.iscapturing", cudaStreamIsCapturing(cudaStreamPerThread, &st)); say("per_thread.other.status", (int)st); nop_kernel<<<1, 1, 0, cudaStreamPerThread>>>(); ask("per_thread.other.launch", cudaGetLastError()); ask("per_thread.other.end", cudaStreamEndCapture(cudaStreamPerThread, &g)); }).join(); nop_kernel<<<1, 1, 0, cudaStreamPerThread>>>(); ask("per_thread.end", cudaStreamEndCapture(cudaStreamPerThread, &g));
  { Gate gate; cudaEvent_t e = event(); std::thread([&] { gate.close(cudaStreamPerThread); MUST(cudaEventRecord(e, cudaStreamPerThread)); }).join(); MUST(cudaStreamWaitEvent(cudaStreamPerThread, e, 0)); mark_kernel<<<1, 1, 0, cudaStreamPerThread>>>(m, 1); say("per_thread.waits.for.other", !shows(m, 1, 80)); say("per_thread.query", cudaStreamQuery(cudaStreamPerThread)); cudaGetLastError(); gate.open(); all_done(); say("per_thread.ran", *m); }
  { Gate gate; gate.close(cudaStreamPerThread); bool back = returns_within([] { cudaStreamSynchronize(cudaStreamPerThread); }, [&] { gate.open(); }); say("per_thread.sync.of.other.returns", back); all_done(); }
  { Gate gate; gate.close(cudaStreamPerThread); bool back = returns_within([] { cudaStreamSynchronize(0); }, [&] { gate.open(); }); say("per_thread.legacy.sync.returns", back); all_done(); }
  { void* p; Gate gate; gate.close(cudaStreamPerThread); bool back = returns_within([&] { cudaMallocAsync(&p, 64, cudaStreamPerThread); cudaFreeAsync(p, cudaStreamPerThread); }, [&] { gate.open(); }); say("per_thread.mallocasync.returns", back); all_done(); }
}
// Graphs against other work.
static void graph_order() {
  warm();
  cudaStream_t s = non_blocking(), t = non_blocking(), b = blocking(); int* m = host_words(); std::atomic<int> n{0};
  cudaGraph_t g = one_kernel(m, 1); cudaGraphExec_t e = made(g); MUST(cudaGraphLaunch(e, s)); all_done();
  auto gated = [&](Gate& gate, int* mark) { cudaGraph_t y; MUST(cudaGraphCreate(&y, 0)); int* flag = gate.flag; void* args[] = {&flag}; cudaKernelNodeParams k{}; k.func = (void*)gate_kernel; k.gridDim = k.blockDim = dim3(1); k.kernelParams = args; cudaGraphNode_t a, c; MUST(cudaGraphAddKernelNode(&a, y, nullptr, 0, &k)); volatile int* p = mark; int v = 1; void* more[] = {&p, &v}; k.func = (void*)mark_kernel; k.kernelParams = more; MUST(cudaGraphAddKernelNode(&c, y, &a, 1, &k)); return y; };
  { Gate a; *m = 0; cudaGraphExec_t x = made(gated(a, m)); MUST(cudaGraphLaunch(x, s)); MUST(cudaGraphLaunch(x, t)); mark_kernel<<<1, 1, 0, t>>>(m + 1, 1); say("graph_order.behind.second.launch.held", !shows(m + 1, 1, 80)); say("graph_order.destroy.running", cudaGraphExecDestroy(x)); a.open(); all_done(); say("graph_order.destroyed.ran", m[0] + m[1]); }
  { Gate a; *m = 0; cudaGraph_t y = gated(a, m); cudaGraphExec_t x = made(y); MUST(cudaGraphLaunch(x, s)); say("graph_order.graphdestroy.running", cudaGraphDestroy(y)); bool up = returns_within([&] { ask("graph_order.upload.running", cudaGraphUpload(x, t)); }, [] {}); say("graph_order.upload.returns", up); say("graph_order.query", cudaStreamQuery(s)); cudaGetLastError(); a.open(); all_done(); }
  { Gate a; *m = 0; cudaGraph_t y = gated(a, m); cudaGraphExec_t x = made(y); MUST(cudaGraphLaunch(x, s)); size_t c = 8; cudaGraphNode_t nodes[8]; MUST(cudaGraphGetNodes(y, nodes, &c)); volatile int* p = m; int v = 5; void* args[] = {&p, &v}; cudaKernelNodeParams k{}; k.func = (void*)mark_kernel; k.gridDim = k.blockDim = dim3(1); k.kernelParams = args; ask("graph_order.set.running", cudaGraphExecKernelNodeSetParams(x, nodes[1], &k)); a.open(); all_done(); say("graph_order.set.running.value", *m); MUST(cudaGraphLaunch(x, s)); all_done(); say("graph_order.set.next.value", *m); }
  { Gate a; *m = 0; MUST(cudaGraphLaunch(made(gated(a, m)), b)); mark_kernel<<<1, 1>>>(m + 1, 9); say("graph_order.legacy.waits.for.graph", !shows(m + 1, 9, 80)); a.open(); all_done(); }
  { Gate a; a.close(s); cudaEvent_t ev = event(); MUST(cudaEventRecord(ev, s)); cudaGraph_t y; MUST(cudaGraphCreate(&y, 0)); cudaGraphNode_t w, k; MUST(cudaGraphAddEventWaitNode(&w, y, nullptr, 0, ev)); *m = 0; volatile int* p = m; int v = 1; void* args[] = {&p, &v}; cudaKernelNodeParams kp{}; kp.func = (void*)mark_kernel; kp.gridDim = kp.blockDim = dim3(1); kp.kernelParams = args; MUST(cudaGraphAddKernelNode(&k, y, &w, 1, &kp)); cudaGraphExec_t x = made(y); MUST(cudaGraphLaunch(x, t)); say("graph_order.wait.node.held", !shows(m, 1, 80)); MUST(cudaEventRecord(ev, b)); say("graph_order.wait.node.after.rerecord.held", !shows(m, 1, 80)); a.open(); all_done(); say("graph_order.wait.node.ran", *m); }
  { Gate a; cudaEvent_t ev = event(); cudaGraph_t y = gated(a, m); size_t c = 8; cudaGraphNode_t nodes[8], r; MUST(cudaGraphGetNodes(y, nodes, &c)); MUST(cudaGraphAddEventRecordNode(&r, y, &nodes[1], 1, ev)); cudaGraphExec_t x = made(y); ask("graph_order.record.node.before", cudaEventQuery(ev)); MUST(cudaGraphLaunch(x, s)); say("graph_order.record.node.pending", cudaEventQuery(ev)); cudaGetLastError(); MUST(cudaStreamWaitEvent(t, ev, 0)); m[2] = 0; mark_kernel<<<1, 1, 0, t>>>(m + 2, 1); say("graph_order.record.node.holds.stream", !shows(m + 2, 1, 80)); a.open(); all_done(); say("graph_order.record.node.done", cudaEventQuery(ev)); }
  { Blocker h; cudaGraph_t y; MUST(cudaGraphCreate(&y, 0)); cudaGraphNode_t hn; cudaHostNodeParams hp{}; hp.fn = Blocker::run; hp.userData = &h; MUST(cudaGraphAddHostNode(&hn, y, nullptr, 0, &hp)); MUST(cudaGraphLaunch(made(y), s)); wait_until([&] { return h.entered.load() == 1; }, 1000); MUST(cudaLaunchHostFunc(t, bump, &n)); say("graph_order.hostnode.holds.hostfunc", !wait_until([&] { return n.load() == 1; }, 80)); *m = 0; mark_kernel<<<1, 1, 0, b>>>(m, 1); say("graph_order.hostnode.kernel.beside", shows(m, 1)); h.open = 1; all_done(); }
}
// Calls made while a stream captures, in each mode: the answer, and what is left of the capture.
static void refusals() {
  warm();
  cudaStream_t n = non_blocking(), o = non_blocking(), b = blocking(); int* d; MUST(cudaMalloc(&d, 4096)); int* h = host_words(); cudaEvent_t e = event(), timed = event(cudaEventDefault), captured = event(), old = event(); cudaGraphExec_t x = made(one_kernel(h, 1)); cudaGraph_t cg = one_kernel(h, 1); MUST(cudaGraphLaunch(x, n)); MUST(cudaEventRecord(old, n)); void* q; MUST(cudaMallocAsync(&q, 64, n)); void* foreign; MUST(cudaMalloc(&foreign, 64)); all_done(); static std::atomic<int> count; float ms; static char page[4096]; char* man; MUST(cudaMallocManaged(&man, 4096)); size_t sz; cudaFuncAttributes fa; int v; cudaStream_t made_stream; cudaEvent_t made_event; unsigned f; cudaStreamAttrValue av{};
  struct Call { const char* name; std::function<cudaError_t()> f; };
  for (auto [mode_name, the_mode] : {std::make_pair("global", cudaStreamCaptureModeGlobal), std::make_pair("threadlocal", cudaStreamCaptureModeThreadLocal), std::make_pair("relaxed", cudaStreamCaptureModeRelaxed)})
    for (auto [which, s] : {std::make_pair("n", n), std::make_pair("b", b)}) {
      auto mode = the_mode;
      std::vector<Call> calls = {{"launch.legacy", [&] { nop_kernel<<<1, 1>>>(); return cudaGetLastError(); }}, {"launch.other", [&] { nop_kernel<<<1, 1, 0, o>>>(); return cudaGetLastError(); }}, {"launch.refused", [&, s = s] { nop_kernel<<<1, 4096, 0, s>>>(); return cudaGetLastError(); }}, {"memset.legacy", [&] { return cudaMemset(d, 0, 4); }}, {"memcpy.legacy", [&] { return cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice); }}, {"query.legacy", [&] { return cudaStreamQuery(0); }}, {"sync.legacy", [&] { return cudaStreamSynchronize(0); }}, {"record.legacy", [&] { return cudaEventRecord(e, 0); }}, {"wait.legacy", [&] { return cudaStreamWaitEvent(0, old, 0); }}, {"query.other", [&] { return cudaStreamQuery(o); }}, {"sync.other", [&] { return cudaStreamSynchronize(o); }},
        {"eventquery.old", [&] { return cudaEventQuery(old); }}, {"eventsync.old", [&] { return cudaEventSynchronize(old); }}, {"eventquery.captured", [&] { return cudaEventQuery(captured); }}, {"eventsync.captured", [&] { return cudaEventSynchronize(captured); }}, {"elapsed.captured", [&] { return cudaEventElapsedTime(&ms, captured, captured); }}, {"wait.old", [&, s = s] { return cudaStreamWaitEvent(s, old, 0); }}, {"wait.old.external", [&, s = s] { return cudaStreamWaitEvent(s, old, cudaEventWaitExternal); }}, {"record.external", [&, s = s] { return cudaEventRecordWithFlags(e, s, cudaEventRecordExternal); }}, {"record.timed", [&, s = s] { return cudaEventRecord(timed, s); }}, {"eventdestroy.captured", [&] { cudaEvent_t z = captured; captured = event(); return cudaEventDestroy(z); }},
        {"begin.again", [&, s = s] { return cudaStreamBeginCapture(s, mode); }}, {"graphlaunch", [&, s = s] { return cudaGraphLaunch(x, s); }}, {"graphlaunch.other", [&] { return cudaGraphLaunch(x, o); }}, {"upload", [&, s = s] { return cudaGraphUpload(x, s); }}, {"instantiate", [&] { cudaGraphExec_t y; return cudaGraphInstantiate(&y, cg, 0); }}, {"hostfunc", [&, s = s] { return cudaLaunchHostFunc(s, bump, &count); }}, {"callback", [&, s = s] { return cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0); }}, {"attach", [&, s = s] { return cudaStreamAttachMemAsync(s, man, 0, cudaMemAttachGlobal); }}, {"mallocasync", [&, s = s] { return cudaMallocAsync(&q, 64, s); }}, {"freeasync.foreign", [&, s = s] { return cudaFreeAsync(foreign, s); }}, {"memcpyasync.pageable.h2d", [&, s = s] { return cudaMemcpyAsync(d, page, 64, cudaMemcpyHostToDevice, s); }}, {"memcpyasync.pageable.d2h", [&, s = s] { return cudaMemcpyAsync(page, d, 64, cudaMemcpyDeviceToHost, s); }}, {"memsetasync.zero", [&, s = s] { return cudaMemsetAsync(d, 0, 0, s); }},
        {"devicesync", [&] { return cudaDeviceSynchronize(); }}, {"free", [&] { return cudaFree(nullptr); }}, {"mallochost", [&] { void* z; return cudaMallocHost(&z, 64); }}, {"hostregister", [&] { static char r[8192]; cudaError_t z = cudaHostRegister(r, 4096, 0); return z; }}, {"streamcreate", [&] { return cudaStreamCreate(&made_stream); }}, {"eventcreate", [&] { return cudaEventCreate(&made_event); }}, {"streamflags", [&, s = s] { return cudaStreamGetFlags(s, &f); }}, {"getattribute", [&, s = s] { return cudaStreamGetAttribute(s, cudaStreamAttributePriority, &av); }}, {"meminfo", [&] { size_t t2; return cudaMemGetInfo(&sz, &t2); }}, {"funcattributes", [&] { return cudaFuncGetAttributes(&fa, (const void*)nop_kernel); }}, {"occupancy", [&] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, nop_kernel, 32, 0); }}, {"symboladdress", [&] { void* z; return cudaGetSymbolAddress(&z, device_word); }}, {"limit", [&] { return cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20); }}, {"prefetch", [&, s = s] { cudaMemLocation loc{}; loc.type = cudaMemLocationTypeDevice; return cudaMemPrefetchAsync(man, 4096, loc, 0, s); }}, {"pooltrim", [&] { cudaMemPool_t p; cudaDeviceGetDefaultMemPool(&p, 0); return cudaMemPoolTrimTo(p, 0); }}};
      for (auto& c : calls) {
        std::string p = std::string("refusals.") + mode_name + "." + which + "." + c.name;
        MUST(cudaStreamBeginCapture(s, mode)); nop_kernel<<<1, 1, 0, s>>>(); MUST(cudaEventRecord(captured, s));
        cudaError_t r = c.f(); cudaGetLastError();
        cudaStreamCaptureStatus st; cudaStreamIsCapturing(s, &st); cudaGetLastError(); cudaGraph_t g = nullptr; cudaError_t end = cudaStreamEndCapture(s, &g); cudaGetLastError(); size_t nodes = 0; if (g) MUST(cudaGraphGetNodes(g, nullptr, &nodes));
        say(p, std::string(cudaGetErrorName(r)) + " status " + std::to_string((int)st) + " end " + cudaGetErrorName(end) + " nodes " + std::to_string(nodes));
        if (g) cudaGraphDestroy(g);
        MUST(cudaDeviceSynchronize()); cudaGetLastError();
      }
    }
}
// Pools: life and death of them and of what they gave.
static void pools() {
  warm();
  cudaStream_t s = non_blocking(), t = non_blocking(); cudaMemPoolProps pp{}; pp.allocType = cudaMemAllocationTypePinned; pp.location.type = cudaMemLocationTypeDevice; cudaMemPool_t p, d, c; unsigned long long v = 0; void *a, *b, *x, *y; int* m = host_words();
  MUST(cudaMemPoolCreate(&p, &pp)); MUST(cudaDeviceGetDefaultMemPool(&d, 0));
  ask("pools.malloc", cudaMallocFromPoolAsync(&a, 1 << 20, p, s)); ask("pools.destroy.used", cudaMemPoolDestroy(p)); ask("pools.use.after", cudaMemsetAsync(a, 1, 1 << 20, s)); ask("pools.free.after", cudaFreeAsync(a, s)); ask("pools.sync", cudaStreamSynchronize(s)); ask("pools.destroy.default", cudaMemPoolDestroy(d));
  MUST(cudaMemPoolCreate(&p, &pp)); ask("pools.set", cudaDeviceSetMemPool(0, p)); MUST(cudaDeviceGetMemPool(&c, 0)); say("pools.current", c == p); MUST(cudaMallocAsync(&a, 1 << 20, s)); MUST(cudaMemPoolGetAttribute(p, cudaMemPoolAttrUsedMemCurrent, &v)); say("pools.used.by.current", (long long)v); ask("pools.destroy.current", cudaMemPoolDestroy(p)); ask("pools.get.after.destroy", cudaDeviceGetMemPool(&c, 0)); say("pools.default.again", c == d); ask("pools.malloc.after.destroy", cudaMallocAsync(&b, 1 << 20, s)); ask("pools.free.first", cudaFreeAsync(a, s)); ask("pools.free.second", cudaFreeAsync(b, s)); all_done();
  MUST(cudaMemPoolCreate(&p, &pp)); MUST(cudaMallocFromPoolAsync(&a, 4 << 20, p, s)); MUST(cudaMemPoolGetAttribute(p, cudaMemPoolAttrUsedMemHigh, &v)); say("pools.used.high", (long long)v); v = 0; ask("pools.high.reset", cudaMemPoolSetAttribute(p, cudaMemPoolAttrUsedMemHigh, &v)); MUST(cudaMemPoolGetAttribute(p, cudaMemPoolAttrUsedMemHigh, &v)); say("pools.used.high.after", (long long)v); v = 1; ask("pools.high.set1", cudaMemPoolSetAttribute(p, cudaMemPoolAttrUsedMemHigh, &v)); ask("pools.current.set", cudaMemPoolSetAttribute(p, cudaMemPoolAttrUsedMemCurrent, &v)); ask("pools.attr.bad", cudaMemPoolGetAttribute(p, (cudaMemPoolAttr)99, &v)); ask("pools.trim.more", cudaMemPoolTrimTo(p, 1ull << 40)); ask("pools.trim", cudaMemPoolTrimTo(p, 0)); MUST(cudaMemPoolGetAttribute(p, cudaMemPoolAttrReservedMemCurrent, &v)); say("pools.reserved.used", (long long)v);
  { Gate g; g.close(t); ask("pools.free.other.stream", cudaFreeAsync(a, t)); MUST(cudaMemPoolGetAttribute(p, cudaMemPoolAttrUsedMemCurrent, &v)); say("pools.used.after.held.free", (long long)v); ask("pools.trim.held", cudaMemPoolTrimTo(p, 0)); MUST(cudaMemPoolGetAttribute(p, cudaMemPoolAttrReservedMemCurrent, &v)); say("pools.reserved.held", (long long)v); ask("pools.free.twice", cudaFreeAsync(a, s)); say("pools.streamsync.s", cudaStreamSynchronize(s)); ask("pools.free.twice.sync", cudaFree(a)); MUST(cudaMallocFromPoolAsync(&x, 4 << 20, p, t)); say("pools.held.stream.gets.it", x == a); MUST(cudaMallocFromPoolAsync(&y, 4 << 20, p, s)); say("pools.other.gets.another", y != a); g.open(); all_done(); MUST(cudaMemPoolGetAttribute(p, cudaMemPoolAttrReservedMemCurrent, &v)); say("pools.reserved.both", (long long)v); MUST(cudaFreeAsync(x, t)); MUST(cudaFreeAsync(y, s)); all_done(); MUST(cudaMemPoolGetAttribute(p, cudaMemPoolAttrReservedMemCurrent, &v)); say("pools.reserved.end", (long long)v); }
  { Gate g; g.close(s); MUST(cudaMallocFromPoolAsync(&a, 64, p, s)); bool w = returns_within([&] { ask("pools.memset.sync.on.pending", cudaMemset(a, 0, 64)); }, [&] { g.open(); }); say("pools.memset.sync.returns", w); all_done(); cudaPointerAttributes pa; ask("pools.pointer", cudaPointerGetAttributes(&pa, a)); say("pools.pointer.type", (int)pa.type); MUST(cudaFreeAsync(a, s)); ask("pools.pointer.freed", cudaPointerGetAttributes(&pa, a)); say("pools.pointer.freed.type", (int)pa.type); all_done(); ask("pools.pointer.gone", cudaPointerGetAttributes(&pa, a)); say("pools.pointer.gone.type", (int)pa.type); }
  ask("pools.huge", cudaMallocFromPoolAsync(&a, 1ull << 46, p, s)); ask("pools.zero", cudaMallocFromPoolAsync(&a, 0, p, s)); ask("pools.null.pool", cudaMallocFromPoolAsync(&a, 64, nullptr, s)); pp.maxSize = 1 << 20; ask("pools.limited", cudaMemPoolCreate(&c, &pp)); ask("pools.limited.in", cudaMallocFromPoolAsync(&a, 1 << 20, c, s)); ask("pools.limited.over", cudaMallocFromPoolAsync(&b, 64 << 20, c, s)); (void)m;
}
// Events in and out of captures, and with flags.
static void event_uses() {
  warm();
  cudaStream_t s = non_blocking(), t = non_blocking(); cudaEvent_t e = event(), f = event(cudaEventDefault), a = event(cudaEventDefault); cudaGraph_t g; float ms; int* m = host_words(); MUST(cudaEventRecord(a, t)); all_done();
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); nop_kernel<<<1, 1, 0, s>>>(); MUST(cudaEventRecord(e, s)); MUST(cudaEventRecord(f, s)); MUST(cudaStreamEndCapture(s, &g));
  ask("event_uses.captured.query", cudaEventQuery(e)); ask("event_uses.captured.sync", cudaEventSynchronize(e)); ask("event_uses.captured.wait", cudaStreamWaitEvent(t, e, 0)); ask("event_uses.captured.elapsed", cudaEventElapsedTime(&ms, a, f)); MUST(cudaGraphDestroy(g)); ask("event_uses.captured.query.destroyed", cudaEventQuery(e)); ask("event_uses.rerecord", cudaEventRecord(e, t)); all_done(); ask("event_uses.rerecorded.query", cudaEventQuery(e));
  ask("event_uses.external.outside", cudaEventRecordWithFlags(e, s, cudaEventRecordExternal)); ask("event_uses.wait.external.outside", cudaStreamWaitEvent(s, e, cudaEventWaitExternal)); ask("event_uses.record.flags2", cudaEventRecordWithFlags(e, s, 2)); ask("event_uses.wait.flags2", cudaStreamWaitEvent(s, e, 2));
  ask("event_uses.flags3", cudaEventCreateWithFlags(&e, 3)); ask("event_uses.flags8", cudaEventCreateWithFlags(&e, 8)); ask("event_uses.flags6", cudaEventCreateWithFlags(&e, 6));
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); nop_kernel<<<1, 1, 0, s>>>(); e = event(); ask("event_uses.external.captured", cudaEventRecordWithFlags(e, s, cudaEventRecordExternal)); ask("event_uses.external.query.now", cudaEventQuery(e)); MUST(cudaStreamEndCapture(s, &g)); cudaGraphExec_t x = made(g); ask("event_uses.external.before.launch", cudaEventQuery(e)); { Gate gate; gate.close(t); MUST(cudaGraphLaunch(x, t)); say("event_uses.external.launched", cudaEventQuery(e)); cudaGetLastError(); gate.open(); all_done(); } ask("event_uses.external.after", cudaEventQuery(e));
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); nop_kernel<<<1, 1, 0, s>>>(); ask("event_uses.wait.uncaptured", cudaStreamWaitEvent(s, a, 0)); ask("event_uses.wait.uncaptured.end", cudaStreamEndCapture(s, &g));
  { Gate gate; gate.close(t); MUST(cudaEventRecord(e, t)); MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); ask("event_uses.wait.pending.captured", cudaStreamWaitEvent(s, e, 0)); ask("event_uses.wait.pending.end", cudaStreamEndCapture(s, &g)); gate.open(); all_done(); }
  cudaEvent_t lone = event(); MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); ask("event_uses.wait.unrecorded.captured", cudaStreamWaitEvent(s, lone, 0)); ask("event_uses.wait.unrecorded.end", cudaStreamEndCapture(s, &g)); (void)m;
}
// Host functions and callbacks: order, what they hold, what they may call.
static std::vector<std::string> notes;
static void callbacks() {
  warm();
  cudaStream_t s = non_blocking(), t = non_blocking(); int* m = host_words(); static cudaError_t r[24]; static cudaStream_t other; other = t; static cudaEvent_t ev; ev = event(); static void* mem; MUST(cudaMallocAsync(&mem, 64, t)); static cudaGraphExec_t x; x = made(one_kernel(m, 1)); MUST(cudaGraphLaunch(x, t)); all_done();
  MUST(cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void*) { notes.push_back("callback1"); }, nullptr, 0)); MUST(cudaLaunchHostFunc(s, [](void*) { notes.push_back("hostfunc"); }, nullptr)); MUST(cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void*) { notes.push_back("callback2"); }, nullptr, 0)); all_done(); std::string all; for (auto& n : notes) all += " " + n; say("callbacks.order", all);
  auto body = [](void*) { int i = 0, n; unsigned f; float ms; void* q; cudaStream_t u; cudaEvent_t e; cudaFuncAttributes fa; cudaDeviceProp pr; r[i++] = cudaEventRecord(ev, other); r[i++] = cudaEventQuery(ev); r[i++] = cudaEventSynchronize(ev); nop_kernel<<<1, 1, 0, other>>>(); r[i++] = cudaGetLastError(); r[i++] = cudaStreamCreate(&u); r[i++] = cudaEventCreate(&e); r[i++] = cudaStreamGetFlags(other, &f); r[i++] = cudaLaunchHostFunc(other, [](void*) {}, nullptr); r[i++] = cudaGraphLaunch(x, other); r[i++] = cudaMallocAsync(&q, 64, other); r[i++] = cudaFuncGetAttributes(&fa, (const void*)nop_kernel); r[i++] = cudaGetDevice(&n); r[i++] = cudaGetDeviceProperties(&pr, 0); r[i++] = cudaSetDevice(0); r[i++] = cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0); r[i++] = cudaEventElapsedTime(&ms, ev, ev); r[i++] = cudaStreamWaitEvent(other, ev, 0); r[i++] = cudaStreamDestroy(0); r[i++] = cudaGetLastError(); r[i++] = cudaRuntimeGetVersion(&n); };
  const char* names[] = {"record", "eventquery", "eventsync", "launch", "streamcreate", "eventcreate", "streamflags", "hostfunc", "graphlaunch", "mallocasync", "funcattributes", "getdevice", "properties", "setdevice", "attribute", "elapsed", "wait", "destroy.null", "last", "version"};
  MUST(cudaLaunchHostFunc(s, body, nullptr)); all_done(); for (int i = 0; i < 20; i++) say(std::string("callbacks.hostfunc.") + names[i], r[i]); say("callbacks.main.last", cudaGetLastError());
  static void (*again)(void*) = body; MUST(cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void*) { again(nullptr); }, nullptr, 0)); all_done(); for (int i = 0; i < 20; i++) say(std::string("callbacks.callback.") + names[i], r[i]);
  { Blocker h; MUST(cudaLaunchHostFunc(s, Blocker::run, &h)); wait_until([&] { return h.entered.load() == 1; }, 1000); cudaEvent_t e = event(); MUST(cudaEventRecord(e, s)); say("callbacks.event.behind", cudaEventQuery(e)); cudaGetLastError(); void* p; MUST(cudaMalloc(&p, 64)); bool back = returns_within([&] { cudaFree(p); }, [&] { h.open = 1; }); say("callbacks.free.returns", back); all_done(); }
  { Blocker h; MUST(cudaLaunchHostFunc(s, Blocker::run, &h)); wait_until([&] { return h.entered.load() == 1; }, 1000); bool back = returns_within([&] { cudaStreamDestroy(s); }, [] {}); say("callbacks.destroy.returns", back); MUST(cudaStreamSynchronize(t)); say("callbacks.other.sync", true); cudaStream_t z = non_blocking(); std::atomic<int> n{0}; MUST(cudaStreamAddCallback(z, [](cudaStream_t, cudaError_t, void* p) { ++*(std::atomic<int>*)p; }, &n, 0)); say("callbacks.callback.beside.hostfunc", wait_until([&] { return n.load() == 1; }, 100)); h.open = 1; all_done(); say("callbacks.callback.ran", n.load()); }
}
// Launches that are refused: what is left behind.
static void bad_launches() {
  warm();
  cudaStream_t s = non_blocking(), t = non_blocking(); int* d; MUST(cudaMalloc(&d, 64)); cudaGraph_t g; size_t n = 0; void* args[] = {&d}; Gate gate; int* m = host_words();
  gate.close(s); nop_kernel<<<1, 4096, 0, s>>>(); say("bad_launches.held.peek", cudaPeekAtLastError()); say("bad_launches.query.keeps", cudaStreamQuery(t)); say("bad_launches.peek.after.query", cudaPeekAtLastError()); say("bad_launches.malloc.keeps", cudaMalloc(&d, 64)); say("bad_launches.peek.after.malloc", cudaPeekAtLastError()); nop_kernel<<<1, 1, 0, t>>>(); say("bad_launches.peek.after.good", cudaPeekAtLastError()); cudaMalloc(nullptr, 4); say("bad_launches.newest", cudaGetLastError()); gate.open(); all_done();
  ask("bad_launches.stream.garbage.shared", cudaLaunchKernel((const void*)add_one, dim3(1), dim3(1), args, 1 << 30, s)); ask("bad_launches.cooperative.large", cudaLaunchCooperativeKernel((const void*)add_one, dim3(1 << 20), dim3(1024), args, 0, s)); ask("bad_launches.grid.max", cudaLaunchKernel((const void*)nop_kernel, dim3(0x7fffffff), dim3(2048), nullptr, 0, s)); ask("bad_launches.block.xyz", cudaLaunchKernel((const void*)nop_kernel, dim3(1), dim3(1024, 2, 1), nullptr, 0, s));
  cudaLaunchConfig_t c{}; c.gridDim = dim3(1); c.blockDim = dim3(1); c.stream = s; cudaLaunchAttribute at[2]{}; at[0].id = (cudaLaunchAttributeID)99; c.attrs = at; c.numAttrs = 1; ask("bad_launches.attr.unknown", cudaLaunchKernelExC(&c, (const void*)nop_kernel, nullptr)); at[0].id = cudaLaunchAttributeClusterDimension; at[0].val.clusterDim.x = 3; at[0].val.clusterDim.y = at[0].val.clusterDim.z = 1; ask("bad_launches.cluster.divides", cudaLaunchKernelExC(&c, (const void*)nop_kernel, nullptr)); at[0].id = cudaLaunchAttributeIgnore; ask("bad_launches.attr.ignore", cudaLaunchKernelExC(&c, (const void*)nop_kernel, nullptr));
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); nop_kernel<<<1, 1, 0, s>>>(); nop_kernel<<<1, 4096, 0, s>>>(); ask("bad_launches.captured", cudaGetLastError()); ask("bad_launches.captured.copy", cudaMemcpyAsync(d, m, 4, (cudaMemcpyKind)9, s)); ask("bad_launches.captured.memset", cudaMemsetAsync(nullptr, 0, 4, s)); ask("bad_launches.captured.end", cudaStreamEndCapture(s, &g)); if (g) MUST(cudaGraphGetNodes(g, nullptr, &n)); say("bad_launches.captured.nodes", (int)n);
}
// Copies and fills of nothing, of managed memory and of rows, under gates.
static void copies() {
  warm();
  cudaStream_t s = non_blocking(); int* h = host_words(); char *d, *man; MUST(cudaMalloc(&d, 4 << 20)); MUST(cudaMallocManaged(&man, 1 << 20)); char* page = (char*)malloc(8 << 20); memset(page, 1, 8 << 20); MUST(cudaMemcpyAsync(d, page, 64, cudaMemcpyHostToDevice, s)); all_done();
  auto held = [&](const char* name, const std::function<cudaError_t()>& f) { Gate g; g.close(s); cudaError_t r = cudaErrorUnknown; bool back = returns_within([&] { r = f(); }, [&] { g.open(); }); all_done(); say(std::string("copies.") + name, std::string(back ? "returns " : "waits ") + cudaGetErrorName(r)); cudaGetLastError(); };
  held("zero.d2h.pageable", [&] { return cudaMemcpyAsync(page, d, 0, cudaMemcpyDeviceToHost, s); }); held("zero.2d", [&] { return cudaMemcpy2DAsync(d, 64, page, 64, 64, 0, cudaMemcpyHostToDevice, s); }); held("2d.d2h.pageable", [&] { return cudaMemcpy2DAsync(page, 64, d, 64, 32, 4, cudaMemcpyDeviceToHost, s); }); held("2d.h2d.pageable", [&] { return cudaMemcpy2DAsync(d, 64, page, 64, 32, 4, cudaMemcpyHostToDevice, s); }); held("default.h2d.pageable", [&] { return cudaMemcpyAsync(d, page, 4096, cudaMemcpyDefault, s); }); held("default.d2h.pageable", [&] { return cudaMemcpyAsync(page, d, 4096, cudaMemcpyDefault, s); }); held("default.h2h", [&] { return cudaMemcpyAsync(page, page + 8192, 4096, cudaMemcpyDefault, s); }); held("default.h2h.pinned", [&] { return cudaMemcpyAsync(h, h + 512, 64, cudaMemcpyDefault, s); }); held("pinned.to.pinned.h2d.kind", [&] { return cudaMemcpyAsync(h, h + 512, 64, cudaMemcpyHostToDevice, s); }); held("managed.memset", [&] { return cudaMemsetAsync(man, 0, 64, s); }); held("managed.d2d", [&] { return cudaMemcpyAsync(man, d, 64, cudaMemcpyDeviceToDevice, s); }); held("symbol.h2d.pageable", [&] { return cudaMemcpyToSymbolAsync(device_word, page, 4, 0, cudaMemcpyHostToDevice, s); }); held("symbol.d2h.pageable", [&] { return cudaMemcpyFromSymbolAsync(page, device_word, 4, 0, cudaMemcpyDeviceToHost, s); }); held("symbol.past", [&] { return cudaMemcpyToSymbolAsync(device_word, page, 4, 4, cudaMemcpyHostToDevice, s); }); held("overlapping.d2d", [&] { return cudaMemcpyAsync(d, d + 16, 64, cudaMemcpyDeviceToDevice, s); }); held("memset.pinned", [&] { return cudaMemsetAsync(h, 0, 64, s); }); held("memset.pageable", [&] { return cudaMemsetAsync(page, 0, 64, s); }); held("memset2d", [&] { return cudaMemset2DAsync(d, 64, 0, 32, 4, s); }); held("peer.same", [&] { return cudaMemcpyPeerAsync(d, 0, d + 4096, 0, 64, s); }); held("prefetch", [&] { cudaMemLocation l{}; l.type = cudaMemLocationTypeDevice; return cudaMemPrefetchAsync(man, 4096, l, 0, s); }); held("prefetch.host", [&] { cudaMemLocation l{}; l.type = cudaMemLocationTypeHost; return cudaMemPrefetchAsync(man, 4096, l, 0, s); }); held("attach", [&] { return cudaStreamAttachMemAsync(s, man, 0, cudaMemAttachGlobal); }); held("sync.memcpy.d2h", [&] { return cudaMemcpy(page, d, 64, cudaMemcpyDeviceToHost); }); held("host.reads.managed", [&] { volatile char c = man[0]; (void)c; return cudaSuccess; });
}
// cudaDeviceReset and what was made before it.
static void resets() {
  warm();
  cudaStream_t s = non_blocking(), c = non_blocking(); cudaEvent_t e = event(cudaEventDefault); MUST(cudaEventRecord(e, s)); int* d; MUST(cudaMalloc(&d, 64)); int* h = host_words(); void* a; MUST(cudaMallocAsync(&a, 64, s)); all_done(); cudaMalloc(nullptr, 4); (void)d; (void)h;
  MUST(cudaStreamBeginCapture(c, cudaStreamCaptureModeRelaxed));
  say("resets.reset.while.capturing", cudaDeviceReset()); say("resets.last", cudaGetLastError()); say("resets.again", cudaDeviceReset());
}
// Priorities of streams and what they are told.
static void priority_answers() {
  warm();
  cudaStream_t s, t = non_blocking(); int v = 9; cudaStreamAttrValue a{}; MUST(cudaStreamCreateWithPriority(&s, cudaStreamDefault, -2)); unsigned f;
  MUST(cudaStreamGetFlags(s, &f)); say("priority_answers.flags", (int)f); MUST(cudaStreamGetPriority(s, &v)); say("priority_answers.value", v); ask("priority_answers.attr", cudaStreamGetAttribute(s, cudaStreamAttributePriority, &a)); say("priority_answers.attr.value", a.priority); a.priority = -99; ask("priority_answers.set", cudaStreamSetAttribute(s, cudaStreamAttributePriority, &a)); MUST(cudaStreamGetPriority(s, &v)); say("priority_answers.set.value", v); a.priority = 7; ask("priority_answers.set.low", cudaStreamSetAttribute(s, cudaStreamAttributePriority, &a)); MUST(cudaStreamGetPriority(s, &v)); say("priority_answers.set.low.value", v); a.priority = -3; ask("priority_answers.set.null", cudaStreamSetAttribute(0, cudaStreamAttributePriority, &a)); MUST(cudaStreamGetPriority(0, &v)); say("priority_answers.null.value", v); ask("priority_answers.set.perthread", cudaStreamSetAttribute(cudaStreamPerThread, cudaStreamAttributePriority, &a)); MUST(cudaStreamGetPriority(cudaStreamPerThread, &v)); say("priority_answers.perthread.value", v); ask("priority_answers.copy", cudaStreamCopyAttributes(t, s)); MUST(cudaStreamGetPriority(t, &v)); say("priority_answers.copy.value", v); ask("priority_answers.create.flags2", cudaStreamCreateWithPriority(&s, 2, 0)); ask("priority_answers.range.null", cudaDeviceGetStreamPriorityRange(nullptr, nullptr)); ask("priority_answers.get.null", cudaStreamGetPriority(t, nullptr));
  Gate g; g.close(t); a.priority = -1; ask("priority_answers.set.busy", cudaStreamSetAttribute(t, cudaStreamAttributePriority, &a)); MUST(cudaStreamGetPriority(t, &v)); say("priority_answers.set.busy.value", v); g.open(); all_done();
}
// Waits that cross streams in circles and chains, with host functions and copies between.
static void chains() {
  warm();
  const int N = 6; cudaStream_t s[N]; for (auto& x : s) x = non_blocking(); int* m = host_words(); int* d; MUST(cudaMalloc(&d, 4096)); MUST(cudaMemset(d, 0, 4096)); cudaEvent_t e = event(); std::atomic<int> n{0};
  { Gate g; g.close(s[0]); for (int i = 1; i < N; i++) { MUST(cudaEventRecord(e, s[i - 1])); MUST(cudaStreamWaitEvent(s[i], e, 0)); add_one<<<1, 1, 0, s[i]>>>(d); } MUST(cudaMemcpyAsync(m, d, 4, cudaMemcpyDeviceToHost, s[N - 1])); std::string q; for (auto x : s) { q += cudaStreamQuery(x) == cudaSuccess ? " idle" : " busy"; } cudaGetLastError(); say("chains.one.event", q); g.open(); MUST(cudaStreamSynchronize(s[N - 1])); say("chains.one.event.value", *m); all_done(); }
  { Gate g; g.close(s[0]); MUST(cudaEventRecord(e, s[0])); for (int i = 1; i < N; i++) { MUST(cudaStreamWaitEvent(s[i], e, 0)); MUST(cudaLaunchHostFunc(s[i], bump, &n)); } cudaEvent_t join = event(); for (int i = 1; i < N; i++) { MUST(cudaEventRecord(join, s[i])); MUST(cudaStreamWaitEvent(0, join, 0)); } *m = 0; mark_kernel<<<1, 1>>>(m, 1); say("chains.fan.held", !shows(m, 1, 60) && n.load() == 0); g.open(); MUST(cudaStreamSynchronize(0)); say("chains.fan.ran", *m + 10 * n.load()); }
  { Gate g; Blocker h; g.close(s[0]); MUST(cudaLaunchHostFunc(s[1], Blocker::run, &h)); MUST(cudaLaunchHostFunc(s[0], bump, &n)); MUST(cudaEventRecord(e, s[1])); MUST(cudaStreamWaitEvent(s[2], e, 0)); *m = 0; mark_kernel<<<1, 1, 0, s[2]>>>(m, 1); say("chains.behind.blocked.hostfunc.held", !shows(m, 1, 60)); h.open = 1; say("chains.behind.released.hostfunc", shows(m, 1)); g.open(); all_done(); }
  { Gate g; g.close(s[0]); MUST(cudaEventRecord(e, s[0])); MUST(cudaStreamWaitEvent(s[0], e, 0)); nop_kernel<<<1, 1, 0, s[0]>>>(); g.open(); ask("chains.own.event", cudaStreamSynchronize(s[0])); }
  { Gate g; g.close(s[0]); MUST(cudaEventRecord(e, s[0])); MUST(cudaStreamWaitEvent(s[1], e, 0)); MUST(cudaStreamDestroy(s[0])); *m = 0; mark_kernel<<<1, 1, 0, s[1]>>>(m, 1); say("chains.event.of.destroyed.stream.held", !shows(m, 1, 60)); say("chains.event.of.destroyed.query", cudaEventQuery(e)); cudaGetLastError(); g.open(); all_done(); say("chains.event.of.destroyed.done", cudaEventQuery(e)); ask("chains.record.again", cudaEventRecord(e, s[1])); all_done(); }
}
// Captures that fork, join and end badly.
static void forks() {
  warm();
  cudaStream_t a = non_blocking(), b = non_blocking(), c = blocking(); cudaEvent_t e = event(), f = event(); cudaGraph_t g = nullptr; cudaStreamCaptureStatus st; auto relaxed = cudaStreamCaptureModeRelaxed; auto status = [&](const char* name, cudaStream_t s) { cudaError_t r = cudaStreamIsCapturing(s, &st); say(name, std::string(cudaGetErrorName(r)) + " " + std::to_string((int)st)); cudaGetLastError(); };
  MUST(cudaStreamBeginCapture(a, relaxed)); MUST(cudaEventRecord(e, a)); MUST(cudaStreamWaitEvent(b, e, 0)); ask("forks.end.by.other.stream", cudaStreamEndCapture(b, &g)); status("forks.origin.after", a); ask("forks.origin.end", cudaStreamEndCapture(a, &g));
  MUST(cudaStreamBeginCapture(a, relaxed)); MUST(cudaEventRecord(e, a)); MUST(cudaStreamWaitEvent(b, e, 0)); nop_kernel<<<1, 1, 0, b>>>(); ask("forks.unjoined", cudaStreamEndCapture(a, &g)); say("forks.unjoined.graph", g != nullptr); status("forks.unjoined.fork", b); nop_kernel<<<1, 1, 0, b>>>(); ask("forks.unjoined.launch", cudaGetLastError()); ask("forks.begin.on.fork", cudaStreamBeginCapture(b, relaxed)); cudaStreamEndCapture(b, &g); cudaGetLastError();
  cudaStream_t gone = non_blocking(); MUST(cudaStreamBeginCapture(a, relaxed)); MUST(cudaEventRecord(e, a)); MUST(cudaStreamWaitEvent(gone, e, 0)); nop_kernel<<<1, 1, 0, gone>>>(); ask("forks.destroy.fork", cudaStreamDestroy(gone)); status("forks.destroyed.origin", a); ask("forks.destroyed.end", cudaStreamEndCapture(a, &g));
  cudaStream_t origin = non_blocking(); MUST(cudaStreamBeginCapture(origin, relaxed)); nop_kernel<<<1, 1, 0, origin>>>(); ask("forks.destroy.origin", cudaStreamDestroy(origin)); ask("forks.sync.after", cudaDeviceSynchronize());
  MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal)); std::thread([&] { ask("forks.end.by.other.thread", cudaStreamEndCapture(a, &g)); }).join(); status("forks.threadlocal.after", a); ask("forks.threadlocal.end", cudaStreamEndCapture(a, &g));
  MUST(cudaStreamBeginCapture(a, relaxed)); std::thread([&] { nop_kernel<<<1, 1, 0, a>>>(); ask("forks.relaxed.other.thread.launch", cudaGetLastError()); ask("forks.relaxed.other.thread.end", cudaStreamEndCapture(a, &g)); }).join();
  MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal)); std::thread([&] { void* p; ask("forks.global.other.malloc", cudaMalloc(&p, 64)); cudaStreamCaptureMode m = cudaStreamCaptureModeRelaxed; ask("forks.global.exchange", cudaThreadExchangeStreamCaptureMode(&m)); ask("forks.global.exchanged.malloc", cudaMalloc(&p, 64)); }).join(); status("forks.global.after", a); ask("forks.global.end", cudaStreamEndCapture(a, &g));
  MUST(cudaStreamBeginCapture(a, relaxed)); MUST(cudaEventRecord(e, a)); MUST(cudaStreamBeginCapture(b, relaxed)); ask("forks.merge", cudaStreamWaitEvent(b, e, 0)); status("forks.merge.a", a); status("forks.merge.b", b); ask("forks.merge.end.a", cudaStreamEndCapture(a, &g)); ask("forks.merge.end.b", cudaStreamEndCapture(b, &g));
  MUST(cudaStreamBeginCapture(c, relaxed)); nop_kernel<<<1, 1>>>(); ask("forks.implicit.launch", cudaGetLastError()); status("forks.implicit.status", c); ask("forks.implicit.end", cudaStreamEndCapture(c, &g)); MUST(cudaStreamBeginCapture(c, relaxed)); ask("forks.implicit.status.null", cudaStreamIsCapturing(0, &st)); ask("forks.implicit.end2", cudaStreamEndCapture(c, &g));
  MUST(cudaStreamBeginCapture(a, relaxed)); MUST(cudaEventRecord(e, a)); MUST(cudaStreamWaitEvent(b, e, 0)); nop_kernel<<<1, 1, 0, b>>>(); MUST(cudaEventRecord(f, b)); nop_kernel<<<1, 1, 0, b>>>(); MUST(cudaStreamWaitEvent(a, f, 0)); ask("forks.joined.too.early", cudaStreamEndCapture(a, &g)); unsigned long long id = 0; MUST(cudaStreamBeginCapture(a, relaxed)); ask("forks.info", cudaStreamGetCaptureInfo(a, &st, &id)); say("forks.info.id", id != 0); ask("forks.end.null", cudaStreamEndCapture(a, nullptr)); status("forks.end.null.after", a); cudaStreamEndCapture(a, &g); cudaGetLastError(); ask("forks.end.idle", cudaStreamEndCapture(a, &g)); ask("forks.begin.mode9", cudaStreamBeginCapture(a, (cudaStreamCaptureMode)9));
}
// Faults with CUDA_LAUNCH_BLOCKING=1 in graphs, per-thread streams and copies; plain without.
static void fault_blocking() {
  warm();
  cudaStream_t s = non_blocking(); cudaGraph_t g; MUST(cudaGraphCreate(&g, 0)); int* bad = (int*)1024; void* args[] = {&bad}; cudaKernelNodeParams k{}; k.func = (void*)bad_kernel; k.gridDim = k.blockDim = dim3(1); k.kernelParams = args; cudaGraphNode_t a; MUST(cudaGraphAddKernelNode(&a, g, nullptr, 0, &k)); cudaGraphExec_t e = made(g); int* h = host_words();
  { Gate gate; bool back = returns_within([&] { gate.close(s); }, [&] { gate.open(); }); say("fault_blocking.launch.returns", back); all_done(); }
  { Gate gate; gate.open(); cudaGraph_t y; MUST(cudaGraphCreate(&y, 0)); (void)y; }
  say("fault_blocking.graph", cudaGraphLaunch(e, s)); wait_until([&] { return cudaStreamQuery(s) != cudaErrorNotReady; }, 1000); cudaGetLastError(); bad_kernel<<<1, 1, 0, cudaStreamPerThread>>>(bad); say("fault_blocking.launch", cudaGetLastError()); say("fault_blocking.copy", cudaMemcpyAsync(h, h + 8, 4, cudaMemcpyDefault, s)); say("fault_blocking.sync", cudaDeviceSynchronize());
}
// Two faults of different kinds: which is told, and what devices, threads and events say.
static __global__ void trap_kernel() { __trap(); }
static void fault_second() {
  warm(); { cudaFuncAttributes fa; MUST(cudaFuncGetAttributes(&fa, (const void*)trap_kernel)); }
  cudaStream_t s = non_blocking(), t = non_blocking(), c = non_blocking(); Gate g; gate_then<<<1, 1, 0, s>>>(g.flag, (int*)1024); gate_then<<<1, 1, 0, t>>>(g.flag, nullptr); cudaEvent_t first = event(cudaEventDefault), late = event(cudaEventDefault); MUST(cudaEventRecord(first, c)); MUST(cudaStreamSynchronize(c)); trap_kernel<<<1, 1, 0, s>>>(); MUST(cudaEventRecord(late, s)); std::atomic<int> n{0}; MUST(cudaLaunchHostFunc(s, bump, &n)); MUST(cudaLaunchHostFunc(t, bump, &n)); g.open();
  say("fault_second.sync", cudaStreamSynchronize(s)); say("fault_second.other", cudaStreamSynchronize(t)); say("fault_second.first.event", cudaEventQuery(first)); say("fault_second.late.event", cudaEventQuery(late)); float ms; say("fault_second.elapsed", cudaEventElapsedTime(&ms, first, late)); say("fault_second.hostfunc.behind.fault", n.load() <= 1); say("fault_second.eventsync", cudaEventSynchronize(late)); say("fault_second.peek", cudaPeekAtLastError()); std::thread([] { say("fault_second.thread.peek", cudaPeekAtLastError()); int v; say("fault_second.thread.getdevice", cudaGetDevice(&v)); say("fault_second.thread.query", cudaStreamQuery(cudaStreamPerThread)); say("fault_second.thread.last", cudaGetLastError()); }).join();
  say("fault_second.freeasync", cudaFreeAsync(nullptr, c)); say("fault_second.streamdestroy", cudaStreamDestroy(s)); say("fault_second.reset", cudaDeviceReset()); say("fault_second.count", [] { int v; return cudaGetDeviceCount(&v); }()); say("fault_second.streamcreate", cudaStreamCreate(&s));
}
// Pinned, registered and managed memory in use.
static void host_memory() {
  warm();
  cudaStream_t s = non_blocking(); static char page[1 << 16] __attribute__((aligned(4096))); char* man; MUST(cudaMallocManaged(&man, 4096)); int* h = host_words(); unsigned f = 9; void* p; cudaPointerAttributes pa; char* d; MUST(cudaMalloc(&d, 4096));
  ask("host_memory.register.flags", cudaHostRegister(page, 4096, 99)); ask("host_memory.register.zero", cudaHostRegister(page, 0, 0)); ask("host_memory.register.null", cudaHostRegister(nullptr, 64, 0)); ask("host_memory.register.device", cudaHostRegister(d, 64, 0)); ask("host_memory.register.pinned", cudaHostRegister(h, 64, 0)); ask("host_memory.register.odd", cudaHostRegister(page + 100, 100, cudaHostRegisterMapped)); ask("host_memory.flags.registered", cudaHostGetFlags(&f, page + 100)); say("host_memory.flags.registered.value", (int)f); ask("host_memory.pointer.before", cudaPointerGetAttributes(&pa, page)); say("host_memory.pointer.before.type", (int)pa.type); ask("host_memory.unregister.interior", cudaHostUnregister(page + 120)); ask("host_memory.freehost.registered", cudaFreeHost(page + 100)); ask("host_memory.unregister", cudaHostUnregister(page + 100));
  ask("host_memory.flags.hostalloc", cudaHostGetFlags(&f, h)); say("host_memory.flags.hostalloc.value", (int)f); ask("host_memory.flags.page", cudaHostGetFlags(&f, page)); ask("host_memory.alloc.flags", cudaHostAlloc(&p, 64, 99)); ask("host_memory.alloc.zero", cudaHostAlloc(&p, 0, 0)); ask("host_memory.alloc.wc", cudaHostAlloc(&p, 64, cudaHostAllocWriteCombined)); ask("host_memory.free.hostalloc", cudaFree(h)); ask("host_memory.freehost.device", cudaFreeHost(d)); ask("host_memory.freehost.interior", cudaFreeHost(h + 4)); ask("host_memory.freehost.managed", cudaFreeHost(man)); ask("host_memory.free.managed.interior", cudaFree(man + 64)); ask("host_memory.devptr.flags", cudaHostGetDevicePointer(&p, h, 1)); ask("host_memory.devptr.interior", cudaHostGetDevicePointer(&p, h + 4, 0)); say("host_memory.devptr.interior.same", p == (void*)(h + 4)); ask("host_memory.devptr.managed", cudaHostGetDevicePointer(&p, man, 0)); ask("host_memory.devptr.device", cudaHostGetDevicePointer(&p, d, 0)); ask("host_memory.managed.flags", cudaMallocManaged(&p, 64, 9)); ask("host_memory.managed.zero", cudaMallocManaged(&p, 0)); ask("host_memory.managed.host", cudaMallocManaged(&p, 64, cudaMemAttachHost)); ask("host_memory.freeasync.managed", cudaFreeAsync(man, s)); ask("host_memory.freeasync.pinned", cudaFreeAsync(h, s)); ask("host_memory.freeasync.null", cudaFreeAsync(nullptr, s)); ask("host_memory.end", cudaDeviceSynchronize());
}
// Streams by the dozen: created, filled and destroyed behind gates.
static void many() {
  warm();
  const int N = 70; int* d; MUST(cudaMalloc(&d, 64)); MUST(cudaMemset(d, 0, 64)); int* m = host_words(); Gate g; cudaStream_t root = non_blocking(); cudaEvent_t e = event(); g.close(root); MUST(cudaEventRecord(e, root)); std::vector<cudaEvent_t> ends; for (int i = 0; i < N; i++) { cudaStream_t s = i % 2 ? non_blocking() : blocking(); MUST(cudaStreamWaitEvent(s, e, 0)); add_one<<<1, 1, 0, s>>>(d); cudaEvent_t x = event(); MUST(cudaEventRecord(x, s)); ends.push_back(x); MUST(cudaStreamDestroy(s)); } int pending = 0; for (auto x : ends) pending += cudaEventQuery(x) == cudaErrorNotReady; cudaGetLastError(); say("many.pending", pending); cudaStream_t last = non_blocking(); for (auto x : ends) MUST(cudaStreamWaitEvent(last, x, 0)); MUST(cudaMemcpyAsync(m, d, 4, cudaMemcpyDeviceToHost, last)); say("many.last", cudaStreamQuery(last)); cudaGetLastError(); g.open(); MUST(cudaStreamSynchronize(last)); say("many.value", *m); pending = 0; for (auto x : ends) pending += cudaEventQuery(x) == cudaErrorNotReady; say("many.pending.after", pending); all_done();
}

int main(int argc, char** argv) {
#define S(name) {#name, name}
  std::map<std::string, void (*)()> all{S(fault_capture), S(fault_graph), S(fault_waiters), S(fault_calls), S(busy), S(rerecord), S(legacy), S(per_thread), S(graph_order), S(refusals), S(pools), S(event_uses), S(callbacks), S(bad_launches), S(copies), S(resets), S(priority_answers), S(chains), S(forks), S(fault_blocking), S(fault_second), S(host_memory), S(many)};
  std::string which = argc > 1 ? argv[1] : "list";
  if (!all.count(which)) { for (auto& [name, f] : all) std::puts(name.c_str()); return 0; }
  watchdog(60);
  MUST(cudaFree(0));
  all[which]();
  say("end", which);
  std::fflush(stdout);
  _exit(0);
}
