// Nodes of graphs: what making them, asking about them and changing them answers.
// One section per process: `graphs_nodes SECTION`.
#include "graphs_probe.h"

static void section_nodes() {
  cudaGraph_t g = new_graph(), other = new_graph();
  cudaGraphNode_t n = nullptr, a = add_empty(g), b = add_empty(g), foreign = add_empty(other);
  cudaGraphNode_t both[] = {a, b}, twice[] = {a, a}, mixed[] = {a, foreign};
  say("nodes.empty.nullout", cudaGraphAddEmptyNode(nullptr, g, nullptr, 0));
  say("nodes.empty.nullgraph", cudaGraphAddEmptyNode(&n, nullptr, nullptr, 0));
  say("nodes.empty.nulldeps", cudaGraphAddEmptyNode(&n, g, nullptr, 1));
  say("nodes.empty.twice", cudaGraphAddEmptyNode(&n, g, twice, 2));
  say("nodes.empty.foreign", cudaGraphAddEmptyNode(&n, g, mixed, 2));
  say("nodes.empty.both", cudaGraphAddEmptyNode(&n, g, both, 2));
  say("nodes.add.nullparams", cudaGraphAddNode(&n, g, nullptr, nullptr, 0, nullptr));
  cudaGraphNodeParams p{};
  p.type = (cudaGraphNodeType)99;
  say("nodes.add.type99", cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
  p.type = (cudaGraphNodeType)12;
  say("nodes.add.type12", cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
  p.type = cudaGraphNodeTypeEmpty;
  say("nodes.add.empty", cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
  p.reserved0[0] = 1;
  say("nodes.add.reserved0", cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
  p.reserved0[0] = 0;
  p.reserved2 = 1;
  say("nodes.add.reserved2", cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
  // Kernels.
  int* where = m;
  void* args[] = {&where};
  cudaKernelNodeParams k{};
  k.func = (void*)add_one;
  k.gridDim = k.blockDim = dim3(1);
  k.kernelParams = args;
  cudaGraphNode_t kn = nullptr;
  say("nodes.kernel", cudaGraphAddKernelNode(&kn, g, nullptr, 0, &k));
  say("nodes.kernel.nullparams", cudaGraphAddKernelNode(&n, g, nullptr, 0, nullptr));
  auto bad = k;
  bad.func = nullptr;
  say("nodes.kernel.nullfunc", cudaGraphAddKernelNode(&n, g, nullptr, 0, &bad));
  bad = k;
  bad.func = (void*)&where;
  say("nodes.kernel.notafunc", cudaGraphAddKernelNode(&n, g, nullptr, 0, &bad));
  bad = k;
  bad.blockDim = dim3(2048);
  say("nodes.kernel.block2048", cudaGraphAddKernelNode(&n, g, nullptr, 0, &bad));
  bad = k;
  bad.gridDim = dim3(0);
  say("nodes.kernel.grid0", cudaGraphAddKernelNode(&n, g, nullptr, 0, &bad));
  bad = k;
  bad.kernelParams = nullptr;
  say("nodes.kernel.noargs", cudaGraphAddKernelNode(&n, g, nullptr, 0, &bad));
  bad = k;
  bad.sharedMemBytes = 1 << 20;
  say("nodes.kernel.shared1M", cudaGraphAddKernelNode(&n, g, nullptr, 0, &bad));
  cudaKernelNodeParams got{};
  say("nodes.kernel.get", cudaGraphKernelNodeGetParams(kn, &got));
  say("nodes.kernel.get.same", got.func == k.func && got.gridDim.x == 1 && got.kernelParams && *(int**)got.kernelParams[0] == m);
  say("nodes.kernel.get.wrongtype", cudaGraphKernelNodeGetParams(a, &got));
  say("nodes.kernel.get.null", cudaGraphKernelNodeGetParams(kn, nullptr));
  say("nodes.kernel.set.wrongtype", cudaGraphKernelNodeSetParams(a, &k));
  bad.func = nullptr;
  say("nodes.kernel.set.nullfunc", cudaGraphKernelNodeSetParams(kn, &bad));
  bad = k;
  bad.gridDim = dim3(0);
  say("nodes.kernel.set.grid0", cudaGraphKernelNodeSetParams(kn, &bad));
  // Attributes.
  for (int id = 1; id <= 14; ++id) {
    cudaLaunchAttributeValue v{};
    std::memset(&v, 0xff, sizeof v);
    cudaError_t r = cudaGraphKernelNodeGetAttribute(kn, (cudaLaunchAttributeID)id, &v);
    say("nodes.attr." + std::to_string(id), std::string(cudaGetErrorName(r)) + " " + std::to_string(r == cudaSuccess ? *(int*)&v : -1));
  }
  cudaLaunchAttributeValue v{};
  v.priority = -3;
  say("nodes.attr.set.priority", cudaGraphKernelNodeSetAttribute(kn, cudaLaunchAttributePriority, &v));
  v.priority = -99;
  say("nodes.attr.set.priority99", cudaGraphKernelNodeSetAttribute(kn, cudaLaunchAttributePriority, &v));
  v = {};
  say("nodes.attr.get.priority", cudaGraphKernelNodeGetAttribute(kn, cudaLaunchAttributePriority, &v));
  say("nodes.attr.priority.is", v.priority);
  say("nodes.attr.set.99", cudaGraphKernelNodeSetAttribute(kn, (cudaLaunchAttributeID)99, &v));
  say("nodes.attr.get.99", cudaGraphKernelNodeGetAttribute(kn, (cudaLaunchAttributeID)99, &v));
}

static void section_attributes() {
  cudaGraph_t g = new_graph();
  cudaGraphNode_t a = add_empty(g), kn = add_counter(g, m);
  cudaLaunchAttributeValue v{};
  v.priority = -99;
  MUST(cudaGraphKernelNodeSetAttribute(kn, cudaLaunchAttributePriority, &v));
  say("nodes.attr.wrongtype", cudaGraphKernelNodeGetAttribute(a, cudaLaunchAttributePriority, &v));
  cudaGraphNode_t kn2 = add_counter(g, m);
  say("nodes.attr.copy", cudaGraphKernelNodeCopyAttributes(kn2, kn));
  v = {};
  cudaGraphKernelNodeGetAttribute(kn2, cudaLaunchAttributePriority, &v);
  say("nodes.attr.copied", v.priority);
  say("nodes.attr.copy.wrongtype", cudaGraphKernelNodeCopyAttributes(kn2, a));
  say("nodes.attr.copy.to.wrongtype", cudaGraphKernelNodeCopyAttributes(a, kn2));
}

static void section_copies() {
  cudaGraph_t g = new_graph();
  cudaGraphNode_t n = nullptr;
  char *d, *d2;
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMalloc(&d2, 4096));
  static char pageable[4096];
  cudaGraphNode_t cn = nullptr;
  say("nodes.copy1d", cudaGraphAddMemcpyNode1D(&cn, g, nullptr, 0, d, d2, 64, cudaMemcpyDeviceToDevice));
  say("nodes.copy1d.zero", cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, d2, 0, cudaMemcpyDeviceToDevice));
  say("nodes.copy1d.null", cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, nullptr, d2, 64, cudaMemcpyDeviceToDevice));
  say("nodes.copy1d.kind9", cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, d2, 64, (cudaMemcpyKind)9));
  say("nodes.copy1d.pageable", cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, pageable, 64, cudaMemcpyHostToDevice));
  say("nodes.copy1d.wrongkind", cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, pageable, 64, cudaMemcpyDeviceToDevice));
  say("nodes.copy1d.past", cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, d2, 64 << 20, cudaMemcpyDeviceToDevice));
  say("nodes.copy.nullparams", cudaGraphAddMemcpyNode(&n, g, nullptr, 0, nullptr));
  cudaMemcpy3DParms c{};
  say("nodes.copy.empty", cudaGraphAddMemcpyNode(&n, g, nullptr, 0, &c));
  c.srcPtr = make_cudaPitchedPtr(d2, 64, 16, 4);
  c.dstPtr = make_cudaPitchedPtr(d, 64, 16, 4);
  c.extent = make_cudaExtent(16, 4, 1);
  c.kind = cudaMemcpyDeviceToDevice;
  cudaGraphNode_t cn2 = nullptr;
  say("nodes.copy.2d", cudaGraphAddMemcpyNode(&cn2, g, nullptr, 0, &c));
  auto c2 = c;
  c2.dstPtr.pitch = 8;
  say("nodes.copy.badpitch", cudaGraphAddMemcpyNode(&n, g, nullptr, 0, &c2));
  cudaMemcpy3DParms cg{};
  say("nodes.copy.get", cudaGraphMemcpyNodeGetParams(cn, &cg));
  say("nodes.copy.get.is", "extent " + std::to_string(cg.extent.width) + " " + std::to_string(cg.extent.height) + " " + std::to_string(cg.extent.depth) + " pitch " +
                               std::to_string(cg.srcPtr.pitch) + " xsize " + std::to_string(cg.srcPtr.xsize) + " ysize " + std::to_string(cg.srcPtr.ysize) + " kind " + std::to_string(cg.kind));
  say("nodes.copy.set1d.kind", cudaGraphMemcpyNodeSetParams1D(cn, pageable, d2, 64, cudaMemcpyDeviceToHost));
  say("nodes.copy.set1d.back", cudaGraphMemcpyNodeSetParams1D(cn, d, d2, 64, cudaMemcpyDeviceToDevice));
  say("nodes.copy.set1d.null", cudaGraphMemcpyNodeSetParams1D(cn, nullptr, d2, 64, cudaMemcpyDeviceToDevice));
  say("nodes.copy.set1d.zero", cudaGraphMemcpyNodeSetParams1D(cn, d, d2, 0, cudaMemcpyDeviceToDevice));
}

