// From the parameters of a node to what it does.
#include "cudart/capture.hpp"
#include "cudart/graph.hpp"
#include "cudart/operations.hpp"
#include "engine/images.hpp"

namespace sb::cudart {
namespace {

cudaMemcpyKind kind_of(copy_direction direction) {
  switch (direction) {
    case copy_direction::host_to_device:
      return cudaMemcpyHostToDevice;
    case copy_direction::device_to_host:
      return cudaMemcpyDeviceToHost;
    case copy_direction::host_to_host:
      return cudaMemcpyHostToHost;
    default:
      return cudaMemcpyDeviceToDevice;
  }
}

copy_node describe(const engine::copy_operation& copy) {
  copy_node node;
  cudaMemcpy3DParms& p = node.params;
  const auto rows = [](std::size_t slice, std::size_t pitch, std::size_t height) {
    return pitch != 0 && slice != 0 ? slice / pitch : height;
  };
  p.srcPtr = {const_cast<void*>(copy.source), copy.source_pitch ? copy.source_pitch : copy.width,
              copy.width, rows(copy.source_slice, copy.source_pitch, copy.height)};
  p.dstPtr = {copy.destination, copy.destination_pitch ? copy.destination_pitch : copy.width,
              copy.width, rows(copy.destination_slice, copy.destination_pitch, copy.height)};
  p.extent = {copy.width, copy.height, copy.depth};
  p.kind = kind_of(copy.direction);
  return node;
}

fill_node describe(const engine::fill_operation& fill) {
  fill_node node;
  node.params.dst = fill.destination;
  node.params.pitch = fill.pitch;
  node.params.value = fill.value;
  node.params.elementSize = fill.element_size;
  node.params.width = fill.width;
  node.params.height = fill.height;
  return node;
}

node_recipe recipe_of(cudaGraphNodeType type, node_detail detail, engine::operation what,
                      device_id device) {
  node_recipe recipe;
  recipe.type = type;
  recipe.detail = std::move(detail);
  recipe.what = std::move(what);
  recipe.device = device;
  return recipe;
}

}  // namespace

engine::host_operation host_operation_of(const cudaHostNodeParams& params) {
  engine::host_operation host;
  host.call = [function = params.fn, data = params.userData](status s) {
    if (s == status::success) function(data);
  };
  return host;
}

node_recipe recipe_of(engine::operation what, const CUstream_st& stream) {
  node_recipe recipe;
  recipe.device = stream.device;
  recipe.priority = static_cast<std::int8_t>(stream.priority);
  if (const auto* copy = std::get_if<engine::copy_operation>(&what)) {
    recipe.type = cudaGraphNodeTypeMemcpy;
    recipe.detail = describe(*copy);
  } else if (const auto* fill = std::get_if<engine::fill_operation>(&what)) {
    recipe.type = cudaGraphNodeTypeMemset;
    recipe.detail = describe(*fill);
  } else if (std::holds_alternative<engine::kernel_operation>(what)) {
    recipe.type = cudaGraphNodeTypeKernel;
    recipe.detail = kernel_node{};
  } else if (std::holds_alternative<engine::host_operation>(what)) {
    recipe.type = cudaGraphNodeTypeHost;
    recipe.detail = host_node{};
  }
  recipe.what = std::move(what);
  return recipe;
}

node_recipe host_recipe(const cudaHostNodeParams& params, device_id device) {
  return recipe_of(cudaGraphNodeTypeHost, host_node{params}, host_operation_of(params), device);
}

node_recipe event_recipe(cudaGraphNodeType type, CUevent_st& event, device_id device) {
  node_recipe recipe;
  recipe.type = type;
  recipe.detail = event_node{&event, event.state};
  // A wait looks for its record when the graph is launched.
  if (type == cudaGraphNodeTypeEventRecord) recipe.what = engine::record_operation{event.state};
  recipe.device = device;
  return recipe;
}

result<node_recipe> kernel_recipe(const cudaKernelNodeParams& params, device_id device) {
  auto operation = kernel_operation_of(params, device);
  if (!operation) return operation.error();
  kernel_node detail;
  detail.params = params;
  detail.params.kernelParams = nullptr;
  detail.params.extra = nullptr;
  return recipe_of(cudaGraphNodeTypeKernel, std::move(detail), std::move(*operation), device);
}

result<node_recipe> copy_recipe(const cudaMemcpy3DParms& params, device_id device) {
  // CUDA: of one line the pitch is no shape; graph_symbols.tsv params.*.pitch4
  const auto is_short = [&](const cudaPitchedPtr& p) {
    return p.pitch != 0 && p.pitch < params.extent.width;
  };
  if (params.extent.height == 1 && params.extent.depth == 1 &&
      (is_short(params.dstPtr) || is_short(params.srcPtr))) {
    return status::invalid_value;
  }
  auto operation = copy_operation_of(params, device);
  if (!operation) return operation.error();
  // CUDA: a node has something to copy; graph_answers.tsv graph.memcpy.zero.*
  const auto& copy = std::get<engine::copy_operation>(*operation);
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) return status::invalid_value;
  return recipe_of(cudaGraphNodeTypeMemcpy, copy_node{params}, std::move(*operation), device);
}

