// Graphs beyond capture: what explicit building, parameters, updates and conditional nodes answer.
// One section per process: `graphs SECTION`; `graphs list` names them.
#include "probe.h"

#include <cstring>
#include <fstream>
#include <map>

__global__ void add_one(int* p) { *p += 1; }
__global__ void add_two(int* p) { *p += 2; }
__global__ void set_value(cudaGraphConditionalHandle h, unsigned v) { cudaGraphSetConditional(h, v); }
__global__ void count_down(cudaGraphConditionalHandle h, int* left, int* rounds) {
  *rounds += 1;
  *left -= 1;
  cudaGraphSetConditional(h, *left > 0);
}

static int* m;  // managed
static cudaStream_t s;

static cudaGraph_t new_graph() {
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  return g;
}
static cudaGraphNodeParams kernel_params(void* f, void** args) {
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeKernel;
  p.kernel.func = f;
  p.kernel.gridDim = dim3(1);
  p.kernel.blockDim = dim3(1);
  p.kernel.kernelParams = args;
  return p;
}
static cudaGraphNode_t add_kernel(cudaGraph_t g, void* f, void** args, cudaGraphNode_t before = nullptr) {
  cudaGraphNodeParams p = kernel_params(f, args);
  cudaGraphNode_t n;
  MUST(cudaGraphAddNode(&n, g, before ? &before : nullptr, nullptr, before ? 1 : 0, &p));
  return n;
}
static cudaGraphNode_t add_counter(cudaGraph_t g, int* where, cudaGraphNode_t before = nullptr) {
  void* args[] = {&where};
  return add_kernel(g, (void*)add_one, args, before);
}
static cudaGraphNode_t add_empty(cudaGraph_t g) {
  cudaGraphNode_t n;
  MUST(cudaGraphAddEmptyNode(&n, g, nullptr, 0));
  return n;
}
static std::string instantiated(cudaGraph_t g, unsigned long long flags = 0, const cudaGraphNode_t* watched = nullptr) {
  cudaGraphExec_t e = nullptr;
  cudaGraphInstantiateParams ip{};
  ip.flags = flags;
  cudaError_t r = cudaGraphInstantiateWithParams(&e, g, &ip);
  std::string text = std::string(cudaGetErrorName(r)) + " result " + std::to_string((int)ip.result_out);
  text += ip.errNode_out == nullptr ? " node none" : watched && ip.errNode_out == *watched ? " node watched" : " node other";
  cudaGetLastError();
  if (e) cudaGraphExecDestroy(e);
  return text;
}
static cudaGraphNodeParams cond(cudaGraphConditionalHandle h, cudaGraphConditionalNodeType t, unsigned size) {
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = h;
  p.conditional.type = t;
  p.conditional.size = size;
  return p;
}
static void CUDART_CB nothing(void*) {}