static void section_fills() {
  cudaGraph_t g = new_graph();
  cudaGraphNode_t n = nullptr;
  char* d;
  MUST(cudaMalloc(&d, 4096));
  static char pageable[4096];
  cudaMemsetParams f{};
  f.dst = d;
  f.elementSize = 1;
  f.width = 64;
  f.height = 1;
  f.value = 3;
  cudaGraphNode_t fn = nullptr, fn2 = nullptr;
  say("nodes.fill", cudaGraphAddMemsetNode(&fn, g, nullptr, 0, &f));
  say("nodes.fill.nullparams", cudaGraphAddMemsetNode(&n, g, nullptr, 0, nullptr));
  auto fb = f;
  fb.elementSize = 3;
  say("nodes.fill.element3", cudaGraphAddMemsetNode(&n, g, nullptr, 0, &fb));
  fb = f;
  fb.elementSize = 8;
  say("nodes.fill.element8", cudaGraphAddMemsetNode(&n, g, nullptr, 0, &fb));
  fb = f;
  fb.dst = nullptr;
  say("nodes.fill.null", cudaGraphAddMemsetNode(&n, g, nullptr, 0, &fb));
  fb = f;
  fb.dst = pageable;
  say("nodes.fill.pageable", cudaGraphAddMemsetNode(&n, g, nullptr, 0, &fb));
  fb = f;
  fb.width = 0;
  say("nodes.fill.width0", cudaGraphAddMemsetNode(&n, g, nullptr, 0, &fb));
  fb = f;
  fb.height = 0;
  say("nodes.fill.height0", cudaGraphAddMemsetNode(&n, g, nullptr, 0, &fb));
  fb = f;
  fb.value = 300;
  say("nodes.fill.value300", cudaGraphAddMemsetNode(&n, g, nullptr, 0, &fb));
  fb = f;
  fb.height = 4;
  fb.pitch = 128;
  say("nodes.fill.2d", cudaGraphAddMemsetNode(&fn2, g, nullptr, 0, &fb));
  fb.pitch = 32;
  say("nodes.fill.badpitch", cudaGraphAddMemsetNode(&n, g, nullptr, 0, &fb));
  fb = f;
  fb.elementSize = 4;
  fb.dst = d + 1;
  say("nodes.fill.misaligned", cudaGraphAddMemsetNode(&n, g, nullptr, 0, &fb));
}

