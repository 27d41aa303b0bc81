// What graphs, captures and user objects answer to uses at the edge of what is allowed. One case per
// process: graph_answers CASE. Without an argument it lists the cases.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

static std::string prefix;
static void say(const std::string& key, cudaError_t e) {
  std::printf("%s.%s\t%s\n", prefix.c_str(), key.c_str(), cudaGetErrorName(e));
  std::fflush(stdout);
  cudaGetLastError();
}
static void say(const std::string& key, const std::string& v) {
  std::printf("%s.%s\t%s\n", prefix.c_str(), key.c_str(), v.c_str());
  std::fflush(stdout);
}
#define MUST(x) do { cudaError_t must_ = (x); if (must_ != cudaSuccess) { std::printf("%s\tSETUP %s %s\n", prefix.c_str(), #x, cudaGetErrorName(must_)); std::exit(1); } } while (0)

__global__ void nothing(int* p) { if (p) p[threadIdx.x] = 1; }
__global__ void other(int* p) { if (p) p[threadIdx.x] = 2; }
__global__ void slow(int* p) { for (int i = 0; i < 400; ++i) __nanosleep(1000000); if (p) *p = 3; }
__device__ int symbol[64];

static cudaStream_t destroyed() { cudaStream_t s; MUST(cudaStreamCreate(&s)); MUST(cudaStreamDestroy(s)); return s; }
struct memory { int *d, *e, *h, *g; memory() { MUST(cudaMalloc(&d, 4096)); MUST(cudaMalloc(&e, 4096)); h = (int*)malloc(4096); g = (int*)malloc(4096); memset(h, 0, 4096); } };
static std::string type_of(cudaGraphNode_t n) { cudaGraphNodeType t; MUST(cudaGraphNodeGetType(n, &t)); return std::to_string((int)t); }
static void say_nodes(const std::string& key, cudaGraph_t g, bool roots) {
  cudaGraphNode_t nodes[16]; size_t n = 16;
  MUST(roots ? cudaGraphGetRootNodes(g, nodes, &n) : cudaGraphGetNodes(g, nodes, &n));
  std::string s; for (size_t i = 0; i < n; ++i) s += (i ? "," : "") + type_of(nodes[i]);
  say(key, s);
}
static cudaGraph_t graph() { cudaGraph_t g; MUST(cudaGraphCreate(&g, 0)); return g; }
static cudaGraphExec_t exec(cudaGraph_t g) { cudaGraphExec_t x; MUST(cudaGraphInstantiate(&x, g, 0)); return x; }
static cudaGraphNode_t copy1d(cudaGraph_t g, void* to, void* from, size_t n, cudaMemcpyKind k) { cudaGraphNode_t r; MUST(cudaGraphAddMemcpyNode1D(&r, g, nullptr, 0, to, from, n, k)); return r; }
static cudaMemsetParams fill_of(void* p, size_t w, size_t h, size_t pitch) { cudaMemsetParams m{}; m.dst = p; m.elementSize = 4; m.width = w; m.height = h; m.pitch = pitch; m.value = 42; return m; }
static cudaKernelNodeParams kernel_of(void* f, void** a, int threads = 1) { cudaKernelNodeParams k{}; k.func = f; k.gridDim = dim3(1); k.blockDim = dim3(threads); k.kernelParams = a; return k; }
static void update(const std::string& key, cudaGraph_t from, cudaGraph_t to) {
  cudaGraphExec_t x = exec(from); cudaGraphExecUpdateResultInfo info{};
  cudaError_t e = cudaGraphExecUpdate(x, to, &info);
  say(key, std::string(cudaGetErrorName(e)) + " " + std::to_string((int)info.result) + " node=" + (info.errorNode ? type_of(info.errorNode) : "none") + " from=" + (info.errorFromNode ? type_of(info.errorFromNode) : "none"));
  cudaGetLastError();
}

