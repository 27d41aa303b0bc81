// Drawing a graph in Graphviz' language.
#include <cstdio>
#include <memory>
#include <string>

#include "cudart/functions.hpp"
#include "cudart/graph.hpp"

namespace sb::cudart {
namespace {

const char* kind_name(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "KERNEL";
    case cudaGraphNodeTypeMemcpy:
      return "MEMCPY";
    case cudaGraphNodeTypeMemset:
      return "MEMSET";
    case cudaGraphNodeTypeHost:
      return "HOST";
    case cudaGraphNodeTypeGraph:
      return "GRAPH";
    case cudaGraphNodeTypeEmpty:
      return "EMPTY";
    case cudaGraphNodeTypeWaitEvent:
      return "EVENT_WAIT";
    case cudaGraphNodeTypeEventRecord:
      return "EVENT_RECORD";
    case cudaGraphNodeTypeMemAlloc:
      return "MEM_ALLOC";
    case cudaGraphNodeTypeMemFree:
      return "MEM_FREE";
    case cudaGraphNodeTypeConditional:
      return "CONDITIONAL";
    default:
      return "NODE";
  }
}

std::string describe(const CUgraphNode_st& node) {
  const node_recipe& recipe = node.recipe;
  if (const auto* kernel = std::get_if<kernel_node>(&recipe.detail)) {
    const char* name = registered_name(kernel->params.func);
    const dim3 grid = kernel->params.gridDim;
    const dim3 block = kernel->params.blockDim;
    char shape[96];
    std::snprintf(shape, sizeof shape, "\\n<<<(%u,%u,%u),(%u,%u,%u),%u>>>", grid.x, grid.y, grid.z,
                  block.x, block.y, block.z, kernel->params.sharedMemBytes);
    return std::string("\\n") + (name != nullptr ? name : "?") + shape;
  }
  if (const auto* copy = std::get_if<copy_node>(&recipe.detail)) {
    const cudaExtent extent = copy->params.extent;
    return "\\n" + std::to_string(extent.width * extent.height * extent.depth) + " bytes";
  }
  if (const auto* fill = std::get_if<fill_node>(&recipe.detail)) {
    const cudaMemsetParams& p = fill->params;
    return "\\n" + std::to_string(p.width * p.height * p.elementSize) + " bytes of " +
           std::to_string(p.value);
  }
  return {};
}

// Ids are places in the graph, so that two runs of a program draw the same.
void draw(std::FILE* file, const CUgraph_st& graph, const std::string& prefix, unsigned flags) {
  const auto id = [&](const CUgraphNode_st& node) { return prefix + std::to_string(node.order); };
  for (const CUgraphNode_st* node : graph.nodes) {
    const bool more = flags != 0;
    std::fprintf(file, "  \"%s\" [shape=box, label=\"%s\\n%s%s\"];\n", id(*node).c_str(),
                 std::to_string(node->order).c_str(), kind_name(node->recipe.type),
                 more ? describe(*node).c_str() : "");
    if (const auto* child = std::get_if<child_node>(&node->recipe.detail)) {
      std::fprintf(file, "  subgraph \"cluster_%s\" {\n", id(*node).c_str());
      draw(file, *child->graph, id(*node) + "_", flags);
      std::fputs("  }\n", file);
    }
  }
  for (const CUgraphNode_st* node : graph.nodes) {
    for (const CUgraphNode_st* later : node->after) {
      std::fprintf(file, "  \"%s\" -> \"%s\";\n", id(*node).c_str(), id(*later).c_str());
    }
  }
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path,
                                                    unsigned flags) {
  return entry(call_kind::light, [&]() -> status {
    if (path == nullptr || !graphs().alive(graph)) return status::invalid_value;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "w"), std::fclose);
    if (!file) return status::unknown;
    std::fputs("digraph dot {\n", file.get());
    draw(file.get(), *graph, "n", flags);
    std::fputs("}\n", file.get());
    return status::success;
  });
}

}  // namespace sb::cudart