static void section_children() {
  cudaGraph_t g = new_graph(), other = new_graph();
  cudaGraphNode_t n = nullptr, a = add_empty(g);
  cudaHostNodeParams hp{nullptr, nullptr};
  say("nodes.host.nullfn", cudaGraphAddHostNode(&n, g, nullptr, 0, &hp));
  say("nodes.host.nullparams", cudaGraphAddHostNode(&n, g, nullptr, 0, nullptr));
  say("nodes.record.null", cudaGraphAddEventRecordNode(&n, g, nullptr, 0, nullptr));
  say("nodes.wait.null", cudaGraphAddEventWaitNode(&n, g, nullptr, 0, nullptr));
  say("nodes.child.null", cudaGraphAddChildGraphNode(&n, g, nullptr, 0, nullptr));
  cudaGraph_t self = new_graph();
  add_empty(self);
  say("nodes.child.self", cudaGraphAddChildGraphNode(&n, self, nullptr, 0, self));
  cudaGraph_t child = new_graph();
  add_counter(child, m);
  cudaGraphNode_t chn = nullptr;
  say("nodes.child", cudaGraphAddChildGraphNode(&chn, g, nullptr, 0, child));
  cudaGraph_t inside = nullptr;
  say("nodes.child.getgraph", cudaGraphChildGraphNodeGetGraph(chn, &inside));
  say("nodes.child.iscopy", inside != child);
  say("nodes.child.destroy.inside", cudaGraphDestroy(inside));
  say("nodes.child.instantiate.inside", instantiated(inside));
  say("nodes.child.getgraph.wrongtype", cudaGraphChildGraphNodeGetGraph(a, &inside));
  cudaGraphNodeParams mv{};
  mv.type = cudaGraphNodeTypeGraph;
  mv.graph.graph = child;
  mv.graph.ownership = cudaGraphChildGraphOwnershipMove;
  say("nodes.child.move", cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &mv));
  MUST(cudaGraphChildGraphNodeGetGraph(n, &inside));
  say("nodes.child.move.same", inside == child);
  say("nodes.child.move.again", cudaGraphAddNode(&n, other, nullptr, nullptr, 0, &mv));
  say("nodes.child.move.clone.again", cudaGraphAddChildGraphNode(&n, other, nullptr, 0, child));
  say("nodes.child.move.destroy", cudaGraphDestroy(child));
  say("nodes.child.move.instantiate", instantiated(child));
  mv.graph.ownership = (cudaGraphChildGraphNodeOwnership)5;
  say("nodes.child.ownership5", cudaGraphAddNode(&n, other, nullptr, nullptr, 0, &mv));
}

