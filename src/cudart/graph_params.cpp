// Parameters of nodes: asking for them, and changing them in a graph or in an executable.
#include <algorithm>
#include <type_traits>

#include "cudart/call_name.hpp"
#include "cudart/graph.hpp"
#include "cudart/operations.hpp"

namespace sb::cudart {
namespace {

// Reads the detail of a node of the right kind.
template <class Detail, class Read>
cudaError_t get(cudaGraphNode_t node, const void* out, Read&& read) {
  return entry(call_kind::plain, [&]() -> status {
    if (out == nullptr || !nodes().alive(node)) return status::invalid_value;
    auto* detail = std::get_if<Detail>(&node->recipe.detail);
    if (detail == nullptr) return status::invalid_value;
    if constexpr (std::is_same_v<decltype(read(*detail)), status>) {
      return read(*detail);
    } else {
      read(*detail);
      return status::success;
    }
  });
}

// Changes a node of a graph: later instantiations see it.
template <class Make>
cudaError_t set(cudaGraphNode_t node, Make&& make) {
  return entry(call_kind::device, [&]() -> status {
    if (!nodes().alive(node)) return status::invalid_value;
    result<node_recipe> recipe = make(node->recipe.device);
    if (!recipe) return recipe.error();
    return replace_recipe(*node, std::move(*recipe));
  });
}

// Changes the node's copy in an executable: later launches see it, the graph does not.
template <class Make>
cudaError_t set(cudaGraphExec_t exec, cudaGraphNode_t node, Make&& make) {
  return entry(call_kind::device, [&]() -> status {
    if (!execs().alive(exec)) return status::invalid_value;
    const std::lock_guard lock(exec->mutex);
    const auto copy = find_in_exec(*exec, node);
    if (!copy) return copy.error();
    result<node_recipe> recipe = make((*copy)->recipe.device);
    if (!recipe) return recipe.error();
    if (const status s = check_change((*copy)->recipe, *recipe); s != status::success) {
      destroy_inner_graphs(*recipe);
      return s;
    }
    const status s = replace_recipe(**copy, std::move(*recipe));
    if (s == status::success) exec->stale = true;
    return s;
  });
}

// What a setter was given, as a function of the device where the node runs.
auto from(const cudaKernelNodeParams* params) {
  return [params](device_id device) -> result<node_recipe> {
    if (params == nullptr) return status::invalid_value;
    return kernel_recipe(*params, device);
  };
}
auto from(const cudaMemcpy3DParms* params) {
  return [params](device_id device) -> result<node_recipe> {
    if (params == nullptr) return status::invalid_value;
    return copy_recipe(*params, device);
  };
}
auto from(const cudaMemsetParams* params) {
  return [params](device_id device) -> result<node_recipe> {
    if (params == nullptr) return status::invalid_value;
    return fill_recipe(*params, device);
  };
}
auto from(const cudaHostNodeParams* params) {
  return [params](device_id device) -> result<node_recipe> {
    if (params == nullptr || params->fn == nullptr) return status::invalid_value;
    return host_recipe(*params, device);
  };
}
auto from(cudaGraphNodeParams* params) {
  return [params](device_id device) -> result<node_recipe> {
    if (params == nullptr) return status::invalid_value;
    return recipe_from(*params, device);
  };
}
// Nodes that record and nodes that wait have the same detail, and are two kinds.
cudaError_t get_event(cudaGraphNode_t node, cudaGraphNodeType type, cudaEvent_t* out) {
  return get<event_node>(node, out, [&](const event_node& event) -> status {
    if (node->recipe.type != type) return status::invalid_value;
    *out = event.event;
    return status::success;
  });
}
auto from(cudaGraphNodeType type, cudaEvent_t handle) {
  return [type, handle](device_id device) -> result<node_recipe> {
    const auto event = resolve(handle);
    if (!event) return status::invalid_value;  // graph_answers.tsv graph.event.null.*
    return event_recipe(type, **event, device);
  };
}
auto bytes(void* to, const void* source, size_t count, cudaMemcpyKind kind) {
  return [=](device_id device) { return copy_recipe(plain_copy(to, source, count, kind), device); };
}
auto to_symbol(const void* symbol, const void* source, size_t count, size_t offset,
               cudaMemcpyKind kind) {
  return [=](device_id device) {
    return to_symbol_recipe(symbol, source, count, offset, kind, device);
  };
}
auto from_symbol(void* to, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind) {
  return
      [=](device_id device) { return from_symbol_recipe(to, symbol, count, offset, kind, device); };
}

// CUDA: parameters for another kind of node are wrong, and some kinds never change; documented, not
// recorded.
status check_generic(cudaGraphNode_t node, const cudaGraphNodeParams* params) {
  if (params == nullptr || !nodes().alive(node)) return status::invalid_value;
  if (params->type != node->recipe.type) return status::invalid_value;
  switch (params->type) {
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
    case cudaGraphNodeTypeConditional:
      return status::not_supported;
    default:
      return status::success;
  }
}

// managed.tsv attribute.window.*
bool is_valid(const cudaAccessPolicyWindow& window, device_id device) {
  const auto most = the_engine().profile(device).access_policy_window_bytes;
  return window.num_bytes <= static_cast<std::size_t>(most) && window.hitRatio >= 0 &&
         window.hitRatio <= 1 && window.missProp != cudaAccessPropertyPersisting;
}

// CUDA: attributes that say how a launch meets its stream are not a node's; graphs.tsv nodes.attr.*
bool known_attribute(cudaLaunchAttributeID id) {
  switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeCooperative:
    case cudaLaunchAttributeClusterDimension:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      return true;
    default:
      return false;
  }
}

// Attributes that change what the node does.
void apply(CUgraphNode_st& node, const cudaLaunchAttribute& attribute) {
  if (attribute.id == cudaLaunchAttributePriority) {
    node.recipe.priority = static_cast<std::int8_t>(attribute.val.priority);
  }
  if (attribute.id == cudaLaunchAttributeCooperative) {
    auto& kernel = std::get<engine::kernel_operation>(node.recipe.what);
    kernel.cooperative = attribute.val.cooperative != 0;
  }
}

}  // namespace

