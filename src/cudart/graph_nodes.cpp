// Adding nodes to a graph by hand.
#include <algorithm>

#include "cudart/call_name.hpp"
#include "cudart/graph.hpp"
#include "cudart/graph_memory.hpp"
#include "cudart/operations.hpp"

namespace sb::cudart {
namespace {

// CUDA: a graph frees an allocation once.
bool frees(const CUgraph_st& graph, const void* pointer) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](cudaGraphNode_t node) {
    const auto* gone = std::get_if<free_node>(&node->recipe.detail);
    return gone != nullptr && gone->pointer == pointer;
  });
}

// The frame of every call that adds a node: checks the graph and the dependencies, then lets `make`
// check the parameters, then appends.
template <class Make>
cudaError_t add(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* before,
                size_t count, Make&& make) {
  return entry(call_kind::device, [&]() -> status {
    if (out == nullptr || !graphs().alive(graph)) return status::invalid_value;
    if (count != 0 && before == nullptr) return status::invalid_value;
    const std::vector<cudaGraphNode_t> dependencies(before, before + count);
    for (std::size_t i = 0; i < count; ++i) {
      const cudaGraphNode_t node = dependencies[i];
      if (!nodes().alive(node) || node->graph != graph) return status::invalid_value;
      if (std::count(dependencies.begin(), dependencies.end(), node) != 1) {
        return status::invalid_value;
      }
    }
    result<node_recipe> recipe = make();
    if (!recipe) return recipe.error();
    if (const auto* gone = std::get_if<free_node>(&recipe->detail)) {
      if (frees(*graph, gone->pointer)) return status::invalid_value;
      const status s = check_free_node(*graph, gone->pointer);
      if (s != status::success) return s;
    }
    note_memory_node(*graph, *recipe);
    cudaGraphNode_t node = append_node(*graph, std::move(*recipe), dependencies);
    if (node == nullptr) return status::memory_allocation;
    *out = node;
    return status::success;
  });
}

bool reserved_are_zero(const cudaGraphNodeParams& params) {
  const auto zero = [](int v) { return v == 0; };
  return std::all_of(std::begin(params.reserved0), std::end(params.reserved0), zero) &&
         params.reserved2 == 0;
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                              const cudaGraphNode_t* before,
                                              const cudaGraphEdgeData* edges, size_t count,
                                              cudaGraphNodeParams* params) {
  return as_call([&]() -> cudaError_t {
    const cudaError_t answer = add(out, graph, before, count, [&]() -> result<node_recipe> {
      if (params == nullptr || !reserved_are_zero(*params)) return status::invalid_value;
      for (std::size_t i = 0; edges != nullptr && i < count; ++i) {
        const status s = check_edge(edges[i], before[i]->recipe.type, params->type);
        if (s != status::success) return s;
      }
      if (params->type == cudaGraphNodeTypeConditional) {
        return conditional_recipe(params->conditional, *graph, current_device());
      }
      return recipe_from(*params, current_device());
    });
    for (std::size_t i = 0; answer == cudaSuccess && edges != nullptr && i < count; ++i) {
      set_edge(before[i], *out, edges[i]);
    }
    return answer;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                    const cudaGraphNode_t* before, size_t count,
                                                    const cudaKernelNodeParams* params) {
  return as_call([&] {
    return add(out, graph, before, count, [&]() -> result<node_recipe> {
      if (params == nullptr) return status::invalid_value;
      return kernel_recipe(*params, current_device());
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                    const cudaGraphNode_t* before, size_t count,
                                                    const cudaMemcpy3DParms* params) {
  return as_call([&] {
    return add(out, graph, before, count, [&]() -> result<node_recipe> {
      if (params == nullptr) return status::invalid_value;
      return copy_recipe(*params, current_device());
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph,
                                                      const cudaGraphNode_t* before, size_t count,
                                                      void* to, const void* from, size_t bytes,
                                                      cudaMemcpyKind kind) {
  return as_call([&] {
    return add(out, graph, before, count,
               [&] { return copy_recipe(plain_copy(to, from, bytes, kind), current_device()); });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                                            const cudaGraphNode_t* before,
                                                            size_t count, const void* symbol,
                                                            const void* from, size_t bytes,
                                                            size_t offset, cudaMemcpyKind kind) {
  return as_call([&] {
    return add(out, graph, before, count, [&] {
      return to_symbol_recipe(symbol, from, bytes, offset, kind, current_device());
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeFromSymbol(
    cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* before, size_t count, void* to,
    const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return as_call([&] {
    return add(out, graph, before, count, [&] {
      return from_symbol_recipe(to, symbol, bytes, offset, kind, current_device());
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                    const cudaGraphNode_t* before, size_t count,
                                                    const cudaMemsetParams* params) {
  return as_call([&] {
    return add(out, graph, before, count, [&]() -> result<node_recipe> {
      if (params == nullptr) return status::invalid_value;
      return fill_recipe(*params, current_device());
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                  const cudaGraphNode_t* before, size_t count,
                                                  const cudaHostNodeParams* params) {
  return as_call([&] {
    return add(out, graph, before, count, [&]() -> result<node_recipe> {
      if (params == nullptr || params->fn == nullptr) return status::invalid_value;
      return host_recipe(*params, current_device());
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddChildGraphNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                        const cudaGraphNode_t* before, size_t count,
                                                        cudaGraph_t child) {
  return as_call(
      [&] { return add(out, graph, before, count, [&] { return child_recipe(child); }); });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                   const cudaGraphNode_t* before, size_t count) {
  return as_call([&] {
    return add(out, graph, before, count, [&]() -> result<node_recipe> {
      node_recipe empty;
      empty.device = current_device();
      return empty;
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddEventRecordNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                         const cudaGraphNode_t* before,
                                                         size_t count, cudaEvent_t handle) {
  return as_call([&] {
    return add(out, graph, before, count, [&]() -> result<node_recipe> {
      const auto event = resolve(handle);
      if (!event) return status::invalid_value;  // graph_answers.tsv graph.event.null.*
      return event_recipe(cudaGraphNodeTypeEventRecord, **event, (*event)->device);
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddEventWaitNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                       const cudaGraphNode_t* before, size_t count,
                                                       cudaEvent_t handle) {
  return as_call([&] {
    return add(out, graph, before, count, [&]() -> result<node_recipe> {
      const auto event = resolve(handle);
      if (!event) return status::invalid_value;  // graph_answers.tsv graph.event.null.*
      return event_recipe(cudaGraphNodeTypeWaitEvent, **event, current_device());
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddMemAllocNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                      const cudaGraphNode_t* before, size_t count,
                                                      cudaMemAllocNodeParams* params) {
  return as_call([&] {
    return add(out, graph, before, count, [&]() -> result<node_recipe> {
      if (params == nullptr) return status::invalid_value;
      return alloc_recipe(*params);
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddMemFreeNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                     const cudaGraphNode_t* before, size_t count,
                                                     void* pointer) {
  return as_call([&] {
    return add(out, graph, before, count, [&] { return free_recipe(pointer, current_device()); });
  });
}

}  // namespace sb::cudart