// Changing the nodes of an executable.
static void section_exec() {
  char *d, *d2;
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMalloc(&d2, 4096));
  int* where = m;
  void* args[] = {&where};
  cudaKernelNodeParams k{};
  k.func = (void*)add_one;
  k.gridDim = k.blockDim = dim3(1);
  k.kernelParams = args;
  cudaMemcpy3DParms c{};
  c.srcPtr = make_cudaPitchedPtr(d2, 64, 16, 4);
  c.dstPtr = make_cudaPitchedPtr(d, 64, 16, 4);
  c.extent = make_cudaExtent(16, 4, 1);
  c.kind = cudaMemcpyDeviceToDevice;
  cudaMemsetParams f{};
  f.dst = d;
  f.elementSize = 1;
  f.width = 64;
  f.height = 1;
  f.value = 3;
  cudaMemsetParams fb = f;
  cudaHostNodeParams hp{nullptr, nullptr};
  static char pageable[4096];
  cudaGraphNode_t kn = add_counter(new_graph(), m);
  cudaGraph_t self = new_graph();
  cudaGraph_t ge = new_graph();
  cudaGraphNode_t ek = add_counter(ge, m), ec, ec2, ef, ef2, eh, ee = add_empty(ge);
  MUST(cudaGraphAddMemcpyNode1D(&ec, ge, nullptr, 0, d, d2, 64, cudaMemcpyDeviceToDevice));
  MUST(cudaGraphAddMemcpyNode(&ec2, ge, nullptr, 0, &c));
  MUST(cudaGraphAddMemsetNode(&ef, ge, nullptr, 0, &f));
  fb = f;
  fb.height = 4;
  fb.pitch = 128;
  MUST(cudaGraphAddMemsetNode(&ef2, ge, nullptr, 0, &fb));
  hp.fn = nothing;
  MUST(cudaGraphAddHostNode(&eh, ge, nullptr, 0, &hp));
  cudaGraphExec_t e;
  MUST(cudaGraphInstantiate(&e, ge, 0));
  auto k2 = k;
  k2.func = (void*)add_two;
  say("exec.kernel.func", cudaGraphExecKernelNodeSetParams(e, ek, &k2));
  k2.gridDim = dim3(7);
  say("exec.kernel.grid", cudaGraphExecKernelNodeSetParams(e, ek, &k2));
  k2.gridDim = dim3(0);
  say("exec.kernel.grid0", cudaGraphExecKernelNodeSetParams(e, ek, &k2));
  say("exec.kernel.wrongtype", cudaGraphExecKernelNodeSetParams(e, ee, &k));
  say("exec.kernel.foreign", cudaGraphExecKernelNodeSetParams(e, kn, &k));
  say("exec.copy.address", cudaGraphExecMemcpyNodeSetParams1D(e, ec, d2, d, 64, cudaMemcpyDeviceToDevice));
  say("exec.copy.size", cudaGraphExecMemcpyNodeSetParams1D(e, ec, d2, d, 128, cudaMemcpyDeviceToDevice));
  say("exec.copy.kind.tohost", cudaGraphExecMemcpyNodeSetParams1D(e, ec, pageable, d, 64, cudaMemcpyDeviceToHost));
  say("exec.copy.managed", cudaGraphExecMemcpyNodeSetParams1D(e, ec, m, d, 64, cudaMemcpyDefault));
  auto c3 = c;
  c3.extent.height = 2;
  say("exec.copy.1dto2d", cudaGraphExecMemcpyNodeSetParams(e, ec, &c));
  say("exec.copy.2dto2d", cudaGraphExecMemcpyNodeSetParams(e, ec2, &c));
  say("exec.copy.2d.height", cudaGraphExecMemcpyNodeSetParams(e, ec2, &c3));
  say("exec.copy.2dto1d", cudaGraphExecMemcpyNodeSetParams1D(e, ec2, d, d2, 64, cudaMemcpyDeviceToDevice));
  auto f2 = f;
  f2.value = 9;
  say("exec.fill.value", cudaGraphExecMemsetNodeSetParams(e, ef, &f2));
  f2.dst = d2;
  say("exec.fill.address", cudaGraphExecMemsetNodeSetParams(e, ef, &f2));
  f2.width = 128;
  say("exec.fill.width", cudaGraphExecMemsetNodeSetParams(e, ef, &f2));
  f2.elementSize = 4;
  f2.width = 16;
  say("exec.fill.element", cudaGraphExecMemsetNodeSetParams(e, ef, &f2));
  say("exec.fill.1dto2d", cudaGraphExecMemsetNodeSetParams(e, ef, &fb));
  auto fb2 = fb;
  fb2.value = 5;
  say("exec.fill.2d.value", cudaGraphExecMemsetNodeSetParams(e, ef2, &fb2));
  fb2.height = 2;
  say("exec.fill.2d.height", cudaGraphExecMemsetNodeSetParams(e, ef2, &fb2));
  say("exec.host", cudaGraphExecHostNodeSetParams(e, eh, &hp));
  hp.fn = nullptr;
  say("exec.host.nullfn", cudaGraphExecHostNodeSetParams(e, eh, &hp));
  unsigned on = 7;
  for (auto [name, node] : std::map<std::string, cudaGraphNode_t>{{"kernel", ek}, {"copy", ec}, {"fill", ef}, {"host", eh}, {"empty", ee}, {"foreign", kn}}) {
    say("exec.enabled.get." + name, cudaGraphNodeGetEnabled(e, node, &on));
    say("exec.enabled.set." + name, cudaGraphNodeSetEnabled(e, node, 0));
  }
  cudaGraphNodeParams gp{};
  gp.type = cudaGraphNodeTypeEmpty;
  say("exec.generic.wrongtype", cudaGraphExecNodeSetParams(e, ek, &gp));
  say("exec.generic.empty", cudaGraphExecNodeSetParams(e, ee, &gp));
  say("node.generic.wrongtype", cudaGraphNodeSetParams(ek, &gp));
  say("node.generic.empty", cudaGraphNodeSetParams(ee, &gp));
  say("exec.child.wrongtype", cudaGraphExecChildGraphNodeSetParams(e, ek, self));
  unsigned long long fl = 77;
  say("exec.getflags", cudaGraphExecGetFlags(e, &fl));
  say("exec.flags", (int)fl);
  say("exec.upload", cudaGraphUpload(e, s));
  say("exec.upload.null", cudaGraphUpload(nullptr, s));
}

