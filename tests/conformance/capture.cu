// Capturing a stream: what ends up in the graph, what each mode refuses, how launches behave.
#include "probe.h"

__global__ void add(int* p, int v) { *p += v; }
static void CUDART_CB bump(void* p) { ++*(int*)p; }

static void shape(const char* name, cudaGraph_t g) {
  size_t nodes = 0, roots = 0, edges = 0;
  MUST(cudaGraphGetNodes(g, nullptr, &nodes));
  MUST(cudaGraphGetRootNodes(g, nullptr, &roots));
#if CUDART_VERSION >= 13000
  MUST(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &edges));
#else
  MUST(cudaGraphGetEdges(g, nullptr, nullptr, &edges));
#endif
  std::vector<cudaGraphNode_t> v(nodes);
  if (nodes) MUST(cudaGraphGetNodes(g, v.data(), &nodes));
  int kinds[32] = {0};
  for (auto n : v) { cudaGraphNodeType t; MUST(cudaGraphNodeGetType(n, &t)); if ((int)t < 32) kinds[(int)t]++; }
  std::string k;
  for (int i = 0; i < 32; i++) if (kinds[i]) k += " t" + std::to_string(i) + "x" + std::to_string(kinds[i]);
  say(std::string("shape.") + name, "nodes " + std::to_string(nodes) + " roots " + std::to_string(roots) + " edges " + std::to_string(edges) + k);
}

