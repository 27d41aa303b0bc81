// Conditional nodes: handles, bodies, and what a body may hold.
#include <algorithm>

#include "cudart/graph.hpp"

namespace sb::cudart {
namespace {

// Handles are addresses that kernels write to: their places stay mapped for the life of the
// process.
using condition_table = handle_table<condition, std::size_t{1} << 20>;
condition_table& conditions() {
  static auto* table = new condition_table;
  return *table;
}

std::shared_ptr<condition> make_condition() {
  condition* c = conditions().create();
  if (c == nullptr) return nullptr;
  return {c, [](condition* gone) { conditions().destroy(gone); }};
}

void note_used(const CUgraph_st& graph, std::vector<const condition*>& used) {
  for (cudaGraphNode_t node : graph.nodes) {
    if (const auto* conditional = std::get_if<conditional_node>(&node->recipe.detail)) {
      used.push_back(conditional->handle.get());
    }
    for (cudaGraph_t inner : inner_graphs(node->recipe)) note_used(*inner, used);
  }
}

// CUDA: a handle belongs to a node of the graph it was made for, or of a graph inside of that.
// Null when it is of another graph, or another node has it.
std::shared_ptr<condition> find_condition(cudaGraphConditionalHandle handle,
                                          const CUgraph_st& graph) {
  for (const CUgraph_st* g = &graph; g != nullptr;
       g = g->owner != nullptr ? g->owner->graph : nullptr) {
    for (const auto& c : g->conditions) {
      if (reinterpret_cast<cudaGraphConditionalHandle>(c.get()) != handle) continue;
      std::vector<const condition*> used;
      note_used(*g, used);
      return std::find(used.begin(), used.end(), c.get()) == used.end() ? c : nullptr;
    }
  }
  return nullptr;
}

bool valid_size(cudaGraphConditionalNodeType type, unsigned size) {
  switch (type) {
    case cudaGraphCondTypeIf:
      return size == 1 || size == 2;
    case cudaGraphCondTypeWhile:
      return size == 1;
    case cudaGraphCondTypeSwitch:
      return size >= 1;
  }
  return false;
}

bool allowed_in_bodies(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
    case cudaGraphNodeTypeMemcpy:
    case cudaGraphNodeTypeMemset:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeConditional:
      return true;
    default:
      return false;
  }
}

bool all_used(const CUgraph_st& graph, const std::vector<const condition*>& used) {
  for (const auto& c : graph.conditions) {
    if (std::find(used.begin(), used.end(), c.get()) == used.end()) return false;
  }
  for (cudaGraphNode_t node : graph.nodes) {
    for (cudaGraph_t inner : inner_graphs(node->recipe)) {
      if (!all_used(*inner, used)) return false;
    }
  }
  return true;
}

}  // namespace

result<node_recipe> conditional_recipe(cudaConditionalNodeParams& params, const CUgraph_st& graph,
                                       device_id device) {
  const std::shared_ptr<condition> handle = find_condition(params.handle, graph);
  if (!handle || !valid_size(params.type, params.size)) return status::invalid_value;
  conditional_node detail;
  detail.handle = handle;
  detail.type = params.type;
  node_recipe recipe;
  recipe.type = cudaGraphNodeTypeConditional;
  recipe.device = device;
  for (unsigned i = 0; i < params.size; ++i) {
    CUgraph_st* body = create_graph();
    if (body == nullptr) {
      for (cudaGraph_t made : detail.bodies) destroy_graph(*made);
      return status::memory_allocation;
    }
    body->inseparable = true;
    detail.bodies.push_back(body);
  }
  // The node keeps the array where it is: moving a recipe does not move it.
  params.phGraph_out = detail.bodies.data();
  recipe.detail = std::move(detail);
  return recipe;
}

cudaGraphNode_t forbidden_in_bodies(const CUgraph_st& graph) {
  for (cudaGraphNode_t node : graph.nodes) {
    if (!allowed_in_bodies(node->recipe.type)) return node;
    for (cudaGraph_t inner : inner_graphs(node->recipe)) {
      if (cudaGraphNode_t bad = forbidden_in_bodies(*inner)) return bad;
    }
  }
  return nullptr;
}

bool has_unused_condition(const CUgraph_st& graph) {
  std::vector<const condition*> used;
  note_used(graph, used);
  return !all_used(graph, used);
}

SB_API cudaError_t CUDARTAPI cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* out,
                                                              cudaGraph_t graph, unsigned at_launch,
                                                              unsigned flags) {
  return entry(call_kind::device, [&]() -> status {
    if (out == nullptr || !graphs().alive(graph)) return status::invalid_value;
    if ((flags & ~unsigned{cudaGraphCondAssignDefault}) != 0) return status::invalid_value;
    std::shared_ptr<condition> c = make_condition();
    if (!c) return status::memory_allocation;
    c->at_launch = at_launch;
    c->flags = flags;
    *out = reinterpret_cast<cudaGraphConditionalHandle>(c.get());
    graph->conditions.push_back(std::move(c));
    return status::success;
  });
}

}  // namespace sb::cudart
