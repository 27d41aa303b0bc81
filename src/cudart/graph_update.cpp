// Changing what the nodes of an executable do: which changes CUDA allows, and all of them at once
// from a graph of the same shape. What an update answers: graphs.tsv update.*
#include <algorithm>
#include <unordered_map>

#include "cudart/graph.hpp"

namespace sb::cudart {
namespace {

bool multidimensional(const cudaExtent& extent) { return extent.height > 1 || extent.depth > 1; }

const engine::copy_operation& copy_of(const node_recipe& recipe) {
  return std::get<engine::copy_operation>(recipe.what);
}

// CUDA: between the same kinds of memory as before, and of one line or of several as before.
bool same_copy(const node_recipe& before, const node_recipe& now) {
  const auto rows = [](const node_recipe& recipe) {
    return multidimensional(std::get<copy_node>(recipe.detail).params.extent);
  };
  return copy_of(before).direction == copy_of(now).direction && rows(before) == rows(now);
}

// CUDA: where rows are filled only address and value change; a plain fill stays one.
bool same_fill(const cudaMemsetParams& before, const cudaMemsetParams& now) {
  if (before.height <= 1) return now.height <= 1;
  return before.width == now.width && before.height == now.height && before.pitch == now.pitch &&
         before.elementSize == now.elementSize;
}

bool cooperative(const node_recipe& recipe) {
  return std::get<engine::kernel_operation>(recipe.what).cooperative;
}

// What is wrong with a node of an executable becoming another of the same kind.
cudaGraphExecUpdateResult compare_nodes(const node_recipe& before, const node_recipe& now,
                                        bool own_priority) {
  if (std::holds_alternative<kernel_node>(before.detail)) {
    const bool kept = cooperative(before) == cooperative(now) &&
                      (!own_priority || before.priority == now.priority);
    return kept ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorAttributesChanged;
  }
  bool kept = true;
  if (std::holds_alternative<copy_node>(before.detail)) kept = same_copy(before, now);
  if (const auto* fill = std::get_if<fill_node>(&before.detail)) {
    kept = same_fill(fill->params, std::get<fill_node>(now.detail).params);
  }
  if (const auto* conditional = std::get_if<conditional_node>(&before.detail)) {
    const auto& other = std::get<conditional_node>(now.detail);
    const bool same =
        conditional->type == other.type && conditional->bodies.size() == other.bodies.size();
    return same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorNotSupported;
  }
  return kept ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorParametersChanged;
}

using places = std::unordered_map<cudaGraphNode_t, std::size_t>;

// Where the dependencies of two nodes part: the first of theirs that is not one of mine, or
// nothing.
bool same_dependencies(const CUgraphNode_st& mine, const CUgraphNode_st& theirs,
                       const places& place, graph_difference& found) {
  if (mine.before.size() != theirs.before.size()) return false;
  for (cudaGraphNode_t earlier : theirs.before) {
    const bool paired = std::any_of(mine.before.begin(), mine.before.end(), [&](cudaGraphNode_t m) {
      return place.at(m) == place.at(earlier);
    });
    if (paired) continue;
    found.from = earlier;
    return false;
  }
  return true;
}

}  // namespace

// By the order in which the nodes were made.
graph_difference compare(const CUgraph_st& mine, const CUgraph_st& theirs, bool own_priority) {
  graph_difference found;
  if (mine.nodes.size() != theirs.nodes.size()) {
    found.result = cudaGraphExecUpdateErrorTopologyChanged;
    return found;
  }
  // CUDA: then the nodes that nothing follows are counted; graph_answers.tsv
  // graph.update.kernel.edges*
  const auto is_end = [](cudaGraphNode_t node) { return node->after.empty(); };
  const auto ends = [&](const CUgraph_st& g) {
    return std::count_if(g.nodes.begin(), g.nodes.end(), is_end);
  };
  if (ends(mine) != ends(theirs)) {
    found.result = cudaGraphExecUpdateErrorTopologyChanged;
    if (ends(theirs) > ends(mine)) {
      found.node = *std::find_if(theirs.nodes.rbegin(), theirs.nodes.rend(), is_end);
    }
    return found;
  }
  places place;
  for (std::size_t i = 0; i < mine.nodes.size(); ++i) {
    place[mine.nodes[i]] = i;
    place[theirs.nodes[i]] = i;
  }
  for (std::size_t i = 0; i < mine.nodes.size(); ++i) {
    const CUgraphNode_st& old_node = *mine.nodes[i];
    const CUgraphNode_st& new_node = *theirs.nodes[i];
    found.node = theirs.nodes[i];
    if (old_node.recipe.type != new_node.recipe.type) {
      found.result = cudaGraphExecUpdateErrorNodeTypeChanged;
      return found;
    }
    if (!same_dependencies(old_node, new_node, place, found)) {
      found.result = cudaGraphExecUpdateErrorTopologyChanged;
      return found;
    }
    found.result = compare_nodes(old_node.recipe, new_node.recipe, own_priority);
    if (found.result != cudaGraphExecUpdateSuccess) return found;
    const std::vector<cudaGraph_t> inside_mine = inner_graphs(old_node.recipe);
    const std::vector<cudaGraph_t> inside_theirs = inner_graphs(new_node.recipe);
    for (std::size_t k = 0; k < inside_mine.size(); ++k) {
      const graph_difference inside = compare(*inside_mine[k], *inside_theirs[k], own_priority);
      if (inside.result != cudaGraphExecUpdateSuccess) return inside;
    }
  }
  return {};
}

void take_over(CUgraph_st& mine, const CUgraph_st& theirs) {
  mine.conditions = theirs.conditions;  // the handles that its kernels were given
  for (std::size_t i = 0; i < mine.nodes.size(); ++i) {
    node_recipe& to = mine.nodes[i]->recipe;
    const node_recipe& from = theirs.nodes[i]->recipe;
    const std::vector<cudaGraph_t> inside = inner_graphs(to);
    const std::vector<cudaGraph_t> other = inner_graphs(from);
    for (std::size_t k = 0; k < inside.size(); ++k) take_over(*inside[k], *other[k]);
    if (auto* conditional = std::get_if<conditional_node>(&to.detail)) {
      conditional->handle = std::get<conditional_node>(from.detail).handle;
    } else if (inside.empty()) {
      to = from;
    }
  }
}

status check_change(const node_recipe& before, const node_recipe& now) {
  if (before.type != now.type) return status::invalid_value;
  if (const auto* copy = std::get_if<copy_node>(&before.detail)) {
    const cudaMemcpy3DParms& next = std::get<copy_node>(now.detail).params;
    // CUDA: of one line before and after, or of the same rows; graphs_nodes.tsv exec.copy.*
    if (multidimensional(copy->params.extent) || multidimensional(next.extent)) {
      const cudaExtent &a = copy->params.extent, &b = next.extent;
      if (a.width != b.width || a.height != b.height || a.depth != b.depth) {
        return status::invalid_value;
      }
    }
    // And told with the same word; graph_answers.tsv graph.memcpy.direction.exec.*
    if (copy->params.kind != next.kind) return status::invalid_value;
    // A kind that names the sides is enough; graph_symbols.tsv exec.*.pinned.d2d
    if (next.kind != cudaMemcpyDefault) return status::success;
  }
  return compare_nodes(before, now, false) == cudaGraphExecUpdateSuccess ? status::success
                                                                         : status::invalid_value;
}

SB_API cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                                 cudaGraphExecUpdateResultInfo* info) {
  return entry(call_kind::unfailing, [&]() -> status {
    if (!execs().alive(exec) || !graphs().alive(graph) || graph->inseparable) {
      return status::invalid_value;
    }
    spend_on_nodes(count_nodes(*graph), &node_timing::update_ns);
    const std::lock_guard lock(exec->mutex);
    const bool own_priority = (exec->flags & cudaGraphInstantiateFlagUseNodePriority) != 0;
    const graph_difference difference = compare(*exec->graph, *graph, own_priority);
    if (info != nullptr) *info = {difference.result, difference.node, difference.from};
    if (difference.result != cudaGraphExecUpdateSuccess) return status::graph_exec_update_failure;
    take_over(*exec->graph, *graph);
    exec->stale = true;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec,
                                                                  cudaGraphNode_t node,
                                                                  cudaGraph_t child) {
  return entry(call_kind::device, [&]() -> status {
    if (!execs().alive(exec) || !graphs().alive(child)) return status::invalid_value;
    const std::lock_guard lock(exec->mutex);
    const auto copy = find_in_exec(*exec, node);
    if (!copy) return copy.error();
    const auto* mine = std::get_if<child_node>(&(*copy)->recipe.detail);
    if (mine == nullptr) return status::invalid_value;
    if (compare(*mine->graph, *child, false).result != cudaGraphExecUpdateSuccess) {
      return status::graph_exec_update_failure;
    }
    take_over(*mine->graph, *child);
    exec->stale = true;
    return status::success;
  });
}

}  // namespace sb::cudart