status replace_recipe(CUgraphNode_st& node, node_recipe recipe) {
  if (recipe.type != node.recipe.type) {
    destroy_inner_graphs(recipe);
    return status::invalid_value;
  }
  destroy_inner_graphs(node.recipe);
  std::vector<cudaLaunchAttribute> attributes;
  if (auto* old = std::get_if<kernel_node>(&node.recipe.detail)) attributes = old->attributes;
  recipe.priority = node.recipe.priority;
  node.recipe = std::move(recipe);
  for (cudaGraph_t inner : inner_graphs(node.recipe)) inner->owner = &node;
  if (auto* kernel = std::get_if<kernel_node>(&node.recipe.detail)) {
    kernel->attributes = std::move(attributes);
    for (const cudaLaunchAttribute& a : kernel->attributes) apply(node, a);
  }
  return status::success;
}

SB_API cudaError_t CUDARTAPI cudaGraphNodeSetParams(cudaGraphNode_t node,
                                                    cudaGraphNodeParams* params) {
  return as_call([&]() -> cudaError_t {
    if (const status s = check_generic(node, params); s != status::success) return answer(s);
    return set(node, from(params));
  });
}
SB_API cudaError_t CUDARTAPI cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        cudaGraphNodeParams* params) {
  return as_call([&]() -> cudaError_t {
    if (const status s = check_generic(node, params); s != status::success) return answer(s);
    if (params->type == cudaGraphNodeTypeGraph) {
      return cudaGraphExecChildGraphNodeSetParams(exec, node, params->graph.graph);
    }
    return set(exec, node, from(params));
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                          cudaKernelNodeParams* out) {
  return as_call([&] {
    return get<kernel_node>(node, out, [&](kernel_node& kernel) {
      auto& operation = std::get<engine::kernel_operation>(node->recipe.what);
      kernel.argument_pointers.clear();
      for (std::uint32_t i = 0; i < operation.kernel->param_count; ++i) {
        kernel.argument_pointers.push_back(operation.params.data() +
                                           operation.kernel->params[i].offset);
      }
      *out = kernel.params;
      out->kernelParams = kernel.argument_pointers.data();
    });
  });
}
SB_API cudaError_t CUDARTAPI cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                          const cudaKernelNodeParams* params) {
  return as_call([&] { return set(node, from(params)); });
}
SB_API cudaError_t CUDARTAPI cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec,
                                                              cudaGraphNode_t node,
                                                              const cudaKernelNodeParams* params) {
  return as_call([&] { return set(exec, node, from(params)); });
}