static void section_instantiate() {
  cudaGraph_t ge = new_graph(), other = nullptr;
  add_counter(ge, m);
  cudaHostNodeParams hp{nothing, nullptr};
  cudaGraphNode_t eh;
  MUST(cudaGraphAddHostNode(&eh, ge, nullptr, 0, &hp));
  for (unsigned long long bit : {1ull, 2ull, 4ull, 8ull, 16ull, 32ull, 12ull}) say("inst.flags." + std::to_string(bit), instantiated(ge, bit));
  cudaGraph_t only = new_graph();
  add_counter(only, m);
  say("inst.devicelaunch.kernel", instantiated(only, 4));
  say("inst.empty.graph", instantiated(new_graph()));
  cudaGraph_t cyc = new_graph();
  cudaGraphNode_t x = add_empty(cyc), y = add_empty(cyc);
  MUST(cudaGraphAddDependencies(cyc, &x, &y, nullptr, 1));
  say("inst.cycle.add", cudaGraphAddDependencies(cyc, &y, &x, nullptr, 1));
  say("inst.cycle", instantiated(cyc));
  cudaGraphExec_t ne = nullptr;
  say("inst.nullout", cudaGraphInstantiate(nullptr, ge, 0));
  say("inst.nullgraph", cudaGraphInstantiate(&ne, nullptr, 0));
  say("exec.destroy.null", cudaGraphExecDestroy(nullptr));
  say("graph.destroy.null", cudaGraphDestroy(nullptr));
  say("graph.destroynode.null", cudaGraphDestroyNode(nullptr));
  say("graph.create.flags1", cudaGraphCreate(&other, 1));
}

