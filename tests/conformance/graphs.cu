// Graphs beyond capture: memory nodes, updates, user objects, capture into a graph.
// One section per process: `graphs SECTION`.
#include "graphs_probe.h"

static void section_memory() {
  cudaMemAllocNodeParams ap{};
  ap.poolProps.allocType = cudaMemAllocationTypePinned;
  ap.poolProps.location.type = cudaMemLocationTypeDevice;
  ap.bytesize = 1 << 20;
  cudaGraph_t g = new_graph();
  cudaGraphNode_t an = nullptr, fn = nullptr, n = nullptr;
  auto bad = ap;
  bad.bytesize = 0;
  say("mem.alloc.zero", cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &bad));
  bad = ap;
  bad.poolProps.location.id = 99;
  say("mem.alloc.device99", cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &bad));
  bad = ap;
  bad.poolProps.location.type = cudaMemLocationTypeHost;
  say("mem.alloc.host", cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &bad));
  bad = ap;
  bad.poolProps.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  say("mem.alloc.shareable", cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &bad));
  bad = ap;
  bad.poolProps.allocType = cudaMemAllocationTypeInvalid;
  say("mem.alloc.type0", cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &bad));
  say("mem.alloc.null", cudaGraphAddMemAllocNode(&n, g, nullptr, 0, nullptr));
  say("mem.alloc", cudaGraphAddMemAllocNode(&an, g, nullptr, 0, &ap));
  cudaGraphNode_t use = add_counter(g, (int*)ap.dptr, an);
  cudaMemAllocNodeParams got{};
  say("mem.alloc.get", cudaGraphMemAllocNodeGetParams(an, &got));
  say("mem.alloc.get.same", got.dptr == ap.dptr && got.bytesize == ap.bytesize);
  cudaGraphNodeParams gp{};
  gp.type = cudaGraphNodeTypeMemAlloc;
  gp.alloc.poolProps = ap.poolProps;
  gp.alloc.bytesize = 1 << 20;
  say("mem.alloc.setparams", cudaGraphNodeSetParams(an, &gp));
  int* plain;
  MUST(cudaMalloc(&plain, 64));
  say("mem.free.plain", cudaGraphAddMemFreeNode(&n, g, nullptr, 0, plain));
  say("mem.free.null", cudaGraphAddMemFreeNode(&n, g, nullptr, 0, nullptr));
  say("mem.free.inside", cudaGraphAddMemFreeNode(&n, g, nullptr, 0, (char*)ap.dptr + 256));
  say("mem.free.unordered", cudaGraphAddMemFreeNode(&n, g, nullptr, 0, ap.dptr));
  say("mem.free", cudaGraphAddMemFreeNode(&fn, g, &use, 1, ap.dptr));
  say("mem.free.twice", cudaGraphAddMemFreeNode(&n, g, &use, 1, ap.dptr));
  cudaGraph_t other = new_graph();
  say("mem.free.other.graph", cudaGraphAddMemFreeNode(&n, other, nullptr, 0, ap.dptr));
  void* fp = nullptr;
  say("mem.free.get", cudaGraphMemFreeNodeGetParams(fn ? fn : n, &fp));
  say("mem.destroynode", cudaGraphDestroyNode(use));
  cudaGraph_t cl;
  say("mem.clone", cudaGraphClone(&cl, g));
  cudaGraph_t parent = new_graph();
  say("mem.child", cudaGraphAddChildGraphNode(&n, parent, nullptr, 0, g));
  cudaGraphExec_t e1 = nullptr, e2 = nullptr;
  say("mem.instantiate", cudaGraphInstantiate(&e1, g, 0));
  say("mem.instantiate.twice", cudaGraphInstantiate(&e2, g, 0));
  if (e2) cudaGraphExecDestroy(e2);
  if (e1) {
    say("mem.exec.setparams", cudaGraphExecNodeSetParams(e1, an, &gp));
    say("mem.exec.setenabled", cudaGraphNodeSetEnabled(e1, an, 0));
    say("mem.launch", cudaGraphLaunch(e1, s));
    say("mem.launch.again", cudaGraphLaunch(e1, s));
    say("mem.sync", cudaStreamSynchronize(s));
    cudaGraphExecUpdateResultInfo info{};
    say("mem.update.self", cudaGraphExecUpdate(e1, g, &info));
    say("mem.update.self.result", (int)info.result);
    cudaGraphExecDestroy(e1);
  }
  if (fn) say("mem.remove.edge", cudaGraphRemoveDependencies(g, &use, &fn, nullptr, 1));
  // Not freed in the graph.
  cudaGraph_t u = new_graph();
  auto up = ap;
  MUST(cudaGraphAddMemAllocNode(&an, u, nullptr, 0, &up));
  cudaGraphExec_t ue = nullptr, ua = nullptr;
  MUST(cudaGraphInstantiate(&ue, u, 0));
  say("mem.unfreed.free.before", cudaFree(up.dptr));
  say("mem.unfreed.launch", cudaGraphLaunch(ue, s));
  say("mem.unfreed.again", cudaGraphLaunch(ue, s));
  say("mem.unfreed.freeasync", cudaFreeAsync(up.dptr, s));
  say("mem.unfreed.freeasync.twice", cudaFreeAsync(up.dptr, s));
  say("mem.unfreed.relaunch", cudaGraphLaunch(ue, s));
  say("mem.unfreed.free", cudaFree(up.dptr));
  MUST(cudaStreamSynchronize(s));
  cudaGraphExecDestroy(ue);
  say("mem.autofree.instantiate", cudaGraphInstantiate(&ua, u, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  say("mem.autofree.1", cudaGraphLaunch(ua, s));
  say("mem.autofree.2", cudaGraphLaunch(ua, s));
  say("mem.autofree.sync", cudaStreamSynchronize(s));
  cudaPointerAttributes pa{};
  say("mem.pointer", cudaPointerGetAttributes(&pa, up.dptr));
  say("mem.pointer.type", (int)pa.type);
  say("mem.graph.destroy", cudaGraphDestroy(u));
  say("mem.exec.destroy", cudaGraphExecDestroy(ua));
  say("mem.after.free", cudaFree(up.dptr));
  unsigned long long value = 7;
  for (int attr = 0; attr < 5; ++attr) {
    say("mem.attr.get." + std::to_string(attr), cudaDeviceGetGraphMemAttribute(0, (cudaGraphMemAttributeType)attr, &value));
    value = 0;
    say("mem.attr.set0." + std::to_string(attr), cudaDeviceSetGraphMemAttribute(0, (cudaGraphMemAttributeType)attr, &value));
    value = 5;
    say("mem.attr.set5." + std::to_string(attr), cudaDeviceSetGraphMemAttribute(0, (cudaGraphMemAttributeType)attr, &value));
  }
  say("mem.attr.device99", cudaDeviceGetGraphMemAttribute(99, cudaGraphMemAttrUsedMemCurrent, &value));
  say("mem.trim", cudaDeviceGraphMemTrim(0));
  say("mem.trim.99", cudaDeviceGraphMemTrim(99));
  cudaGetLastError();
}

static void section_update() {
  char *d, *d2, *h;
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMalloc(&d2, 4096));
  MUST(cudaMallocHost(&h, 4096));
  struct shape { int kernels = 2; bool edge = true; bool two = false; int copy = 0; int fill = 0; bool extra = false; bool swapped = false; bool coop = false; int priority = 0; };
  cudaGraphNode_t watched[6];
  auto make = [&](shape w) {
    cudaGraph_t g = new_graph();
    int* where = m;
    void* args[] = {&where};
    watched[0] = add_kernel(g, w.two ? (void*)add_two : (void*)add_one, args);
    if (w.kernels == 2) watched[1] = add_kernel(g, (void*)add_one, args, w.edge ? watched[0] : nullptr);
    else watched[1] = add_empty(g);
    if (w.kernels != 2 && w.edge) MUST(cudaGraphAddDependencies(g, &watched[0], &watched[1], nullptr, 1));
    cudaLaunchAttributeValue v{};
    if (w.priority) { v.priority = w.priority; MUST(cudaGraphKernelNodeSetAttribute(watched[0], cudaLaunchAttributePriority, &v)); }
    if (w.coop) { v.cooperative = 1; MUST(cudaGraphKernelNodeSetAttribute(watched[0], cudaLaunchAttributeCooperative, &v)); }
    if (w.copy == 0) MUST(cudaGraphAddMemcpyNode1D(&watched[2], g, &watched[0], 1, d, d2, 64, cudaMemcpyDeviceToDevice));
    if (w.copy == 1) MUST(cudaGraphAddMemcpyNode1D(&watched[2], g, &watched[0], 1, d2, d, 64, cudaMemcpyDeviceToDevice));
    if (w.copy == 2) MUST(cudaGraphAddMemcpyNode1D(&watched[2], g, &watched[0], 1, h, d, 64, cudaMemcpyDeviceToHost));
    if (w.copy == 3) MUST(cudaGraphAddMemcpyNode1D(&watched[2], g, &watched[0], 1, d, d2, 128, cudaMemcpyDeviceToDevice));
    if (w.copy == 4) {
      cudaMemcpy3DParms c{};
      c.srcPtr = make_cudaPitchedPtr(d2, 64, 16, 4);
      c.dstPtr = make_cudaPitchedPtr(d, 64, 16, 4);
      c.extent = make_cudaExtent(16, 4, 1);
      c.kind = cudaMemcpyDeviceToDevice;
      MUST(cudaGraphAddMemcpyNode(&watched[2], g, &watched[0], 1, &c));
    }
    cudaMemsetParams f{d, 0, 3, 1, 64, 1};
    if (w.fill == 1) f.value = 4;
    if (w.fill == 2) f.width = 128;
    if (w.fill == 3) { f.height = 4; f.pitch = 128; }
    if (w.fill == 4) { f.elementSize = 4; f.width = 16; }
    MUST(cudaGraphAddMemsetNode(&watched[3], g, &watched[2], 1, &f));
    if (w.extra) watched[4] = add_empty(g);
    return g;
  };
  auto update = [&](const std::string& name, shape from, shape to, unsigned long long flags = 0) {
    cudaGraphExec_t e;
    MUST(cudaGraphInstantiate(&e, make(from), flags));
    cudaGraph_t g = make(to);
    cudaGraphExecUpdateResultInfo info{};
    cudaError_t r = cudaGraphExecUpdate(e, g, &info);
    std::string where = "none", at = "none";
    for (int i = 0; i < 5; ++i) {
      if (info.errorNode && info.errorNode == watched[i]) where = std::to_string(i);
      if (info.errorFromNode && info.errorFromNode == watched[i]) at = std::to_string(i);
    }
    if (info.errorNode && where == "none") where = "other";
    if (info.errorFromNode && at == "none") at = "other";
    say("update." + name, std::string(cudaGetErrorName(r)) + " result " + std::to_string((int)info.result) + " node " + where + " from " + at);
    cudaGetLastError();
    cudaGraphExecDestroy(e);
  };
  shape base, w;
  update("same", base, base);
  w = base; w.two = true; update("function", base, w);
  w = base; w.edge = false; update("edge.less", base, w); update("edge.more", w, base);
  w = base; w.kernels = 1; update("type", base, w);
  w = base; w.extra = true; update("node.more", base, w); update("node.less", w, base);
  for (int i = 1; i <= 4; ++i) { w = base; w.copy = i; update("copy." + std::to_string(i), base, w); update("copy.back." + std::to_string(i), w, base); }
  for (int i = 1; i <= 4; ++i) { w = base; w.fill = i; update("fill." + std::to_string(i), base, w); update("fill.back." + std::to_string(i), w, base); }
  w = base; w.fill = 3; update("fill.2dto2d", w, w);
  w = base; w.copy = 4; update("copy.2dto2d", w, w);
  w = base; w.coop = true; update("cooperative", base, w); update("cooperative.back", w, base);
  w = base; w.priority = -2; update("priority", base, w); update("priority.flag", base, w, 8);
  cudaGraphExec_t e;
  MUST(cudaGraphInstantiate(&e, make(base), 0));
  cudaGraphExecUpdateResultInfo info{};
  say("update.nullgraph", cudaGraphExecUpdate(e, nullptr, &info));
  say("update.nullgraph.result", (int)info.result);
  say("update.nullexec", cudaGraphExecUpdate(nullptr, make(base), &info));
  say("update.nullinfo", cudaGraphExecUpdate(e, make(base), nullptr));
}