SB_API cudaError_t CUDARTAPI cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node,
                                                             cudaLaunchAttributeID id,
                                                             cudaLaunchAttributeValue* out) {
  return as_call([&]() -> cudaError_t {
    if (!known_attribute(id)) return answer(status::invalid_value);
    return get<kernel_node>(node, out, [&](const kernel_node& kernel) {
      for (const cudaLaunchAttribute& a : kernel.attributes) {
        if (a.id != id) continue;
        *out = a.val;
        return;
      }
      if (id == cudaLaunchAttributeMemSyncDomainMap) {
        out->memSyncDomainMap = {0, 1};  // and leaves the rest alone: graphs.tsv nodes.attr.9
        return;
      }
      *out = {};
      if (id == cudaLaunchAttributePriority) out->priority = node->recipe.priority;
    });
  });
}
SB_API cudaError_t CUDARTAPI cudaGraphKernelNodeSetAttribute(
    cudaGraphNode_t node, cudaLaunchAttributeID id, const cudaLaunchAttributeValue* value) {
  return as_call([&]() -> cudaError_t {
    if (!known_attribute(id)) return answer(status::invalid_value);
    return get<kernel_node>(node, value, [&](kernel_node& kernel) -> status {
      if (id == cudaLaunchAttributeAccessPolicyWindow &&
          !is_valid(value->accessPolicyWindow, node->recipe.device)) {
        return status::invalid_value;
      }
      std::erase_if(kernel.attributes, [&](const cudaLaunchAttribute& a) { return a.id == id; });
      cudaLaunchAttribute a{};
      a.id = id;
      a.val = *value;
      // CUDA: brought into the device's range; graphs.tsv nodes.attr.priority.is
      if (id == cudaLaunchAttributePriority)
        a.val.priority = nearest_priority(a.val.priority, node->recipe.device);
      kernel.attributes.push_back(a);
      apply(*node, a);
      return status::success;
    });
  });
}
SB_API cudaError_t CUDARTAPI cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to,
                                                               cudaGraphNode_t source) {
  return as_call([&] {
    return get<kernel_node>(to, to, [&](kernel_node& copy) -> status {
      if (!nodes().alive(source)) return status::invalid_value;
      const auto* original = std::get_if<kernel_node>(&source->recipe.detail);
      if (original == nullptr) return status::invalid_value;
      copy.attributes = std::vector<cudaLaunchAttribute>(original->attributes);
      for (const cudaLaunchAttribute& a : copy.attributes) apply(*to, a);
      return status::success;
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                          cudaMemcpy3DParms* out) {
  return as_call([&] {
    return get<copy_node>(node, out, [&](const copy_node& copy) { *out = copy.params; });
  });
}
SB_API cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                          const cudaMemcpy3DParms* params) {
  return as_call([&] { return set(node, from(params)); });
}
SB_API cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to,
                                                            const void* source, size_t count,
                                                            cudaMemcpyKind kind) {
  return as_call([&] { return set(node, bytes(to, source, count, kind)); });
}
SB_API cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node,
                                                                  const void* symbol,
                                                                  const void* source, size_t count,
                                                                  size_t offset,
                                                                  cudaMemcpyKind kind) {
  return as_call([&] { return set(node, to_symbol(symbol, source, count, offset, kind)); });
}
SB_API cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                                    const void* symbol,
                                                                    size_t count, size_t offset,
                                                                    cudaMemcpyKind kind) {
  return as_call([&] { return set(node, from_symbol(to, symbol, count, offset, kind)); });
}
SB_API cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec,
                                                              cudaGraphNode_t node,
                                                              const cudaMemcpy3DParms* params) {
  return as_call([&] { return set(exec, node, from(params)); });
}
SB_API cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec,
                                                                cudaGraphNode_t node, void* to,
                                                                const void* source, size_t count,
                                                                cudaMemcpyKind kind) {
  return as_call([&] { return set(exec, node, bytes(to, source, count, kind)); });
}
SB_API cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsToSymbol(
    cudaGraphExec_t exec, cudaGraphNode_t node, const void* symbol, const void* source,
    size_t count, size_t offset, cudaMemcpyKind kind) {
  return as_call([&] { return set(exec, node, to_symbol(symbol, source, count, offset, kind)); });
}
SB_API cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsFromSymbol(
    cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* symbol, size_t count,
    size_t offset, cudaMemcpyKind kind) {
  return as_call([&] { return set(exec, node, from_symbol(to, symbol, count, offset, kind)); });
}