static void section_cond() {
  cudaGraph_t g = new_graph(), other = new_graph();
  cudaGraphConditionalHandle h = 0, h2 = 0, ho = 0;
  say("cond.handle.null", cudaGraphConditionalHandleCreate(nullptr, g, 0, 0));
  say("cond.handle.nullgraph", cudaGraphConditionalHandleCreate(&h, nullptr, 0, 0));
  say("cond.handle.flags2", cudaGraphConditionalHandleCreate(&h, g, 0, 2));
  say("cond.handle.default.noflag", cudaGraphConditionalHandleCreate(&h, g, 5, 0));
  MUST(cudaGraphConditionalHandleCreate(&ho, other, 1, cudaGraphCondAssignDefault));
  cudaGraphNode_t n = nullptr, n2 = nullptr;
  for (auto [name, type] : std::map<std::string, cudaGraphConditionalNodeType>{
           {"if", cudaGraphCondTypeIf}, {"while", cudaGraphCondTypeWhile}, {"switch", cudaGraphCondTypeSwitch}}) {
    for (unsigned size : {0u, 3u, 2u}) {
      if (type == cudaGraphCondTypeSwitch && size) continue;
      if (type == cudaGraphCondTypeIf && size == 2) continue;
      auto p = cond(h, type, size);
      say("cond.size." + name + "." + std::to_string(size), cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
    }
  }
  auto p = cond(h, (cudaGraphConditionalNodeType)7, 1);
  say("cond.type7", cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
  p = cond(0, cudaGraphCondTypeIf, 1);
  say("cond.handle0", cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
  p = cond(ho, cudaGraphCondTypeIf, 1);
  say("cond.handle.of.other.graph", cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
  say("cond.unused.handle.instantiate", instantiated(g));
  p = cond(h, cudaGraphCondTypeIf, 2);
  say("cond.if2", cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
  cudaGraph_t body = p.conditional.phGraph_out[0], body2 = p.conditional.phGraph_out[1];
  auto q = cond(h, cudaGraphCondTypeIf, 1);
  say("cond.handle.twice", cudaGraphAddNode(&n2, g, nullptr, nullptr, 0, &q));
  cudaGraphNodeType t;
  say("cond.gettype", cudaGraphNodeGetType(n, &t));
  say("cond.type", (int)t);
  say("cond.empty.bodies.instantiate", instantiated(g));
  size_t count = 9;
  MUST(cudaGraphGetNodes(g, nullptr, &count));
  say("cond.nodes.outside", (int)count);
  say("cond.destroy.body", cudaGraphDestroy(body));
  say("cond.clone", cudaGraphClone(&other, g));
  {
    cudaGraph_t parent = new_graph();
    cudaGraphNode_t c;
    say("cond.as.child", cudaGraphAddChildGraphNode(&c, parent, nullptr, 0, g));
    say("cond.body.as.child", cudaGraphAddChildGraphNode(&c, parent, nullptr, 0, body));
    cudaGraphNodeParams mv{};
    mv.type = cudaGraphNodeTypeGraph;
    mv.graph.graph = body;
    mv.graph.ownership = cudaGraphChildGraphOwnershipMove;
    say("cond.body.move", cudaGraphAddNode(&c, parent, nullptr, nullptr, 0, &mv));
    cudaGraph_t bc = nullptr;
    say("cond.body.clone", cudaGraphClone(&bc, body));
  }
  {
    cudaGraphExec_t be = nullptr;
    say("cond.body.instantiate", cudaGraphInstantiate(&be, body, 0));
  }
  cudaGraphExec_t e1 = nullptr, e2 = nullptr;
  say("cond.instantiate", cudaGraphInstantiate(&e1, g, 0));
  say("cond.instantiate.twice", cudaGraphInstantiate(&e2, g, 0));
  if (e2) cudaGraphExecDestroy(e2);
  auto same = cond(h, cudaGraphCondTypeIf, 2);
  say("cond.setparams", cudaGraphNodeSetParams(n, &same));
  say("cond.exec.setparams", cudaGraphExecNodeSetParams(e1, n, &same));
  say("cond.setenabled", cudaGraphNodeSetEnabled(e1, n, 0));
  cudaGraphExecDestroy(e1);
  say("cond.instantiate.after.destroy", instantiated(g));
  // What a body may hold.
  cudaHostNodeParams host{nothing, nullptr};
  cudaEvent_t ev;
  MUST(cudaEventCreate(&ev));
  cudaGraphNode_t bad = nullptr;
  say("cond.body.host.add", cudaGraphAddHostNode(&bad, body, nullptr, 0, &host));
  if (bad) { say("cond.body.host.instantiate", instantiated(g, 0, &bad)); cudaGraphDestroyNode(bad); bad = nullptr; }
  say("cond.body.record.add", cudaGraphAddEventRecordNode(&bad, body, nullptr, 0, ev));
  if (bad) { say("cond.body.record.instantiate", instantiated(g, 0, &bad)); cudaGraphDestroyNode(bad); bad = nullptr; }
  say("cond.body.wait.add", cudaGraphAddEventWaitNode(&bad, body, nullptr, 0, ev));
  if (bad) { say("cond.body.wait.instantiate", instantiated(g, 0, &bad)); cudaGraphDestroyNode(bad); bad = nullptr; }
  say("cond.body.empty.add", cudaGraphAddEmptyNode(&bad, body, nullptr, 0));
  if (bad) { say("cond.body.empty.instantiate", instantiated(g, 0, &bad)); cudaGraphDestroyNode(bad); bad = nullptr; }
  cudaGraph_t withhost = new_graph();
  cudaGraphNode_t hn;
  MUST(cudaGraphAddHostNode(&hn, withhost, nullptr, 0, &host));
  say("cond.body.child.host.add", cudaGraphAddChildGraphNode(&bad, body, nullptr, 0, withhost));
  if (bad) { say("cond.body.child.host.instantiate", instantiated(g, 0, &bad)); cudaGraphDestroyNode(bad); bad = nullptr; }
  cudaMemAllocNodeParams ap{};
  ap.poolProps.allocType = cudaMemAllocationTypePinned;
  ap.poolProps.location.type = cudaMemLocationTypeDevice;
  ap.bytesize = 1024;
  say("cond.body.alloc.add", cudaGraphAddMemAllocNode(&bad, body2, nullptr, 0, &ap));
  if (bad) say("cond.body.alloc.instantiate", instantiated(g, 0, &bad));
  // By capture.
  cudaGraph_t g3 = new_graph();
  MUST(cudaGraphConditionalHandleCreate(&h2, g3, 1, cudaGraphCondAssignDefault));
  auto r = cond(h2, cudaGraphCondTypeIf, 1);
  MUST(cudaGraphAddNode(&n, g3, nullptr, nullptr, 0, &r));
  cudaGraph_t b3 = r.conditional.phGraph_out[0];
  say("cond.capture.begin", cudaStreamBeginCaptureToGraph(s, b3, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  say("cond.capture.hostfunc", cudaLaunchHostFunc(s, nothing, nullptr));
  cudaStreamCaptureStatus st;
  say("cond.capture.status", cudaStreamIsCapturing(s, &st));
  say("cond.capture.status.is", (int)st);
  say("cond.capture.end.null", cudaStreamEndCapture(s, nullptr));
  cudaStreamIsCapturing(s, &st);
  say("cond.capture.over", st == cudaStreamCaptureStatusNone);
  say("cond.capture.hostfunc.instantiate", instantiated(g3));
  cudaGetLastError();
}

static void section_condrun() {
  auto go = [&](cudaGraph_t g) {
    cudaGraphExec_t e;
    cudaError_t r = cudaGraphInstantiate(&e, g, 0);
    if (r != cudaSuccess) return std::string(cudaGetErrorName(r));
    std::string text;
    for (int i = 0; i < 3; ++i) {
      m[0] = m[1] = m[2] = m[3] = 0;
      m[4] = 3;
      m[5] = 2;
      MUST(cudaGraphLaunch(e, s));
      MUST(cudaStreamSynchronize(s));
      text += (i ? " | " : "") + std::to_string(m[0]) + " " + std::to_string(m[1]) + " " + std::to_string(m[2]) + " " + std::to_string(m[3]);
    }
    cudaGraphExecDestroy(e);
    return text;
  };
  cudaGraphNode_t n;
  cudaGraphConditionalHandle h, h2;
  for (unsigned flags : {0u, 1u})
    for (unsigned v : {0u, 1u, 2u, 77u}) {
      for (int kind = 0; kind < 3; ++kind) {
        if (kind == 1 && flags == 0) continue;
        cudaGraph_t g = new_graph();
        MUST(cudaGraphConditionalHandleCreate(&h, g, v, flags));
        auto p = cond(h, (cudaGraphConditionalNodeType)kind, kind == 1 ? 1 : 2);
        MUST(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
        add_counter(p.conditional.phGraph_out[0], m);
        if (kind == 1) {  // ends itself
          unsigned zero = 0;
          void* args[] = {&h, &zero};
          add_kernel(p.conditional.phGraph_out[0], (void*)set_value, args);
        } else {
          add_counter(p.conditional.phGraph_out[1], m + 1);
        }
        add_counter(g, m + 2, n);
        say("condrun.kind" + std::to_string(kind) + ".flags" + std::to_string(flags) + ".default" + std::to_string(v), go(g));
      }
    }
  // Set by a kernel, kept or not until the next launch.
  {
    cudaGraph_t g = new_graph();
    MUST(cudaGraphConditionalHandleCreate(&h, g, 0, 0));
    auto p = cond(h, cudaGraphCondTypeIf, 2);
    MUST(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
    add_counter(p.conditional.phGraph_out[0], m);
    add_counter(p.conditional.phGraph_out[1], m + 1);
    unsigned one = 1;
    void* args[] = {&h, &one};
    add_kernel(g, (void*)set_value, args, n);
    say("condrun.persists", go(g));
  }
  // An if whose body sets the value again runs once.
  {
    cudaGraph_t g = new_graph();
    MUST(cudaGraphConditionalHandleCreate(&h, g, 1, 1));
    auto p = cond(h, cudaGraphCondTypeIf, 2);
    MUST(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
    add_counter(p.conditional.phGraph_out[0], m);
    unsigned zero = 0;
    void* args[] = {&h, &zero};
    add_kernel(p.conditional.phGraph_out[0], (void*)set_value, args);
    add_counter(p.conditional.phGraph_out[1], m + 1);
    say("condrun.if.once", go(g));
  }
  // Nested loops; the inner handle is of the outer graph or of the body; with a default it is set
  // at the launch, or at each turn of the outer loop.
  for (int of_body = 0; of_body < 2; ++of_body)
    for (int inner_default = 0; inner_default < 2; ++inner_default) {
      cudaGraph_t g = new_graph();
      MUST(cudaGraphConditionalHandleCreate(&h, g, 1, 1));
      auto p = cond(h, cudaGraphCondTypeWhile, 1);
      MUST(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
      cudaGraph_t outer = p.conditional.phGraph_out[0];
      std::string key = std::string("condrun.nested.") + (of_body ? "bodyhandle" : "graphhandle") + (inner_default ? ".default" : ".set");
      cudaError_t r = cudaGraphConditionalHandleCreate(&h2, of_body ? outer : g, inner_default, inner_default);
      if (r != cudaSuccess) { say(key, r); continue; }
      cudaGraphNode_t first = nullptr;
      if (!inner_default) {
        unsigned one = 1;
        void* args[] = {&h2, &one};
        first = add_kernel(outer, (void*)set_value, args);
      }
      auto q = cond(h2, cudaGraphCondTypeWhile, 1);
      cudaGraphNode_t loop;
      r = cudaGraphAddNode(&loop, outer, first ? &first : nullptr, nullptr, first ? 1 : 0, &q);
      if (r != cudaSuccess) { say(key, r); continue; }
      int* left2 = m + 5;
      int* rounds2 = m + 1;
      void* inner_args[] = {&h2, &left2, &rounds2};
      add_kernel(q.conditional.phGraph_out[0], (void*)count_down, inner_args);
      int* left = m + 4;
      int* rounds = m;
      void* outer_args[] = {&h, &left, &rounds};
      add_kernel(outer, (void*)count_down, outer_args, loop);
      say(key, go(g));
    }
  // Update: another default, another kind, another number of bodies.
  auto make = [&](unsigned v, int kind, unsigned size, int adds) {
    cudaGraph_t g = new_graph();
    MUST(cudaGraphConditionalHandleCreate(&h, g, v, 1));
    auto p = cond(h, (cudaGraphConditionalNodeType)kind, size);
    MUST(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
    int* where = m;
    void* args[] = {&where};
    for (unsigned i = 0; i < size; ++i) { where = m + i; add_kernel(p.conditional.phGraph_out[i], adds == 1 ? (void*)add_one : (void*)add_two, args); }
    return g;
  };
  cudaGraphExec_t e;
  MUST(cudaGraphInstantiate(&e, make(1, 0, 2, 1), 0));
  auto update = [&](const std::string& name, cudaGraph_t g) {
    cudaGraphExecUpdateResultInfo info{};
    cudaError_t r = cudaGraphExecUpdate(e, g, &info);
    m[0] = m[1] = m[2] = 0;
    cudaGraphLaunch(e, s);
    cudaStreamSynchronize(s);
    say("condrun.update." + name, std::string(cudaGetErrorName(r)) + " result " + std::to_string((int)info.result) + " node " + (info.errorNode ? "some" : "none") +
                                      " ran " + std::to_string(m[0]) + " " + std::to_string(m[1]));
    cudaGetLastError();
  };
  update("same", make(1, 0, 2, 1));
  update("default0", make(0, 0, 2, 1));
  update("function", make(1, 0, 2, 2));
  update("switch", make(1, 2, 2, 1));
  update("size1", make(1, 0, 1, 1));
}

// A conditional node without dependencies beside kernels without dependencies.
static void section_condroot() {
  for (int first = 0; first < 2; ++first) {
    cudaGraph_t g = new_graph();
    cudaGraphConditionalHandle h;
    MUST(cudaGraphConditionalHandleCreate(&h, g, 0, 1));
    cudaGraphNode_t n;
    unsigned one = 1;
    void* args[] = {&h, &one};
    if (first == 0) add_kernel(g, (void*)set_value, args);
    auto p = cond(h, cudaGraphCondTypeIf, 1);
    MUST(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
    add_counter(p.conditional.phGraph_out[0], m);
    if (first == 1) add_kernel(g, (void*)set_value, args);
    cudaGraphExec_t e;
    MUST(cudaGraphInstantiate(&e, g, 0));
    m[0] = 0;
    for (int i = 0; i < 200; ++i) {
      MUST(cudaGraphLaunch(e, s));
      MUST(cudaStreamSynchronize(s));
    }
    say(std::string("condroot.sees.of200.") + (first == 0 ? "kernel.first" : "node.first"), m[0]);
    MUST(cudaGraphExecDestroy(e));
  }
  // A kernel that is held, in another branch: does the body run meanwhile?
  for (int first = 0; first < 2; ++first) {
    Gate gate;
    cudaGraph_t g = new_graph();
    cudaGraphConditionalHandle h;
    MUST(cudaGraphConditionalHandleCreate(&h, g, 1, 1));
    int* flag = gate.flag;
    int* mark = gate.flag + 8;
    int value = 5;
    *(volatile int*)mark = 0;
    void* gate_args[] = {&flag};
    void* mark_args[] = {&mark, &value};
    cudaGraphNode_t n;
    if (first == 0) add_kernel(g, (void*)gate_kernel, gate_args);
    auto p = cond(h, cudaGraphCondTypeIf, 1);
    MUST(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
    add_kernel(p.conditional.phGraph_out[0], (void*)mark_kernel, mark_args);
    if (first == 1) add_kernel(g, (void*)gate_kernel, gate_args);
    cudaGraphExec_t e;
    MUST(cudaGraphInstantiate(&e, g, 0));
    MUST(cudaGraphLaunch(e, s));
    say(std::string("condroot.body.beside.held.") + (first == 0 ? "kernel.first" : "node.first"), wait_until([&] { return *(volatile int*)mark == 5; }, 500));
    gate.open();
    MUST(cudaStreamSynchronize(s));
    MUST(cudaGraphExecDestroy(e));
  }
  // Work of another stream beside a loop, and the stream's own order behind it.
  {
    Gate gate;
    cudaGraph_t g = new_graph();
    cudaGraphConditionalHandle h;
    MUST(cudaGraphConditionalHandleCreate(&h, g, 1, 1));
    auto p = cond(h, cudaGraphCondTypeIf, 1);
    cudaGraphNode_t n;
    MUST(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
    int* flag = gate.flag;
    void* gate_args[] = {&flag};
    add_kernel(p.conditional.phGraph_out[0], (void*)gate_kernel, gate_args);
    cudaGraphExec_t e;
    MUST(cudaGraphInstantiate(&e, g, 0));
    MUST(cudaGraphLaunch(e, s));
    say("condroot.query.while.body.held", cudaStreamQuery(s));
    cudaStream_t other;
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    int* mark = gate.flag + 8;
    *(volatile int*)mark = 0;
    mark_kernel<<<1, 1, 0, other>>>(mark, 6);
    say("condroot.other.stream.runs", wait_until([&] { return *(volatile int*)mark == 6; }, 500));
    mark_kernel<<<1, 1, 0, s>>>(mark, 7);
    say("condroot.same.stream.waits", !wait_until([&] { return *(volatile int*)mark == 7; }, 150));
    gate.open();
    MUST(cudaStreamSynchronize(s));
    MUST(cudaGraphExecDestroy(e));
  }
}

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
  say("nodes.attr.null", cudaGraphKernelNodeGetAttribute(kn, cudaLaunchAttributePriority, nullptr));
  say("nodes.attr.wrongtype", cudaGraphKernelNodeGetAttribute(a, cudaLaunchAttributePriority, &v));
  cudaGraphNode_t kn2 = add_counter(g, m);
  say("nodes.attr.copy", cudaGraphKernelNodeCopyAttributes(kn2, kn));
  v = {};
  cudaGraphKernelNodeGetAttribute(kn2, cudaLaunchAttributePriority, &v);
  say("nodes.attr.copied", v.priority);
  say("nodes.attr.copy.wrongtype", cudaGraphKernelNodeCopyAttributes(kn2, a));
  say("nodes.attr.copy.to.wrongtype", cudaGraphKernelNodeCopyAttributes(a, kn2));
  // Copies.
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
  // Fills.
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
  // Host, events, child.
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
  // Executable setters.
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
  say("exec.kernel.null", cudaGraphExecKernelNodeSetParams(e, ek, nullptr));
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
  say("exec.enabled.get.null", cudaGraphNodeGetEnabled(e, ek, nullptr));
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
  say("exec.getflags.null", cudaGraphExecGetFlags(e, nullptr));
  say("exec.upload", cudaGraphUpload(e, s));
  say("exec.upload.null", cudaGraphUpload(nullptr, s));
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
  say("inst.nullparams", cudaGraphInstantiateWithParams(&ne, ge, nullptr));
  say("inst.nullout", cudaGraphInstantiate(nullptr, ge, 0));
  say("inst.nullgraph", cudaGraphInstantiate(&ne, nullptr, 0));
  say("exec.destroy.null", cudaGraphExecDestroy(nullptr));
  say("graph.destroy.null", cudaGraphDestroy(nullptr));
  say("graph.destroynode.null", cudaGraphDestroyNode(nullptr));
  say("graph.create.flags1", cudaGraphCreate(&other, 1));
  // Lists.
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
  say("list.nodes.nullcount", cudaGraphGetNodes(l, out, nullptr));
  count = 8;
  fill8();
  say("list.edges.8", cudaGraphGetEdges(l, out, out2, nullptr, &count));
  say("list.edges.8.is", std::to_string(count) + (out[2] == nullptr ? " null" : " left"));
  count = 1;
  say("list.edges.1", cudaGraphGetEdges(l, out, out2, nullptr, &count));
  say("list.edges.1.count", (int)count);
  count = 8;
  say("list.edges.onenull", cudaGraphGetEdges(l, out, nullptr, nullptr, &count));
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
  // Edge data between kernels.
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
  say("mode.null", cudaThreadExchangeStreamCaptureMode(nullptr));
  mode = cudaStreamCaptureModeRelaxed;
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

// The text of cudaGraphDebugDotPrint, line by line: for reading, not for comparing (it has handles).
static void section_dot() {
  cudaGraph_t g = new_graph();
  cudaGraphNode_t k = add_counter(g, m), c, f, h, r, e = add_empty(g);
  char* d;
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaGraphAddMemcpyNode1D(&c, g, &k, 1, d, d + 1024, 64, cudaMemcpyDeviceToDevice));
  cudaMemsetParams fp{d, 0, 3, 1, 64, 1};
  MUST(cudaGraphAddMemsetNode(&f, g, &c, 1, &fp));
  cudaHostNodeParams hp{nothing, nullptr};
  MUST(cudaGraphAddHostNode(&h, g, &f, 1, &hp));
  cudaEvent_t ev;
  MUST(cudaEventCreate(&ev));
  MUST(cudaGraphAddEventRecordNode(&r, g, &h, 1, ev));
  cudaGraph_t child = new_graph();
  add_counter(child, m);
  cudaGraphNode_t ch;
  MUST(cudaGraphAddChildGraphNode(&ch, g, &e, 1, child));
  cudaGraphConditionalHandle handle;
  MUST(cudaGraphConditionalHandleCreate(&handle, g, 1, 1));
  auto p = cond(handle, cudaGraphCondTypeIf, 2);
  cudaGraphNode_t cn;
  MUST(cudaGraphAddNode(&cn, g, &ch, nullptr, 1, &p));
  add_counter(p.conditional.phGraph_out[0], m);
  say("dot.nullpath", cudaGraphDebugDotPrint(g, nullptr, 0));
  say("dot.badpath", cudaGraphDebugDotPrint(g, "/nonexistent/x.dot", 0));
  say("dot.nullgraph", cudaGraphDebugDotPrint(nullptr, "/tmp/x.dot", 0));
  say("dot.unknownflag", cudaGraphDebugDotPrint(g, "/tmp/x.dot", 1u << 30));
  for (unsigned flags : {0u, 1u, 4u, 8u, 16u, 32u, 64u, 512u, 1024u, 32768u}) {
    say("dot.flags." + std::to_string(flags), cudaGraphDebugDotPrint(g, "/tmp/x.dot", flags));
    std::ifstream in("/tmp/x.dot");
    std::string line;
    for (int i = 0; std::getline(in, line); ++i) say("dot.text." + std::to_string(flags) + "." + std::to_string(i), line);
  }
}

int main(int argc, char** argv) {
  std::map<std::string, void (*)()> all{{"cond", section_cond},     {"condrun", section_condrun}, {"condroot", section_condroot}, {"nodes", section_nodes}, {"memory", section_memory},
                                        {"update", section_update}, {"objects", section_objects}, {"capture", section_capture}, {"dot", section_dot}};
  std::string which = argc > 1 ? argv[1] : "list";
  if (!all.count(which)) {
    for (auto& [name, f] : all) std::printf("%s\n", name.c_str());
    return 0;
  }
  MUST(cudaMallocManaged(&m, 4096));
  MUST(cudaStreamCreate(&s));
  all[which]();
  say("end", which);
  return 0;
}