static void section_objects() {
  cudaUserObject_t o = nullptr;
  say("object.null", cudaUserObjectCreate(nullptr, m, nothing, 1, cudaUserObjectNoDestructorSync));
  say("object.nullfn", cudaUserObjectCreate(&o, m, nullptr, 1, cudaUserObjectNoDestructorSync));
  say("object.count0", cudaUserObjectCreate(&o, m, nothing, 0, cudaUserObjectNoDestructorSync));
  say("object.flags0", cudaUserObjectCreate(&o, m, nothing, 1, 0));
  say("object.flags2", cudaUserObjectCreate(&o, m, nothing, 1, 2));
  say("object.nullptr", cudaUserObjectCreate(&o, nullptr, nothing, 1, cudaUserObjectNoDestructorSync));
  static std::atomic<int> gone{0};
  auto count = [](void*) { gone++; };
  say("object", cudaUserObjectCreate(&o, m, count, 2, cudaUserObjectNoDestructorSync));
  say("object.retain0", cudaUserObjectRetain(o, 0));
  say("object.release0", cudaUserObjectRelease(o, 0));
  say("object.retain.null", cudaUserObjectRetain(nullptr, 1));
  cudaGraph_t g = new_graph();
  say("object.graph.count0", cudaGraphRetainUserObject(g, o, 0, 0));
  say("object.graph.flags2", cudaGraphRetainUserObject(g, o, 1, 2));
  say("object.graph.move", cudaGraphRetainUserObject(g, o, 1, cudaGraphUserObjectMove));
  say("object.graph.release.2", cudaGraphReleaseUserObject(g, o, 2));
  say("object.graph.release.notheld", cudaGraphReleaseUserObject(new_graph(), o, 1));
  cudaGraphExec_t e;
  add_empty(g);
  MUST(cudaGraphInstantiate(&e, g, 0));
  MUST(cudaUserObjectRelease(o, 1));
  MUST(cudaGraphDestroy(g));
  say("object.alive.in.exec", wait_until([&] { return gone.load() != 0; }, 200));
  MUST(cudaGraphLaunch(e, s));
  MUST(cudaStreamSynchronize(s));
  MUST(cudaGraphExecDestroy(e));
  say("object.gone.after.exec", wait_until([&] { return gone.load() != 0; }, 2000));
  say("object.gone", gone.load());
}