SB_API cudaError_t CUDARTAPI cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                          cudaMemsetParams* out) {
  return as_call([&] {
    return get<fill_node>(node, out, [&](const fill_node& fill) { *out = fill.params; });
  });
}
SB_API cudaError_t CUDARTAPI cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                          const cudaMemsetParams* params) {
  return as_call([&] { return set(node, from(params)); });
}
SB_API cudaError_t CUDARTAPI cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec,
                                                              cudaGraphNode_t node,
                                                              const cudaMemsetParams* params) {
  return as_call([&] { return set(exec, node, from(params)); });
}

SB_API cudaError_t CUDARTAPI cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                                        cudaHostNodeParams* out) {
  return as_call([&] {
    return get<host_node>(node, out, [&](const host_node& host) { *out = host.params; });
  });
}
SB_API cudaError_t CUDARTAPI cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                        const cudaHostNodeParams* params) {
  return as_call([&] { return set(node, from(params)); });
}
SB_API cudaError_t CUDARTAPI cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec,
                                                            cudaGraphNode_t node,
                                                            const cudaHostNodeParams* params) {
  return as_call([&] { return set(exec, node, from(params)); });
}

SB_API cudaError_t CUDARTAPI cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node,
                                                             cudaGraph_t* out) {
  return as_call([&] {
    return get<child_node>(node, out, [&](const child_node& child) { *out = child.graph; });
  });
}
SB_API cudaError_t CUDARTAPI cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node,
                                                              cudaEvent_t* out) {
  return as_call([&] { return get_event(node, cudaGraphNodeTypeEventRecord, out); });
}
SB_API cudaError_t CUDARTAPI cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node,
                                                              cudaEvent_t event) {
  return as_call([&] { return set(node, from(cudaGraphNodeTypeEventRecord, event)); });
}
SB_API cudaError_t CUDARTAPI cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec,
                                                                  cudaGraphNode_t node,
                                                                  cudaEvent_t event) {
  return as_call([&] { return set(exec, node, from(cudaGraphNodeTypeEventRecord, event)); });
}
SB_API cudaError_t CUDARTAPI cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node,
                                                            cudaEvent_t* out) {
  return as_call([&] { return get_event(node, cudaGraphNodeTypeWaitEvent, out); });
}
SB_API cudaError_t CUDARTAPI cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node,
                                                            cudaEvent_t event) {
  return as_call([&] { return set(node, from(cudaGraphNodeTypeWaitEvent, event)); });
}
SB_API cudaError_t CUDARTAPI cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec,
                                                                cudaGraphNode_t node,
                                                                cudaEvent_t event) {
  return as_call([&] { return set(exec, node, from(cudaGraphNodeTypeWaitEvent, event)); });
}

SB_API cudaError_t CUDARTAPI cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                            cudaMemAllocNodeParams* out) {
  return as_call([&] {
    return get<alloc_node>(node, out, [&](const alloc_node& alloc) { *out = alloc.params; });
  });
}
SB_API cudaError_t CUDARTAPI cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* out) {
  return as_call([&] {
    return get<free_node>(node, out,
                          [&](const free_node& free) { *static_cast<void**>(out) = free.pointer; });
  });
}

}  // namespace sb::cudart
