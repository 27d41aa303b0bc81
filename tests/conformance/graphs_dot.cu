// The text of cudaGraphDebugDotPrint, line by line, addresses as 0x@. One section: `graphs_dot dot`.
#include "graphs_probe.h"

#include <fstream>
#include <regex>

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
  say("dot.nullgraph", cudaGraphDebugDotPrint(nullptr, "x.dot", 0));
  say("dot.unknownflag", cudaGraphDebugDotPrint(g, "x.dot", 1u << 30));
  for (unsigned flags : {0u, 1u, 4u, 8u, 16u, 32u, 64u, 512u, 1024u, 32768u}) {
    say("dot.flags." + std::to_string(flags), cudaGraphDebugDotPrint(g, "x.dot", flags));
    std::ifstream in("x.dot");
    std::string line;
    const std::regex address("0x(?!0{16})[0-9A-F]{16}");
    for (int i = 0; std::getline(in, line); ++i) say("dot.text." + std::to_string(flags) + "." + std::to_string(i), std::regex_replace(line, address, "0x@"));
  }
}

int main(int argc, char** argv) {
  return run_section(argc, argv, {{"dot", section_dot}});
}