static void section_lists() {
  cudaGraphNode_t foreign = add_empty(new_graph());
  cudaGraph_t l = new_graph();
  cudaGraphNode_t l1 = add_empty(l), l2 = add_empty(l), l3 = add_empty(l);
  cudaGraphNode_t from[] = {l1, l1}, to[] = {l2, l3};
  MUST(cudaGraphAddDependencies(l, from, to, nullptr, 2));
  cudaGraphNode_t out[8], out2[8];
  size_t count = 8;
  auto fill8 = [&] { for (auto& o : out) o = (cudaGraphNode_t)1; for (auto& o : out2) o = (cudaGraphNode_t)1; };
  fill8();
  say("list.nodes.8", cudaGraphGetNodes(l, out, &count));
  say("list.nodes.8.is", std::to_string(count) + (out[3] == nullptr ? " null" : out[3] == (cudaGraphNode_t)1 ? " left" : " other"));
  count = 2;
  fill8();
  say("list.nodes.2", cudaGraphGetNodes(l, out, &count));
  say("list.nodes.2.count", (int)count);
  count = 8;
  fill8();
  say("list.edges.8", cudaGraphGetEdges(l, out, out2, nullptr, &count));
  say("list.edges.8.is", std::to_string(count) + (out[2] == nullptr ? " null" : " left"));
  count = 1;
  say("list.edges.1", cudaGraphGetEdges(l, out, out2, nullptr, &count));
  say("list.edges.1.count", (int)count);
  count = 8;
  cudaGraphEdgeData ed[8];
  std::memset(ed, 0xff, sizeof ed);
  count = 0;
  say("list.edges.onlydata", cudaGraphGetEdges(l, nullptr, nullptr, ed, &count));
  say("edge.add.twice", cudaGraphAddDependencies(l, from, to, nullptr, 1));
  say("edge.add.self", cudaGraphAddDependencies(l, &l1, &l1, nullptr, 1));
  say("edge.add.foreign", cudaGraphAddDependencies(l, &l1, &foreign, nullptr, 1));
  say("edge.add.null", cudaGraphAddDependencies(l, nullptr, nullptr, nullptr, 1));
  say("edge.add.none", cudaGraphAddDependencies(l, nullptr, nullptr, nullptr, 0));
  say("edge.remove.missing", cudaGraphRemoveDependencies(l, &l2, &l3, nullptr, 1));
  say("edge.remove.last.order", cudaGraphRemoveDependencies(l, from, to, nullptr, 2));
}

