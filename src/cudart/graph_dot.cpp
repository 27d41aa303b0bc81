// Drawing a graph in Graphviz' language.
#include <cstdarg>
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

const char* kind_name(cudaGraphConditionalNodeType type) {
  switch (type) {
    case cudaGraphCondTypeWhile:
      return "WHILE";
    case cudaGraphCondTypeSwitch:
      return "SWITCH";
    default:
      return "IF";
  }
}

__attribute__((format(printf, 1, 2))) std::string line(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return std::string("\\n") + text;
}

// What the flags ask for, one function per kind of node.
struct describe {
  unsigned flags;

  [[nodiscard]] bool asked(unsigned flag) const {
    return (flags & (flag | cudaGraphDebugDotFlagsVerbose)) != 0;
  }
  std::string operator()(const kernel_node& kernel) const {
    std::string text;
    const cudaKernelNodeParams& p = kernel.params;
    const char* name = registered_name(p.func);
    text += line("%s", name != nullptr ? name : "?");
    if (asked(cudaGraphDebugDotFlagsKernelNodeParams)) {
      text += line("<<<(%u,%u,%u),(%u,%u,%u),%u>>>", p.gridDim.x, p.gridDim.y, p.gridDim.z,
                   p.blockDim.x, p.blockDim.y, p.blockDim.z, p.sharedMemBytes);
    }
    if (asked(cudaGraphDebugDotFlagsKernelNodeAttributes)) {
      for (const cudaLaunchAttribute& a : kernel.attributes) {
        text += line("attribute %d: %d", static_cast<int>(a.id), a.val.priority);
      }
    }
    if (asked(cudaGraphDebugDotFlagsHandles)) text += line("function %p", p.func);
    return text;
  }
  std::string operator()(const copy_node& copy) const {
    const cudaMemcpy3DParms& p = copy.params;
    if (!asked(cudaGraphDebugDotFlagsMemcpyNodeParams)) return {};
    return line("%p to %p", p.srcPtr.ptr, p.dstPtr.ptr) +
           line("%zu x %zu x %zu bytes", p.extent.width, p.extent.height, p.extent.depth);
  }
  std::string operator()(const fill_node& fill) const {
    const cudaMemsetParams& p = fill.params;
    if (!asked(cudaGraphDebugDotFlagsMemsetNodeParams)) return {};
    return line("%p: %zu x %zu of %u bytes, value %u", p.dst, p.width, p.height, p.elementSize,
                p.value);
  }
  std::string operator()(const host_node& host) const {
    if (!asked(cudaGraphDebugDotFlagsHostNodeParams)) return {};
    return line("%p(%p)", reinterpret_cast<void*>(host.params.fn), host.params.userData);
  }
  std::string operator()(const event_node& event) const {
    if (!asked(cudaGraphDebugDotFlagsEventNodeParams)) return {};
    return line("event %p", static_cast<void*>(event.event));
  }
  std::string operator()(const conditional_node& conditional) const {
    std::string text = line("%s", kind_name(conditional.type));
    if (asked(cudaGraphDebugDotFlagsConditionalNodeParams)) {
      text += line("handle %p, %zu bodies", static_cast<void*>(conditional.handle.get()),
                   conditional.bodies.size());
    }
    return text;
  }
  std::string operator()(const alloc_node& alloc) const {
    if (!asked(0)) return {};
    return line("%zu bytes at %p", alloc.params.bytesize, alloc.params.dptr);
  }
  std::string operator()(const free_node& free) const {
    return asked(0) ? line("%p", free.pointer) : std::string{};
  }
  std::string operator()(const child_node&) const { return {}; }
  std::string operator()(std::monostate) const { return {}; }
};

// Ids are places in the graph, so that two runs of a program draw the same.
void draw(std::FILE* file, const CUgraph_st& graph, const std::string& prefix, unsigned flags) {
  const auto id = [&](const CUgraphNode_st& node) { return prefix + std::to_string(node.order); };
  for (const CUgraphNode_st* node : graph.nodes) {
    std::string text = std::visit(describe{flags}, node->recipe.detail);
    if ((flags & cudaGraphDebugDotFlagsHandles) != 0) {
      text += line("node %p", static_cast<const void*>(node));
    }
    std::fprintf(file, "  \"%s\" [shape=box, label=\"%s\\n%s%s\"];\n", id(*node).c_str(),
                 std::to_string(node->order).c_str(), kind_name(node->recipe.type), text.c_str());
    std::size_t place = 0;
    for (cudaGraph_t inner : inner_graphs(node->recipe)) {
      const std::string name = id(*node) + "_" + std::to_string(place++);
      std::fprintf(file, "  subgraph \"cluster_%s\" {\n", name.c_str());
      draw(file, *inner, name + "_", flags);
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
