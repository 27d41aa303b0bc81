// Drawing a graph in Graphviz' language, as NVIDIA's runtime does; graphs_dot.tsv
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <unordered_map>

#include "cudart/functions.hpp"
#include "cudart/graph.hpp"

namespace sb::cudart {
namespace {

__attribute__((format(printf, 1, 2))) std::string text(const char* format, ...) {
  char buffer[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

std::string address(const void* pointer) {
  return text("0x%016llX",
              static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(pointer)));
}

// Of a kernel: a static one goes by the name that it would have as a global one.
std::string kernel_name(const void* function) {
  const char* known = registered_name(function);
  std::string name = known != nullptr ? known : "?";
  name = name.substr(0, name.find("__intern__"));
  if (name.rfind("_ZL", 0) == 0) name.erase(2, 1);
  return name;
}

std::string dimensions(const dim3& d) {
  return d.y == 1 && d.z == 1 ? std::to_string(d.x) : text("{%u,%u,%u}", d.x, d.y, d.z);
}

struct direction_names {
  const char *brief, *from, *to;
};

direction_names names_of(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return {"HtoH", "HOST", "HOST"};
    case cudaMemcpyHostToDevice:
      return {"HtoD", "HOST", "DEVICE"};
    case cudaMemcpyDeviceToHost:
      return {"DtoH", "DEVICE", "HOST"};
    case cudaMemcpyDeviceToDevice:
      return {"DtoD", "DEVICE", "DEVICE"};
    default:
      return {"Default", "DEFAULT", "DEFAULT"};
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

using places = std::unordered_map<const CUgraphNode_st*, std::size_t>;

// From the ends of the graph to its beginnings, the newest end first.
places places_from_ends(const CUgraph_st& graph) {
  places place;
  std::vector<const CUgraphNode_st*> ready;
  std::unordered_map<const CUgraphNode_st*, std::size_t> missing;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    missing[*node] = (*node)->after.size();
    if ((*node)->after.empty()) ready.push_back(*node);
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    place[ready[i]] = i;
    for (const CUgraphNode_st* earlier : ready[i]->before) {
      if (--missing[earlier] == 0) ready.push_back(earlier);
    }
  }
  return place;
}

// One node. The shape says its kind; what the flags ask for is in the label.
struct describe {
  const CUgraphNode_st& node;
  const places& place;
  unsigned flags;

  [[nodiscard]] bool asked(unsigned flag) const {
    return (flags & (flag | cudaGraphDebugDotFlagsVerbose)) != 0;
  }
  [[nodiscard]] bool handles() const { return asked(cudaGraphDebugDotFlagsHandles); }
  [[nodiscard]] std::string id() const {
    std::string name = std::to_string(node.order);
    const auto found = place.find(&node);
    if (asked(0) && found != place.end()) {
      name += text(" (topoId: %zu)", found->second);
    }
    return name;
  }
  [[nodiscard]] std::string handle_line() const {
    return handles() ? "node handle: " + address(&node) + "\n" : std::string{};
  }
  [[nodiscard]] std::string box(const std::string& name, const std::string& more = {}) const {
    return "style=\"solid\" shape=\"rectangle\" label=\"" + id() + "\n" + name + "\n" +
           handle_line() + more + "\"";
  }

  std::string operator()(const kernel_node& kernel) const {
    const cudaKernelNodeParams& p = kernel.params;
    const std::string launch = asked(cudaGraphDebugDotFlagsKernelNodeParams)
                                   ? "\\<\\<\\<" + dimensions(p.gridDim) + "," +
                                         dimensions(p.blockDim) +
                                         text(",%u\\>\\>\\>", p.sharedMemBytes)
                                   : std::string{};
    const std::string name = kernel_name(p.func);
    if (!asked(cudaGraphDebugDotFlagsKernelNodeAttributes)) {
      std::string label = id() + "\n" + name + "\n" + handle_line();
      if (handles()) label += "func handle: " + address(p.func) + "\n";
      return "style=\"bold\" shape=\"octagon\" label=\"" + label + launch + "\"";
    }
    cudaAccessPolicyWindow window{};
    for (const cudaLaunchAttribute& a : kernel.attributes) {
      if (a.id == cudaLaunchAttributeAccessPolicyWindow) window = a.val.accessPolicyWindow;
    }
    const auto letter = [](cudaAccessProperty property) {
      return property == cudaAccessPropertyStreaming    ? "S"
             : property == cudaAccessPropertyPersisting ? "P"
                                                        : "N";
    };
    const auto* operation = std::get_if<engine::kernel_operation>(&node.recipe.what);
    std::string label = "{KERNEL\n| {ID | " + id() + " | " + name + launch + "}\n";
    if (handles()) {
      label +=
          "| {{node handle | func handle} | {" + address(&node) + " | " + address(p.func) + "}}\n";
    }
    label +=
        "| {accessPolicyWindow | {base_ptr | num_bytes | hitRatio | hitProp | missProp} | {" +
        address(window.base_ptr) +
        text(" | %zu | %f | %s | %s}}\n", window.num_bytes, static_cast<double>(window.hitRatio),
             letter(window.hitProp), letter(window.missProp));
    label +=
        text("| {cooperative | %d}\n| {priority | %d}\n}",
             operation != nullptr && operation->cooperative ? 1 : 0, int{node.recipe.priority});
    return "style=\"bold\" shape=\"record\" label=\"" + label + "\"";
  }
  std::string operator()(const copy_node& copy) const {
    const cudaMemcpy3DParms& p = copy.params;
    const direction_names names = names_of(p.kind);
    if (!asked(cudaGraphDebugDotFlagsMemcpyNodeParams)) {
      return "style=\"solid\" shape=\"trapezium\"label=\"" + id() + "\nMEMCPY\n" + handle_line() +
             text("(%s,%zu)\n\"", names.brief, p.extent.width * p.extent.height * p.extent.depth);
    }
    const auto end = [](const cudaPitchedPtr& e) {
      return text("%zu | ", e.pitch) + address(e.ptr) + text(" | %zu | %zu", e.xsize, e.ysize);
    };
    const auto position = [](const cudaPos& at) {
      return text("{{x | %zu} | {y | %zu} | {z | %zu}}", at.x, at.y, at.z);
    };
    std::string label = "{\nMEMCPY\n";
    label += handles() ? "| {{ID | node handle} | {" + id() + " | " + address(&node) + "}}\n"
                       : "| {{ID} | {" + id() + "}}\n";
    label += text("| {kind | %s (%s to %s)}\n", names.brief, names.from, names.to);
    label +=
        "| {{srcPtr | dstPtr} | {pitch | ptr | xsize | ysize | pitch | ptr | xsize | ysize} | {" +
        end(p.srcPtr) + " | " + end(p.dstPtr) + "}}\n";
    label += "| {{srcPos | " + position(p.srcPos) + "} | {dstPos | " + position(p.dstPos) +
             text("} | {Extent | {{Width | %zu} | {Height | %zu} | {Depth | %zu}}}}\n}",
                  p.extent.width, p.extent.height, p.extent.depth);
    return "style=\"solid\" shape=\"record\" label=\"" + label + "\"";
  }
  std::string operator()(const fill_node& fill) const {
    const cudaMemsetParams& p = fill.params;
    if (!asked(cudaGraphDebugDotFlagsMemsetNodeParams)) {
      return "style=\"solid\" shape=\"invtrapezium\"label=\"" + id() + "\nMEMSET\n" +
             handle_line() + text("(%u,%zu)\n\"", p.value, p.width * p.height);
    }
    const bool named = handles();
    return std::string("style=\"solid\" style=\"solid\" shape=\"record\" label=\"{MEMSET\n| {{ID") +
           (named ? " | node handle" : "") +
           " | dptr | pitch | value | elementSize | width | height} | {" + id() +
           (named ? " | " + address(&node) : std::string{}) + " | " + address(p.dst) +
           text(" | %zu | %u | %u | %zu | %zu}}}\"", p.pitch, p.value, p.elementSize, p.width,
                p.height);
  }
  std::string operator()(const host_node& host) const {
    if (!asked(cudaGraphDebugDotFlagsHostNodeParams)) return box("HOST");
    return box("HOST", "fn: " + address(reinterpret_cast<void*>(host.params.fn)) +
                           "\nuserData: " + address(host.params.userData) + "\n");
  }
  std::string operator()(const event_node& event) const {
    const char* name =
        node.recipe.type == cudaGraphNodeTypeWaitEvent ? "EVENT_WAIT" : "EVENT_RECORD";
    if (!asked(cudaGraphDebugDotFlagsEventNodeParams)) return box(name);
    return box(name, "event: " + address(event.event) + "\n");
  }
  std::string operator()(const child_node& child) const {
    return box(text("graph_%llu", static_cast<unsigned long long>(child.graph->number)));
  }
  std::string operator()(const conditional_node& conditional) const {
    std::string label = "{\nCONDITIONAL\n| {ID | " + id() + "}\n";
    if (handles()) label += "| {node handle| " + address(&node) + "}\n";
    if (asked(0)) label += text("| {Conditional Handle|%u}\n", conditional.handle->number + 1);
    label += text("| {Conditional Type| %s}\n", kind_name(conditional.type));
    for (std::size_t i = 0; i < conditional.bodies.size(); ++i) {
      std::string name = "Body ";
      if (conditional.type == cudaGraphCondTypeIf) name = i == 0 ? "True " : "False";
      if (conditional.type == cudaGraphCondTypeSwitch) name = std::to_string(i) + " ";
      label +=
          "| {" + name +
          text("| graph_%llu}\n", static_cast<unsigned long long>(conditional.bodies[i]->number));
    }
    return "style=\"bold\" shape=\"record\" label=\"" + label + "}\n\"";
  }
  std::string operator()(const alloc_node& alloc) const {
    if (!asked(0)) return box("MEM_ALLOC");
    return box("MEM_ALLOC", "dptr: " + address(alloc.params.dptr) +
                                text("\nbytesize: %zu\n", alloc.params.bytesize));
  }
  std::string operator()(const free_node& free) const {
    return asked(0) ? box("MEM_FREE", "dptr: " + address(free.pointer) + "\n") : box("MEM_FREE");
  }
  std::string operator()(std::monostate) const { return box("EMPTY"); }
};

// A graph, then the graphs inside of it.
void draw(std::FILE* file, const CUgraph_st& graph, unsigned flags) {
  const std::string name = text("graph_%llu", static_cast<unsigned long long>(graph.number));
  const auto id = [&](const CUgraphNode_st& node) {
    return "\"" + name + "_node_" + std::to_string(node.order) + "\"";
  };
  std::fprintf(file, "subgraph cluster_%llu {\nlabel=\"%s\" graph[style=\"dashed\"];\n",
               static_cast<unsigned long long>(graph.number), name.c_str());
  const places place = places_from_ends(graph);
  for (const CUgraphNode_st* node : graph.nodes) {
    const std::string label = std::visit(describe{*node, place, flags}, node->recipe.detail);
    std::fprintf(file, "%s[%s];\n\n", id(*node).c_str(), label.c_str());
  }
  const bool ports = (flags & cudaGraphDebugDotFlagsVerbose) != 0;
  for (const CUgraphNode_st* node : graph.nodes) {
    for (const CUgraphNode_st* later : node->after) {
      std::fprintf(file, "%s -> %s", id(*node).c_str(), id(*later).c_str());
      if (ports) {
        const auto data = later->edge_data.find(const_cast<cudaGraphNode_t>(node));
        const unsigned port = data != later->edge_data.end() ? data->second.from_port : 0;
        std::fprintf(file, " [headlabel=%u]", port);
      }
      std::fputs(";\n", file);
    }
  }
  std::fputs("}\n", file);
  for (const CUgraphNode_st* node : graph.nodes) {
    for (cudaGraph_t inner : inner_graphs(node->recipe)) draw(file, *inner, flags);
  }
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path,
                                                    unsigned flags) {
  return entry(call_kind::light, [&]() -> status {
    if (path == nullptr || !graphs().alive(graph)) return status::invalid_value;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "w"), std::fclose);
    if (!file) return status::operating_system;
    std::fputs("digraph dot {\n", file.get());
    draw(file.get(), *graph, flags);
    std::fputs("}\n", file.get());
    return status::success;
  });
}

}  // namespace sb::cudart