static void section_edges() {
  cudaGraphNode_t out[8], out2[8];
  cudaGraphEdgeData ed[8];
  size_t count = 8;
  cudaGraph_t pg = new_graph();
  cudaGraphNode_t pk1 = add_counter(pg, m), pk2 = add_counter(pg, m), pk3 = add_counter(pg, m), pe = add_empty(pg);
  auto edge = [&](const std::string& name, cudaGraphNode_t u, cudaGraphNode_t w, int fp, int tp, int type, int reserved) {
    cudaGraphEdgeData data{};
    data.from_port = fp;
    data.to_port = tp;
    data.type = type;
    data.reserved[0] = reserved;
    cudaError_t r = cudaGraphAddDependencies(pg, &u, &w, &data, 1);
    say("edge.data." + name, r);
    return r == cudaSuccess;
  };
  edge("port1.plain", pk1, pk2, 1, 0, 0, 0);
  edge("port0.programmatic", pk1, pk2, 0, 0, 1, 0);
  edge("port3", pk1, pk2, 3, 0, 1, 0);
  edge("to1", pk1, pk2, 0, 1, 0, 0);
  edge("reserved", pk1, pk2, 0, 0, 0, 1);
  edge("empty.programmatic", pk1, pe, 1, 0, 1, 0);
  edge("from.empty", pe, pk3, 1, 0, 1, 0);
  edge("programmatic", pk1, pk2, 1, 0, 1, 0);
  edge("same.plain", pk1, pk2, 0, 0, 0, 0);
  edge("completion", pk2, pk3, 2, 0, 1, 0);
  edge("completion.plain", pk1, pk3, 2, 0, 0, 0);
  count = 8;
  say("edge.query.nodata", cudaGraphGetEdges(pg, out, out2, nullptr, &count));
  count = 8;
  say("edge.query.deps.nodata", cudaGraphNodeGetDependencies(pk2, out, nullptr, &count));
  count = 8;
  std::memset(ed, 0xff, sizeof ed);
  say("edge.query.deps", cudaGraphNodeGetDependencies(pk2, out, ed, &count));
  say("edge.query.deps.is", std::to_string(count) + " port " + std::to_string(ed[0].from_port) + " type " + std::to_string(ed[0].type));
  say("edge.remove.nodata", cudaGraphRemoveDependencies(pg, &pk1, &pk2, nullptr, 1));
  say("edge.instantiate", instantiated(pg));
}

int main(int argc, char** argv) {
  return run_section(argc, argv, {{"nodes", section_nodes}, {"attributes", section_attributes}, {"copies", section_copies}, {"fills", section_fills}, {"children", section_children}, {"exec", section_exec}, {"instantiate", section_instantiate}, {"lists", section_lists}, {"edges", section_edges}});
}
