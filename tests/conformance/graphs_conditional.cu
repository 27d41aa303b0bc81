// Conditional nodes of graphs: what is refused, which body runs, what comes before and after.
// One section per process: `graphs_conditional SECTION`.
#include "graphs_probe.h"

static void section_cond() {
  cudaGraph_t g = new_graph(), other = new_graph();
  cudaGraphConditionalHandle h = 0, ho = 0;
  say("cond.handle.null", cudaGraphConditionalHandleCreate(nullptr, g, 0, 0));
  say("cond.handle.nullgraph", cudaGraphConditionalHandleCreate(&h, nullptr, 0, 0));
  say("cond.handle.flags2", cudaGraphConditionalHandleCreate(&h, g, 0, 2));
  say("cond.handle.default.noflag", cudaGraphConditionalHandleCreate(&h, g, 5, 0));
  MUST(cudaGraphConditionalHandleCreate(&ho, other, 1, cudaGraphCondAssignDefault));
  cudaGraphNode_t n = nullptr;
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
}

// A graph with an if of two bodies: what may be done to it, and what a body may hold.
static void section_bodies() {
  cudaGraph_t g = new_graph(), other = nullptr;
  cudaGraphConditionalHandle h = 0, h2 = 0;
  MUST(cudaGraphConditionalHandleCreate(&h, g, 5, 0));
  cudaGraphNode_t n = nullptr, n2 = nullptr;
  auto p = cond(h, cudaGraphCondTypeIf, 2);
  say("bodies.if2", cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
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

int main(int argc, char** argv) {
  return run_section(argc, argv, {{"cond", section_cond}, {"bodies", section_bodies}, {"condrun", section_condrun}, {"condroot", section_condroot}});
}