result<node_recipe> fill_recipe(const cudaMemsetParams& params, device_id device) {
  auto operation = fill_operation_of(params, device);
  if (!operation) return operation.error();
  return recipe_of(cudaGraphNodeTypeMemset, fill_node{params}, std::move(*operation), device);
}

result<node_recipe> child_recipe(cudaGraph_t graph, cudaGraphChildGraphNodeOwnership ownership) {
  if (!graphs().alive(graph)) return status::invalid_value;
  if (is_body(*graph)) return status::not_supported;  // graphs_conditional.tsv cond.body.*
  if (ownership == cudaGraphChildGraphOwnershipMove) {
    if (graph->owner != nullptr || contains(*graph, cudaGraphNodeTypeConditional)) {
      return status::invalid_value;
    }
    graph->inseparable = true;
  } else if (ownership == cudaGraphChildGraphOwnershipClone) {
    if (is_unique(*graph)) return status::not_supported;  // graphs_conditional.tsv cond.as.child
    graph = clone_graph(*graph);
    if (graph == nullptr) return status::memory_allocation;
  } else {
    return status::invalid_value;
  }
  node_recipe recipe;
  recipe.type = cudaGraphNodeTypeGraph;
  recipe.detail = child_node{graph};
  recipe.device = current_device();
  return recipe;
}

result<node_recipe> recipe_from(cudaGraphNodeParams& params, device_id device) {
  switch (params.type) {
    case cudaGraphNodeTypeKernel: {
      const auto& k = params.kernel;
      return kernel_recipe(
          {k.func, k.gridDim, k.blockDim, k.sharedMemBytes, k.kernelParams, k.extra}, device);
    }
    case cudaGraphNodeTypeMemcpy:
      return copy_recipe(params.memcpy.copyParams, device);
    case cudaGraphNodeTypeMemset: {
      const auto& m = params.memset;
      return fill_recipe({m.dst, m.pitch, m.value, m.elementSize, m.width, m.height}, device);
    }
    case cudaGraphNodeTypeHost:
      if (params.host.fn == nullptr) return status::invalid_value;
      return host_recipe({params.host.fn, params.host.userData}, device);
    case cudaGraphNodeTypeGraph:
      return child_recipe(params.graph.graph, params.graph.ownership);
    case cudaGraphNodeTypeEmpty: {
      node_recipe empty;
      empty.device = device;
      return empty;
    }
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord: {
      const auto event =
          resolve(params.type == cudaGraphNodeTypeWaitEvent ? params.eventWait.event
                                                            : params.eventRecord.event);
      if (!event) return status::invalid_value;
      return event_recipe(params.type, **event, device);
    }
    case cudaGraphNodeTypeMemAlloc: {
      auto& a = params.alloc;
      cudaMemAllocNodeParams plain{a.poolProps, a.accessDescs, a.accessDescCount, a.bytesize,
                                   nullptr};
      auto recipe = alloc_recipe(plain);
      a.dptr = plain.dptr;
      return recipe;
    }
    case cudaGraphNodeTypeMemFree:
      return free_recipe(params.free.dptr, device);
    default:
      return status::invalid_value;  // graphs.tsv nodes.add.type99
  }
}

cudaMemcpy3DParms plain_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms params{};
  // Told without pitch and rows; graphs_nodes.tsv nodes.copy.get.is
  params.srcPtr = {const_cast<void*>(from), 0, 0, 0};
  params.dstPtr = {to, 0, 0, 0};
  params.extent = {bytes, 1, 1};
  params.kind = kind;
  return params;
}

namespace {

result<char*> symbol_address(const void* symbol, std::size_t offset, std::size_t bytes,
                             device_id device) {
  const auto variable = engine::find_variable(symbol, device);
  if (!variable) return variable.error();
  if (offset > variable->bytes || bytes > variable->bytes - offset) return status::invalid_value;
  return static_cast<char*>(variable->address) + offset;
}

}  // namespace

// CUDA: a symbol is the device's; graph_symbols.tsv add.*, set.*, exec.*
result<node_recipe> to_symbol_recipe(const void* symbol, const void* from, std::size_t bytes,
                                     std::size_t offset, cudaMemcpyKind kind, device_id device) {
  const auto to = symbol_address(symbol, offset, bytes, device);
  if (!to) return to.error();
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost) {
    return status::invalid_memcpy_direction;
  }
  return copy_recipe(plain_copy(*to, from, bytes, kind), device);
}

result<node_recipe> from_symbol_recipe(void* to, const void* symbol, std::size_t bytes,
                                       std::size_t offset, cudaMemcpyKind kind, device_id device) {
  const auto from = symbol_address(symbol, offset, bytes, device);
  if (!from) return from.error();
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice) {
    return status::invalid_memcpy_direction;
  }
  return copy_recipe(plain_copy(to, *from, bytes, kind), device);
}

}  // namespace sb::cudart