int main(int argc, char** argv) {
  std::map<std::string, std::function<void()>> c;
  c["endcapture.idle"] = [] { cudaStream_t s; cudaGraph_t g; MUST(cudaStreamCreate(&s)); say("nullgraph", cudaStreamEndCapture(s, nullptr)); say("nullgraph.perthread", cudaStreamEndCapture(cudaStreamPerThread, nullptr)); say("graph", cudaStreamEndCapture(s, &g)); say("nullstream", cudaStreamEndCapture(nullptr, &g)); say("nullstream.nullgraph", cudaStreamEndCapture(nullptr, nullptr)); };
  c["endcapture.nullgraph.capturing"] = [] { cudaStream_t s; MUST(cudaStreamCreate(&s)); MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); say("answer", cudaStreamEndCapture(s, nullptr)); cudaStreamCaptureStatus st; say("status", cudaStreamIsCapturing(s, &st)); say("status.value", std::to_string((int)st)); };
  c["graph.event.null"] = [] { cudaGraph_t g = graph(); cudaGraphNode_t n; cudaEvent_t e; MUST(cudaEventCreate(&e));
    say("addrecord", cudaGraphAddEventRecordNode(&n, g, nullptr, 0, nullptr)); say("addwait", cudaGraphAddEventWaitNode(&n, g, nullptr, 0, nullptr));
    cudaGraphNode_t r, w; MUST(cudaGraphAddEventRecordNode(&r, g, nullptr, 0, e)); MUST(cudaGraphAddEventWaitNode(&w, g, nullptr, 0, e));
    say("record.set", cudaGraphEventRecordNodeSetEvent(r, nullptr)); say("wait.set", cudaGraphEventWaitNodeSetEvent(w, nullptr));
    cudaGraphExec_t x = exec(g); say("record.execset", cudaGraphExecEventRecordNodeSetEvent(x, r, nullptr)); say("wait.execset", cudaGraphExecEventWaitNodeSetEvent(x, w, nullptr));
    cudaEvent_t out; say("record.get.of.wait", cudaGraphEventRecordNodeGetEvent(w, &out)); say("wait.get.of.record", cudaGraphEventWaitNodeGetEvent(r, &out));
    say("record.get.null", cudaGraphEventRecordNodeGetEvent(r, nullptr)); say("record.set.of.wait", cudaGraphEventRecordNodeSetEvent(w, e)); say("wait.set.of.record", cudaGraphEventWaitNodeSetEvent(r, e));
    say("record.execset.of.wait", cudaGraphExecEventRecordNodeSetEvent(x, w, e)); };
  c["graph.instantiate.flags"] = [] { for (unsigned long long f : {1ull, 2ull, 3ull, 4ull, 5ull, 8ull, 9ull, 10ull, 15ull, 16ull, 32ull}) { cudaGraph_t g = graph(); cudaGraphNode_t n; void* p = nullptr; void* a[] = {&p}; auto k = kernel_of((void*)&nothing, a); MUST(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k)); cudaGraphExec_t x; say("flags." + std::to_string(f), cudaGraphInstantiate(&x, g, f)); } };
  c["graph.memcpy.zero"] = [] { memory m; cudaGraph_t g = graph(); cudaGraphNode_t n;
    for (int k = 0; k < 5; ++k) say("add1d." + std::to_string(k), cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, m.d, m.e, 0, (cudaMemcpyKind)k));
    say("tosymbol", cudaGraphAddMemcpyNodeToSymbol(&n, g, nullptr, 0, symbol, m.d, 0, 0, cudaMemcpyDefault)); say("fromsymbol", cudaGraphAddMemcpyNodeFromSymbol(&n, g, nullptr, 0, m.d, symbol, 0, 0, cudaMemcpyDefault));
    cudaGraphNode_t r = copy1d(g, m.d, m.h, 64, cudaMemcpyHostToDevice); say("set1d", cudaGraphMemcpyNodeSetParams1D(r, m.d, m.h, 0, cudaMemcpyHostToDevice));
    cudaGraphNode_t t, f; MUST(cudaGraphAddMemcpyNodeToSymbol(&t, g, nullptr, 0, symbol, m.d, 64, 0, cudaMemcpyDeviceToDevice)); MUST(cudaGraphAddMemcpyNodeFromSymbol(&f, g, nullptr, 0, m.d, symbol, 64, 0, cudaMemcpyDeviceToDevice));
    say("set.tosymbol", cudaGraphMemcpyNodeSetParamsToSymbol(t, symbol, m.d, 0, 0, cudaMemcpyDefault)); say("set.fromsymbol", cudaGraphMemcpyNodeSetParamsFromSymbol(f, m.d, symbol, 0, 0, cudaMemcpyDefault));
    say("set.tosymbol.offset", cudaGraphMemcpyNodeSetParamsToSymbol(t, symbol, m.d, 64, 250, cudaMemcpyDeviceToDevice)); say("set.tosymbol.big", cudaGraphMemcpyNodeSetParamsToSymbol(t, symbol, m.d, 260, 0, cudaMemcpyDeviceToDevice));
    say("set.tosymbol.self", cudaGraphMemcpyNodeSetParamsToSymbol(t, symbol, symbol, 64, 0, cudaMemcpyDeviceToDevice)); say("set.fromsymbol.self", cudaGraphMemcpyNodeSetParamsFromSymbol(f, symbol, symbol, 64, 0, cudaMemcpyDeviceToDevice));
    cudaGraphExec_t x = exec(g); say("execset1d", cudaGraphExecMemcpyNodeSetParams1D(x, r, m.d, m.h, 0, cudaMemcpyHostToDevice)); say("execset.tosymbol", cudaGraphExecMemcpyNodeSetParamsToSymbol(x, t, symbol, m.d, 0, 0, cudaMemcpyDefault)); say("execset.fromsymbol", cudaGraphExecMemcpyNodeSetParamsFromSymbol(x, f, m.d, symbol, 0, 0, cudaMemcpyDefault)); };
  c["graph.memcpy.direction"] = [] { memory m; struct how { const char* name; void *to, *from; cudaMemcpyKind k; };
    how all[] = {{"h2d", m.d, m.h, cudaMemcpyHostToDevice}, {"d2h", m.h, m.d, cudaMemcpyDeviceToHost}, {"d2d", m.d, m.e, cudaMemcpyDeviceToDevice}, {"h2h", m.h, m.g, cudaMemcpyHostToHost}, {"def.h2d", m.d, m.h, cudaMemcpyDefault}};
    for (how& a : all) for (how& b : all) { cudaGraph_t g = graph(); cudaGraphNode_t n = copy1d(g, a.to, a.from, 64, a.k); cudaGraphExec_t x = exec(g);
      say(std::string("exec.") + a.name + "." + b.name, cudaGraphExecMemcpyNodeSetParams1D(x, n, b.to, b.from, 64, b.k)); say(std::string("node.") + a.name + "." + b.name, cudaGraphMemcpyNodeSetParams1D(n, b.to, b.from, 64, b.k)); }
    cudaGraph_t g = graph(); cudaGraphNode_t n = copy1d(g, m.d, m.e, 64, cudaMemcpyDeviceToDevice); cudaGraphExec_t x = exec(g);
    say("exec.d2d.longer", cudaGraphExecMemcpyNodeSetParams1D(x, n, m.d, m.e, 128, cudaMemcpyDeviceToDevice)); say("exec.d2d.kind.h2d", cudaGraphExecMemcpyNodeSetParams1D(x, n, m.d, m.e, 64, cudaMemcpyHostToDevice)); say("exec.d2d.same", cudaGraphExecMemcpyNodeSetParams1D(x, n, m.d, m.d, 64, cudaMemcpyDeviceToDevice)); say("exec.d2d.kind9", cudaGraphExecMemcpyNodeSetParams1D(x, n, m.d, m.e, 64, (cudaMemcpyKind)9)); say("exec.d2d.toolong", cudaGraphExecMemcpyNodeSetParams1D(x, n, m.d, m.e, 1 << 30, cudaMemcpyDeviceToDevice)); };
  c["graph.memset.exec"] = [] { memory m; void* p; size_t pitch; MUST(cudaMallocPitch(&p, &pitch, 64, 8));
    auto run = [&](const std::string& key, cudaMemsetParams a, cudaMemsetParams b) { cudaGraph_t g = graph(); cudaGraphNode_t n; MUST(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &a)); cudaGraphExec_t x = exec(g); say(key, cudaGraphExecMemsetNodeSetParams(x, n, &b)); };
    run("1d.1d", fill_of(m.d, 4, 1, 0), fill_of(m.e, 8, 1, 0)); run("1d.2d", fill_of(m.d, 4, 1, 0), fill_of(p, 4, 2, pitch)); run("2d.same", fill_of(p, 1, 2, pitch), fill_of(p, 1, 2, pitch)); run("2d.wider", fill_of(p, 1, 2, pitch), fill_of(p, 2, 2, pitch)); run("2d.higher", fill_of(p, 1, 2, pitch), fill_of(p, 1, 3, pitch)); run("2d.1d", fill_of(p, 1, 2, pitch), fill_of(p, 4, 1, 0));
    auto v = fill_of(p, 1, 2, pitch); v.value = 7; run("2d.value", fill_of(p, 1, 2, pitch), v); auto w = fill_of(m.d, 4, 1, 0); w.elementSize = 1; run("1d.element", fill_of(m.d, 4, 1, 0), w); };
  c["graph.update"] = [] { memory m; void *p = m.d, *q = m.e; void *a[] = {&p}, *b[] = {&q};
    auto kernels = [&](std::vector<void*> f, bool chain, int threads = 1) { cudaGraph_t g = graph(); cudaGraphNode_t last = nullptr; for (void* one : f) { cudaGraphNode_t n; auto k = kernel_of(one, a, threads); MUST(cudaGraphAddKernelNode(&n, g, &last, chain && last ? 1 : 0, &k)); last = n; } return g; };
    auto copies = [&](int n, cudaMemcpyKind k) { cudaGraph_t g = graph(); for (int i = 0; i < n; ++i) copy1d(g, k == cudaMemcpyHostToDevice ? (void*)m.d : (void*)m.h, k == cudaMemcpyHostToDevice ? (void*)m.h : (void*)m.d, 64, k); return g; };
    void* k0 = (void*)&nothing; void* k1 = (void*)&other;
    update("kernel.same", kernels({k0}, true), kernels({k0}, true)); update("kernel.function", kernels({k0}, true), kernels({k1}, true)); update("kernel.threads", kernels({k0}, true), kernels({k0}, true, 64)); update("kernel.fewer", kernels({k0, k0}, true), kernels({k0}, true)); update("kernel.more", kernels({k0}, true), kernels({k0, k0}, true)); update("kernel.edges", kernels({k0, k0}, true), kernels({k0, k0}, false)); update("kernel.edges.more", kernels({k0, k0}, false), kernels({k0, k0}, true));
    update("copies.2.1.other", copies(2, cudaMemcpyHostToDevice), copies(1, cudaMemcpyDeviceToHost)); update("copies.1.2", copies(1, cudaMemcpyHostToDevice), copies(2, cudaMemcpyHostToDevice)); update("copies.2.1", copies(2, cudaMemcpyHostToDevice), copies(1, cudaMemcpyHostToDevice)); update("copies.direction", copies(1, cudaMemcpyHostToDevice), copies(1, cudaMemcpyDeviceToHost));
    cudaGraph_t longer = graph(); copy1d(longer, m.d, m.h, 128, cudaMemcpyHostToDevice); update("copies.longer", copies(1, cudaMemcpyHostToDevice), longer);
    auto fills = [&](cudaMemsetParams f) { cudaGraph_t g = graph(); cudaGraphNode_t n; MUST(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &f)); return g; };
    update("fill.same", fills(fill_of(m.d, 4, 1, 0)), fills(fill_of(m.d, 4, 1, 0))); update("fill.wider", fills(fill_of(m.d, 4, 1, 0)), fills(fill_of(m.d, 8, 1, 0))); update("type.copy.fill", copies(1, cudaMemcpyHostToDevice), fills(fill_of(m.d, 4, 1, 0))); update("type.fill.kernel", fills(fill_of(m.d, 4, 1, 0)), kernels({k0}, true));
    auto chain = [&](bool swapped) { cudaGraph_t g = graph(); cudaGraphNode_t x, y; if (!swapped) { x = copy1d(g, m.d, m.h, 64, cudaMemcpyHostToDevice); y = copy1d(g, m.e, m.h, 64, cudaMemcpyHostToDevice); } else { auto f = fill_of(m.d, 4, 1, 0); MUST(cudaGraphAddMemsetNode(&x, g, nullptr, 0, &f)); y = copy1d(g, m.e, m.h, 64, cudaMemcpyHostToDevice); } MUST(cudaGraphAddDependencies(g, &x, &y, nullptr, 1)); return g; };
    update("type.in.chain", chain(false), chain(true)); update("empty", kernels({k0}, true), graph()); (void)b; };
  c["graph.child.exec"] = [] { memory m; cudaGraph_t inner = graph(), same = graph(), bigger = graph(), outer = graph(); copy1d(inner, m.d, m.h, 64, cudaMemcpyHostToDevice); copy1d(same, m.e, m.h, 64, cudaMemcpyHostToDevice); copy1d(bigger, m.e, m.h, 64, cudaMemcpyHostToDevice); copy1d(bigger, m.d, m.h, 64, cudaMemcpyHostToDevice);
    cudaGraphNode_t n, k; MUST(cudaGraphAddChildGraphNode(&n, outer, nullptr, 0, inner)); k = copy1d(outer, m.d, m.h, 64, cudaMemcpyHostToDevice); cudaGraphExec_t x = exec(outer);
    say("same", cudaGraphExecChildGraphNodeSetParams(x, n, same)); say("bigger", cudaGraphExecChildGraphNodeSetParams(x, n, bigger)); say("parent", cudaGraphExecChildGraphNodeSetParams(x, n, outer)); say("nullgraph", cudaGraphExecChildGraphNodeSetParams(x, n, nullptr)); say("wrongnode", cudaGraphExecChildGraphNodeSetParams(x, k, same)); say("empty", cudaGraphExecChildGraphNodeSetParams(x, n, graph())); };
  c["graph.order.captured"] = [] { memory m; cudaStream_t s[3]; cudaEvent_t e[3]; for (int i = 0; i < 3; ++i) { MUST(cudaStreamCreate(&s[i])); MUST(cudaEventCreate(&e[i])); }
    MUST(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal)); MUST(cudaEventRecord(e[0], s[0])); MUST(cudaStreamWaitEvent(s[1], e[0], 0)); MUST(cudaStreamWaitEvent(s[2], e[0], 0)); nothing<<<1, 1, 0, s[2]>>>(m.d); MUST(cudaEventRecord(e[1], s[2])); MUST(cudaMemsetAsync(m.d, 0, 64, s[1])); MUST(cudaEventRecord(e[2], s[1])); MUST(cudaMemsetAsync(m.e, 0, 64, s[0])); MUST(cudaStreamWaitEvent(s[0], e[2], 0)); MUST(cudaStreamWaitEvent(s[0], e[1], 0)); MUST(cudaMemcpyAsync(m.d, m.e, 64, cudaMemcpyDeviceToDevice, s[0]));
    cudaGraph_t g; MUST(cudaStreamEndCapture(s[0], &g)); say_nodes("roots", g, true); say_nodes("nodes", g, false); };
  c["graph.order.built"] = [] { memory m; cudaGraph_t g = graph(); void* p = m.d; void* a[] = {&p}; cudaGraphNode_t x, y, z, w; auto k = kernel_of((void*)&nothing, a); MUST(cudaGraphAddKernelNode(&x, g, nullptr, 0, &k)); auto f = fill_of(m.d, 4, 1, 0); MUST(cudaGraphAddMemsetNode(&y, g, nullptr, 0, &f)); z = copy1d(g, m.d, m.h, 64, cudaMemcpyHostToDevice); MUST(cudaGraphAddEmptyNode(&w, g, &x, 1)); say_nodes("roots", g, true); say_nodes("nodes", g, false); };
  c["graph.launch.pageable"] = [] { memory m; cudaStream_t s; MUST(cudaStreamCreate(&s)); cudaGraph_t g = graph(); void* p = m.d; void* a[] = {&p}; cudaGraphNode_t x, y; auto k = kernel_of((void*)&slow, a); MUST(cudaGraphAddKernelNode(&x, g, nullptr, 0, &k)); MUST(cudaGraphAddMemcpyNode1D(&y, g, &x, 1, m.h, m.d, 64, cudaMemcpyDeviceToHost)); cudaGraphExec_t e = exec(g); MUST(cudaGraphLaunch(e, s)); say("query.after.launch", cudaStreamQuery(s)); MUST(cudaStreamSynchronize(s)); MUST(cudaGraphLaunch(e, 0)); say("query.after.launch.null", cudaStreamQuery(0)); };
  c["userobject.overrelease"] = [] { static int destroyed_times; cudaUserObject_t o; MUST(cudaUserObjectCreate(&o, &destroyed_times, [](void* p) { ++*(int*)p; }, 2, cudaUserObjectNoDestructorSync)); say("release.4.of.2", cudaUserObjectRelease(o, 4)); say("destroyed", std::to_string(destroyed_times)); say("retain.after", cudaUserObjectRetain(o, 1)); say("release.after", cudaUserObjectRelease(o, 1)); say("destroyed.after", std::to_string(destroyed_times)); };
  c["userobject.moved.released"] = [] { static int destroyed_times; cudaGraph_t g = graph(); cudaUserObject_t o; MUST(cudaUserObjectCreate(&o, &destroyed_times, [](void* p) { ++*(int*)p; }, 1, cudaUserObjectNoDestructorSync)); MUST(cudaGraphRetainUserObject(g, o, 1, cudaGraphUserObjectMove)); say("release.own", cudaUserObjectRelease(o, 1)); say("destroyed", std::to_string(destroyed_times)); say("graph.destroy", cudaGraphDestroy(g)); say("destroyed.after", std::to_string(destroyed_times)); };
  c["userobject.graph.overrelease"] = [] { static int destroyed_times; cudaGraph_t g = graph(); cudaUserObject_t o; MUST(cudaUserObjectCreate(&o, &destroyed_times, [](void* p) { ++*(int*)p; }, 1, cudaUserObjectNoDestructorSync)); MUST(cudaGraphRetainUserObject(g, o, 1, cudaGraphUserObjectMove)); say("graph.release.max", cudaGraphReleaseUserObject(g, o, 2147483647)); say("destroyed", std::to_string(destroyed_times)); say("graph.release.again", cudaGraphReleaseUserObject(g, o, 1)); };
  c["graph.memnodes"] = [] { cudaGraph_t g = graph(); cudaGraphNode_t a, f; cudaMemAllocNodeParams p{}; p.poolProps.allocType = cudaMemAllocationTypePinned; p.poolProps.location.type = cudaMemLocationTypeDevice; p.bytesize = 4096; MUST(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &p)); void* q; MUST(cudaMalloc(&q, 64)); say("free.of.malloc", cudaGraphAddMemFreeNode(&f, g, &a, 1, q)); say("free.null", cudaGraphAddMemFreeNode(&f, g, &a, 1, nullptr)); MUST(cudaGraphAddMemFreeNode(&f, g, &a, 1, p.dptr)); cudaGraphExec_t x, y; MUST(cudaGraphInstantiate(&x, g, 0)); say("instantiate.twice", cudaGraphInstantiate(&y, g, 0)); MUST(cudaGraphExecDestroy(x)); say("instantiate.after.destroy", cudaGraphInstantiate(&y, g, 0)); cudaGraph_t h; say("clone", cudaGraphClone(&h, g)); cudaGraphNode_t n; say("child", cudaGraphAddChildGraphNode(&n, graph(), nullptr, 0, g)); say("destroynode", cudaGraphDestroyNode(f)); say("adddependency", cudaGraphAddDependencies(g, &f, &a, nullptr, 1));
    auto bad = [&](const char* key, std::function<void(cudaMemAllocNodeParams&)> change) { cudaMemAllocNodeParams b{}; b.poolProps.allocType = cudaMemAllocationTypePinned; b.poolProps.location.type = cudaMemLocationTypeDevice; b.bytesize = 4096; change(b); cudaGraphNode_t z; say(key, cudaGraphAddMemAllocNode(&z, graph(), nullptr, 0, &b)); };
    bad("alloc.type.0", [](auto& b) { b.poolProps.allocType = cudaMemAllocationTypeInvalid; }); bad("alloc.location.0", [](auto& b) { b.poolProps.location.type = cudaMemLocationTypeInvalid; }); bad("alloc.device.9", [](auto& b) { b.poolProps.location.id = 9; }); bad("alloc.bytes.0", [](auto& b) { b.bytesize = 0; }); bad("alloc.bytes.max", [](auto& b) { b.bytesize = ~size_t{0}; }); bad("alloc.handle.posix", [](auto& b) { b.poolProps.handleTypes = cudaMemHandleTypePosixFileDescriptor; }); bad("alloc.maxsize", [](auto& b) { b.poolProps.maxSize = 1; }); };
  c["graph.kernel.attributes"] = [] { cudaGraph_t g = graph(); void* p = nullptr; void* a[] = {&p}; cudaGraphNode_t k, o; auto params = kernel_of((void*)&nothing, a); MUST(cudaGraphAddKernelNode(&k, g, nullptr, 0, &params)); MUST(cudaGraphAddEmptyNode(&o, g, nullptr, 0)); cudaLaunchAttributeValue v{}; for (int id = 0; id < 16; ++id) say("get." + std::to_string(id), cudaGraphKernelNodeGetAttribute(k, (cudaLaunchAttributeID)id, &v)); say("get.of.empty", cudaGraphKernelNodeGetAttribute(o, cudaLaunchAttributePriority, &v)); say("copy.to.empty", cudaGraphKernelNodeCopyAttributes(o, k)); say("copy.from.empty", cudaGraphKernelNodeCopyAttributes(k, o)); cudaGraph_t h = graph(); cudaGraphNode_t l; auto other_params = kernel_of((void*)&other, a); MUST(cudaGraphAddKernelNode(&l, h, nullptr, 0, &other_params)); say("copy.other.graph", cudaGraphKernelNodeCopyAttributes(l, k)); };
  c["graph.memattribute.set"] = [] { unsigned long long zero = 0, one = 1; say("usedcurrent", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero)); say("usedhigh.one", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &one)); say("usedhigh", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero)); say("usedhigh.null", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, nullptr)); say("kind9", cudaDeviceSetGraphMemAttribute(0, (cudaGraphMemAttributeType)9, &zero)); };
  if (argc < 2) { for (auto& [name, f] : c) std::printf("%s\n", name.c_str()); return 0; }
  prefix = argv[1]; c.at(prefix)();
}