int main() {
  MUST(cudaFree(0));
  cudaStream_t a, b, c; 
  MUST(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking)); MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking)); MUST(cudaStreamCreate(&c));
  cudaEvent_t e, f; MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming)); MUST(cudaEventCreateWithFlags(&f, cudaEventDisableTiming));
  int *d, *h; MUST(cudaMalloc((void**)&d, 1024)); MUST(cudaMallocHost((void**)&h, 1024)); MUST(cudaMemset(d, 0, 1024));
  add<<<1, 1>>>(d, 0); nop_kernel<<<1, 1>>>(); MUST(cudaDeviceSynchronize());
  cudaGraph_t g = nullptr; cudaGraphExec_t x; cudaStreamCaptureStatus st;
  const auto G = cudaStreamCaptureModeGlobal;
  // shapes
  MUST(cudaStreamBeginCapture(a, G)); MUST(cudaStreamIsCapturing(a, &st)); say("status.capturing", (int)st);
  MUST(cudaStreamEndCapture(a, &g)); shape("empty", g); MUST(cudaGraphDestroy(g));
  MUST(cudaStreamIsCapturing(a, &st)); say("status.after", (int)st);
  MUST(cudaStreamBeginCapture(a, G)); for (int i = 0; i < 3; i++) nop_kernel<<<1, 1, 0, a>>>(); MUST(cudaStreamEndCapture(a, &g)); shape("chain3", g); MUST(cudaGraphDestroy(g));
  MUST(cudaStreamBeginCapture(a, G)); nop_kernel<<<1, 1, 0, a>>>(); MUST(cudaEventRecord(e, a)); MUST(cudaStreamWaitEvent(b, e, 0)); nop_kernel<<<1, 1, 0, b>>>(); nop_kernel<<<1, 1, 0, a>>>();
  MUST(cudaStreamIsCapturing(b, &st)); say("status.forked", (int)st);
  MUST(cudaEventRecord(f, b)); MUST(cudaStreamWaitEvent(a, f, 0)); nop_kernel<<<1, 1, 0, a>>>(); MUST(cudaStreamEndCapture(a, &g)); shape("diamond", g); MUST(cudaGraphDestroy(g));
  MUST(cudaStreamIsCapturing(b, &st)); say("status.forked.after", (int)st);
  int hits = 0;
  MUST(cudaStreamBeginCapture(a, G)); MUST(cudaMemcpyAsync(d, h, 4, cudaMemcpyHostToDevice, a)); add<<<1, 1, 0, a>>>(d, 5); MUST(cudaMemcpyAsync(h + 1, d, 4, cudaMemcpyDeviceToHost, a)); MUST(cudaLaunchHostFunc(a, bump, &hits)); MUST(cudaMemsetAsync(d, 0, 4, a));
  MUST(cudaStreamEndCapture(a, &g)); shape("pipeline", g);
  say("capture.does.not.run", hits);
  h[0] = 10; MUST(cudaGraphInstantiate(&x, g, 0)); for (int i = 0; i < 3; i++) MUST(cudaGraphLaunch(x, a)); MUST(cudaStreamSynchronize(a)); say("launch3.result", h[1]); say("launch3.hits", hits);
  h[0] = 20; MUST(cudaGraphLaunch(x, b)); MUST(cudaStreamSynchronize(b)); say("launch.reads.now", h[1]);
  MUST(cudaGraphExecDestroy(x)); MUST(cudaGraphDestroy(g));
  { MUST(cudaStreamBeginCapture(a, G)); void* q; say("capture.mallocasync", cudaMallocAsync(&q, 4096, a)); say("capture.freeasync", cudaFreeAsync(q, a)); MUST(cudaStreamEndCapture(a, &g)); shape("alloc", g); MUST(cudaGraphDestroy(g)); }
  { MUST(cudaStreamBeginCapture(a, G)); MUST(cudaEventRecordWithFlags(e, a, cudaEventRecordExternal)); say("external.wait.unrecorded", cudaStreamWaitEvent(a, f, cudaEventWaitExternal)); cudaGetLastError(); cudaError_t z = cudaStreamEndCapture(a, &g); say("external.end", z); if (z == cudaSuccess && g) { shape("external", g); MUST(cudaGraphDestroy(g)); } cudaGetLastError(); }
  { MUST(cudaEventDestroy(f)); MUST(cudaEventCreateWithFlags(&f, cudaEventDisableTiming)); MUST(cudaEventRecord(f, b)); MUST(cudaStreamSynchronize(b)); MUST(cudaStreamBeginCapture(a, G)); say("external.record", cudaEventRecordWithFlags(e, a, cudaEventRecordExternal)); say("external.wait.recorded", cudaStreamWaitEvent(a, f, cudaEventWaitExternal)); cudaGetLastError(); cudaError_t z = cudaStreamEndCapture(a, &g); say("external2.end", z); if (z == cudaSuccess && g) { shape("external2", g); MUST(cudaGraphDestroy(g)); } cudaGetLastError(); }
  // refusals: each in a fresh capture; then what EndCapture says
  auto refuse = [&](const char* name, cudaStreamCaptureMode m, auto fn) {
    MUST(cudaStreamBeginCapture(a, m)); nop_kernel<<<1, 1, 0, a>>>();
    cudaError_t r = fn(); cudaGetLastError();
    cudaStreamIsCapturing(a, &st); cudaGraph_t q = (cudaGraph_t)1; cudaError_t z = cudaStreamEndCapture(a, &q); cudaGetLastError();
    say(std::string("refuse.") + name, std::string(cudaGetErrorName(r)) + " status " + std::to_string((int)st) + " end " + cudaGetErrorName(z) + (q ? " graph" : " null"));
    if (z == cudaSuccess && q) cudaGraphDestroy(q);
    MUST(cudaDeviceSynchronize());
  };
  for (auto m : {std::make_pair("global", cudaStreamCaptureModeGlobal), std::make_pair("threadlocal", cudaStreamCaptureModeThreadLocal), std::make_pair("relaxed", cudaStreamCaptureModeRelaxed)}) {
    std::string p = std::string(m.first) + ".";
    refuse((p + "streamsync.self").c_str(), m.second, [&] { return cudaStreamSynchronize(a); });
    refuse((p + "streamsync.other").c_str(), m.second, [&] { return cudaStreamSynchronize(b); });
    refuse((p + "devicesync").c_str(), m.second, [&] { return cudaDeviceSynchronize(); });
    refuse((p + "query.self").c_str(), m.second, [&] { return cudaStreamQuery(a); });
    refuse((p + "query.other").c_str(), m.second, [&] { return cudaStreamQuery(b); });
    refuse((p + "malloc").c_str(), m.second, [&] { void* q; cudaError_t r = cudaMalloc(&q, 64); return r; });
    refuse((p + "memcpy.sync").c_str(), m.second, [&] { return cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice); });
    refuse((p + "null.kernel").c_str(), m.second, [&] { nop_kernel<<<1, 1>>>(); return cudaGetLastError(); });
    refuse((p + "blocking.kernel").c_str(), m.second, [&] { nop_kernel<<<1, 1, 0, c>>>(); return cudaGetLastError(); });
    refuse((p + "eventquery.captured").c_str(), m.second, [&] { cudaEventRecord(e, a); return cudaEventQuery(e); });
    refuse((p + "eventsync.captured").c_str(), m.second, [&] { cudaEventRecord(e, a); return cudaEventSynchronize(e); });
    refuse((p + "begin.again").c_str(), m.second, [&] { return cudaStreamBeginCapture(a, G); });
    refuse((p + "destroy.stream").c_str(), m.second, [&] { cudaStream_t t; cudaStreamCreate(&t); cudaEventRecord(e, a); cudaStreamWaitEvent(t, e, 0); return cudaStreamDestroy(t); });
    refuse((p + "addcallback").c_str(), m.second, [&] { return cudaStreamAddCallback(a, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0); });
    refuse((p + "pageable.h2d").c_str(), m.second, [&] { static int st4[4]; return cudaMemcpyAsync(d, st4, 16, cudaMemcpyHostToDevice, a); });
  }
  MUST(cudaEventDestroy(e)); MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming)); 
  refuse("unjoined", G, [&] { cudaEventRecord(e, a); cudaStreamWaitEvent(b, e, 0); nop_kernel<<<1, 1, 0, b>>>(); return cudaSuccess; });
  MUST(cudaEventDestroy(e)); MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  MUST(cudaEventRecord(e, b));
  refuse("wait.uncaptured.event", G, [&] { return cudaStreamWaitEvent(a, e, 0); });
  { MUST(cudaStreamBeginCapture(a, G)); MUST(cudaEventRecord(e, a)); cudaGraph_t q = nullptr; MUST(cudaStreamEndCapture(a, &q)); cudaGraphDestroy(q);
    say("captured.event.query.after", cudaEventQuery(e)); cudaGetLastError(); say("captured.event.sync.after", cudaEventSynchronize(e)); cudaGetLastError(); 
    say("captured.event.wait.after", cudaStreamWaitEvent(b, e, 0)); cudaGetLastError(); MUST(cudaEventDestroy(e)); MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming)); }
  { cudaError_t r = cudaStreamBeginCapture(0, G); say("begin.null", r); cudaGetLastError(); r = cudaStreamBeginCapture(cudaStreamLegacy, G); say("begin.legacy", r); cudaGetLastError(); r = cudaStreamBeginCapture(cudaStreamPerThread, G); say("begin.perthread", r); cudaGetLastError(); if (r == cudaSuccess) { cudaGraph_t q; cudaStreamEndCapture(cudaStreamPerThread, &q); } }
  { cudaGraph_t q = nullptr; say("end.without.begin", cudaStreamEndCapture(a, &q)); cudaGetLastError(); }
  { MUST(cudaStreamBeginCapture(a, G)); cudaError_t r; std::thread t([&] { cudaGraph_t q = nullptr; r = cudaStreamEndCapture(a, &q); cudaGetLastError(); }); t.join(); say("end.wrong.thread.global", r); cudaGraph_t q = nullptr; r = cudaStreamEndCapture(a, &q); say("end.wrong.thread.then", r); cudaGetLastError(); }
  { MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed)); cudaError_t r; std::thread t([&] { cudaGraph_t q = nullptr; r = cudaStreamEndCapture(a, &q); cudaGetLastError(); }); t.join(); say("end.wrong.thread.relaxed", r); cudaGraph_t q = nullptr; if (r != cudaSuccess) cudaStreamEndCapture(a, &q); cudaGetLastError(); }
  { // another thread's cudaMalloc while this thread captures
    for (auto m : {std::make_pair("global", cudaStreamCaptureModeGlobal), std::make_pair("threadlocal", cudaStreamCaptureModeThreadLocal), std::make_pair("relaxed", cudaStreamCaptureModeRelaxed)}) {
      MUST(cudaStreamBeginCapture(a, m.second)); cudaError_t r; std::thread t([&] { void* q; r = cudaMalloc(&q, 64); cudaGetLastError(); }); t.join();
      cudaGraph_t q = nullptr; cudaError_t z = cudaStreamEndCapture(a, &q); cudaGetLastError(); say(std::string("otherthread.malloc.") + m.first, std::string(cudaGetErrorName(r)) + " end " + cudaGetErrorName(z)); } }
  // merging two captures
  { MUST(cudaStreamBeginCapture(a, G)); MUST(cudaStreamBeginCapture(b, G)); MUST(cudaEventRecord(e, b)); say("merge.wait", cudaStreamWaitEvent(a, e, 0)); cudaGetLastError(); cudaGraph_t q = nullptr; say("merge.end.a", cudaStreamEndCapture(a, &q)); cudaGetLastError(); say("merge.end.b", cudaStreamEndCapture(b, &q)); cudaGetLastError(); }
  // explicit graphs
  MUST(cudaGraphCreate(&g, 0)); cudaGraphNode_t n1, n2, n3; cudaGraphExec_t ge = nullptr;
  MUST(cudaGraphAddEmptyNode(&n1, g, nullptr, 0)); 
  cudaHostNodeParams hp = {}; hp.fn = bump; hp.userData = &hits; MUST(cudaGraphAddHostNode(&n2, g, &n1, 1, &hp));
  cudaKernelNodeParams kp = {}; int v = 7; void* args[] = {&d, &v}; kp.func = (void*)add; kp.gridDim = dim3(1); kp.blockDim = dim3(1); kp.kernelParams = args; MUST(cudaGraphAddKernelNode(&n3, g, &n2, 1, &kp));
  shape("explicit", g); v = 1000;
  MUST(cudaMemset(d, 0, 4)); hits = 0; MUST(cudaGraphInstantiate(&ge, g, 0)); MUST(cudaGraphLaunch(ge, a)); MUST(cudaGraphLaunch(ge, a)); MUST(cudaStreamSynchronize(a)); MUST(cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost)); say("explicit.value", h[0]); say("explicit.hits", hits);
  v = 100; say("exec.setparams", cudaGraphExecKernelNodeSetParams(ge, n3, &kp)); MUST(cudaGraphLaunch(ge, a)); MUST(cudaStreamSynchronize(a)); MUST(cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost)); say("exec.setparams.value", h[0]);
  { cudaGraph_t cl; MUST(cudaGraphClone(&cl, g)); shape("clone", cl); MUST(cudaGraphDestroy(cl)); }
  say("dep.cycle.add", 
#if CUDART_VERSION >= 13000
      cudaGraphAddDependencies(g, &n3, &n1, nullptr, 1)
#else
      cudaGraphAddDependencies(g, &n3, &n1, 1)
#endif
  ); cudaGetLastError();
  cudaGraphExec_t cyc = nullptr; say("dep.cycle.instantiate", cudaGraphInstantiate(&cyc, g, 0)); cudaGetLastError();
  say("graph.launch.null", cudaGraphLaunch(nullptr, a)); cudaGetLastError();
  // the same executable graph launched into two streams: never concurrent with itself
  { Gate gt; MUST(cudaStreamBeginCapture(a, G)); gt.close(a); cudaGraph_t q; MUST(cudaStreamEndCapture(a, &q)); cudaGraphExec_t qe; MUST(cudaGraphInstantiate(&qe, q, 0));
    MUST(cudaGraphLaunch(qe, a)); MUST(cudaGraphLaunch(qe, b)); MUST(cudaEventRecord(e, b)); 
    say("samegraph.second.query", cudaStreamQuery(b)); cudaGetLastError(); gt.open(); MUST(cudaDeviceSynchronize()); }
  say("end", "ok");
}