static void section_capture() {
  cudaGraph_t g = new_graph(), out = nullptr, other = new_graph();
  cudaGraphNode_t n = add_empty(g), f = add_empty(other);
  say("to.nullgraph", cudaStreamBeginCaptureToGraph(s, nullptr, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  say("to.foreign", cudaStreamBeginCaptureToGraph(s, g, &f, nullptr, 1, cudaStreamCaptureModeRelaxed));
  say("to.nulldeps", cudaStreamBeginCaptureToGraph(s, g, nullptr, nullptr, 1, cudaStreamCaptureModeRelaxed));
  say("to.mode9", cudaStreamBeginCaptureToGraph(s, g, nullptr, nullptr, 0, (cudaStreamCaptureMode)9));
  say("to", cudaStreamBeginCaptureToGraph(s, g, &n, nullptr, 1, cudaStreamCaptureModeRelaxed));
  cudaStream_t s2;
  MUST(cudaStreamCreate(&s2));
  say("to.same.graph.again", cudaStreamBeginCaptureToGraph(s2, g, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  cudaStreamCaptureStatus st;
  cudaStreamIsCapturing(s2, &st);
  if (st != cudaStreamCaptureStatusNone) cudaStreamEndCapture(s2, &out);
  say("to.addnode.meanwhile", cudaGraphAddEmptyNode(&n, g, nullptr, 0));
  say("to.destroy.meanwhile", cudaGraphInstantiate(nullptr, g, 0));
  nop_kernel<<<1, 1, 0, s>>>();
  say("to.end", cudaStreamEndCapture(s, &out));
  say("to.end.same", out == g);
  size_t count = 0;
  MUST(cudaGraphGetNodes(g, nullptr, &count));
  say("to.nodes", (int)count);
  say("plain.begin", cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  say("plain.end.null", cudaStreamEndCapture(s, nullptr));
  cudaStreamIsCapturing(s, &st);
  say("plain.end.null.status", (int)st);
  if (st != cudaStreamCaptureStatusNone) cudaStreamEndCapture(s, &out);
  cudaGetLastError();
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  nop_kernel<<<1, 1, 0, s>>>();
  unsigned long long id = 0;
  const cudaGraphNode_t* deps = nullptr;
  const cudaGraphEdgeData* edges = (const cudaGraphEdgeData*)1;
  cudaGraph_t cg = nullptr;
  say("info.nullstatus", cudaStreamGetCaptureInfo(s, nullptr, &id, &cg, &deps, &edges, &count));
  say("info", cudaStreamGetCaptureInfo(s, &st, &id, &cg, &deps, &edges, &count));
  say("info.is", std::string("deps ") + std::to_string(count) + " edges " + (edges == nullptr ? "null" : edges == (const cudaGraphEdgeData*)1 ? "left" : "given"));
  cudaGraphNode_t mine = deps[0], added;
  MUST(cudaGraphAddEmptyNode(&added, cg, &mine, 1));
  say("deps.foreign", cudaStreamUpdateCaptureDependencies(s, &f, nullptr, 1, cudaStreamAddCaptureDependencies));
  say("deps.flags7", cudaStreamUpdateCaptureDependencies(s, &added, nullptr, 1, 7));
  say("deps.null", cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 1, 0));
  say("deps.add", cudaStreamUpdateCaptureDependencies(s, &added, nullptr, 1, cudaStreamAddCaptureDependencies));
  say("deps.add.again", cudaStreamUpdateCaptureDependencies(s, &added, nullptr, 1, cudaStreamAddCaptureDependencies));
  MUST(cudaStreamGetCaptureInfo(s, &st, &id, &cg, &deps, nullptr, &count));
  say("deps.count", (int)count);
  say("deps.set.none", cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies));
  MUST(cudaStreamGetCaptureInfo(s, &st, &id, &cg, &deps, nullptr, &count));
  say("deps.count.none", (int)count);
  say("deps.end", cudaStreamEndCapture(s, &out));
  say("deps.notcapturing", cudaStreamUpdateCaptureDependencies(s, &added, nullptr, 1, 0));
  cudaStreamCaptureMode mode = (cudaStreamCaptureMode)9;
  say("mode.9", cudaThreadExchangeStreamCaptureMode(&mode));
}

static void section_mode() {
  cudaGraph_t out = nullptr;
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  nop_kernel<<<1, 1, 0, s>>>();
  MUST(cudaStreamEndCapture(s, &out));
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  say("mode.relaxed", cudaThreadExchangeStreamCaptureMode(&mode));
  say("mode.was", (int)mode);
  say("launch.captured", [&] {
    cudaGraphExec_t e;
    MUST(cudaGraphInstantiate(&e, out, 0));
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    cudaError_t r = cudaGraphLaunch(e, s);
    cudaGraph_t x = nullptr;
    cudaError_t r2 = cudaStreamEndCapture(s, &x);
    size_t c = 99;
    cudaGraphNode_t one = nullptr;
    cudaGraphNodeType t = cudaGraphNodeTypeCount;
    if (x) { cudaGraphGetNodes(x, nullptr, &c); size_t k = 1; cudaGraphGetNodes(x, &one, &k); if (one) cudaGraphNodeGetType(one, &t); }
    return std::string(cudaGetErrorName(r)) + " end " + cudaGetErrorName(r2) + " nodes " + std::to_string(c) + " type " + std::to_string((int)t);
  }());
  cudaGetLastError();
}

int main(int argc, char** argv) {
  return run_section(argc, argv, {{"memory", section_memory}, {"update", section_update}, {"objects", section_objects}, {"capture", section_capture}, {"mode", section_mode}});
}
