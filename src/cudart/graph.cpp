// Graphs: making, shape, edges, clones.
#include "cudart/graph.hpp"
#include "cudart/call_name.hpp"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <unordered_set>

namespace sb::cudart {
namespace {

// Hands out a list as CUDA does: without a place for it, only its length; with one, as many as fit,
// and null for the rest of the place.
template <class T>
void hand_out(const std::vector<T>& all, T* out, std::size_t* count) {
  if (out == nullptr) {
    *count = all.size();
    return;
  }
  for (std::size_t i = 0; i < *count; ++i) out[i] = i < all.size() ? all[i] : T{};
  *count = std::min(*count, all.size());
}

bool belongs(const CUgraph_st* graph, cudaGraphNode_t node) {
  return nodes().alive(node) && node->graph == graph;
}

void connect(cudaGraphNode_t from, cudaGraphNode_t to) {
  to->before.push_back(from);
  from->after.push_back(to);
}

bool connected(cudaGraphNode_t from, cudaGraphNode_t to) {
  return std::find(to->before.begin(), to->before.end(), from) != to->before.end();
}

void destroy_node(CUgraphNode_st& node) {
  destroy_inner_graphs(node.recipe);
  nodes().destroy(&node);
}

bool plain(const cudaGraphEdgeData& data) {
  return data.from_port == 0 && data.to_port == 0 && data.type == 0;
}

cudaGraphEdgeData data_of(cudaGraphNode_t from, cudaGraphNode_t to) {
  const auto found = to->edge_data.find(from);
  return found != to->edge_data.end() ? found->second : cudaGraphEdgeData{};
}

void disconnect(cudaGraphNode_t from, cudaGraphNode_t to) {
  std::erase(to->before, from);
  std::erase(from->after, to);
  to->edge_data.erase(from);
}

// The data of a list of edges. CUDA: without a place for it, edges that are not plain are not
// listed (documented, not recorded).
status hand_out_data(const std::vector<cudaGraphEdgeData>& all, const void* listed,
                     cudaGraphEdgeData* out, std::size_t count) {
  if (listed == nullptr) return status::success;
  if (out == nullptr) {
    return std::all_of(all.begin(), all.end(), plain) ? status::success : status::lossy_query;
  }
  for (std::size_t i = 0; i < count; ++i) out[i] = i < all.size() ? all[i] : cudaGraphEdgeData{};
  return status::success;
}

// One body for the two calls that list neighbours of nodes.
template <class List, class Data>
cudaError_t list_neighbours(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* edges,
                            size_t* count, List&& list, Data&& data) {
  return entry(call_kind::plain, [&]() -> status {
    if (count == nullptr || !nodes().alive(node)) return status::invalid_value;
    std::vector<cudaGraphEdgeData> all;
    for (cudaGraphNode_t other : list(*node)) all.push_back(data(other));
    if (const status s = hand_out_data(all, out, edges, *count); s != status::success) return s;
    hand_out(list(*node), out, count);
    return status::success;
  });
}

}  // namespace

graph_table& graphs() {
  static auto* table = new graph_table;
  return *table;
}
node_table& nodes() {
  static auto* table = new node_table;
  return *table;
}

std::vector<cudaGraph_t> inner_graphs(const node_recipe& recipe) {
  if (const auto* child = std::get_if<child_node>(&recipe.detail)) return {child->graph};
  if (const auto* conditional = std::get_if<conditional_node>(&recipe.detail)) {
    return conditional->bodies;
  }
  return {};
}

void destroy_inner_graphs(const node_recipe& recipe) {
  for (cudaGraph_t inner : inner_graphs(recipe)) {
    if (inner != nullptr) destroy_graph(*inner);
  }
}

bool contains(const CUgraph_st& graph, cudaGraphNodeType type) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](cudaGraphNode_t node) {
    if (node->recipe.type == type) return true;
    const std::vector<cudaGraph_t> inner = inner_graphs(node->recipe);
    return std::any_of(inner.begin(), inner.end(),
                       [&](cudaGraph_t g) { return contains(*g, type); });
  });
}

std::size_t count_nodes(const CUgraph_st& graph) {
  std::size_t count = graph.nodes.size();
  for (cudaGraphNode_t node : graph.nodes)
    for (cudaGraph_t inner : inner_graphs(node->recipe)) count += count_nodes(*inner);
  return count;
}

void spend_on_nodes(std::size_t count, double node_timing::* each) {
  if (const timing_profile* timing = the_engine().timing())
    the_engine().spend(static_cast<double>(count) * timing->node.*each);
}

CUgraph_st* create_graph() {
  static std::atomic<std::uint64_t> newest{0};
  CUgraph_st* graph = graphs().create();
  if (graph != nullptr) graph->number = newest.fetch_add(1, std::memory_order_relaxed) + 1;
  return graph;
}

void destroy_graph(CUgraph_st& graph) {
  graphs().destroy(&graph, [](CUgraph_st& g) {
    for (cudaGraphNode_t node : g.nodes) destroy_node(*node);
    release_objects(g);
  });
}

status check_plain(const cudaGraphEdgeData* edges, std::size_t count) {
  const bool all = edges == nullptr || std::all_of(edges, edges + count, plain);
  return all ? status::success : status::invalid_value;
}

// CUDA: only kernels have ports, and a programmatic edge is between two of them; documented, not
// recorded.
status check_edge(const cudaGraphEdgeData& data, cudaGraphNodeType from, cudaGraphNodeType to) {
  const bool reserved = std::any_of(std::begin(data.reserved), std::end(data.reserved),
                                    [](unsigned char c) { return c != 0; });
  if (reserved || data.to_port != 0) return status::invalid_value;
  if (data.from_port != cudaGraphKernelNodePortDefault && from != cudaGraphNodeTypeKernel) {
    return status::invalid_value;
  }
  const bool completion = data.from_port == cudaGraphKernelNodePortLaunchCompletion;
  switch (data.type) {
    case cudaGraphDependencyTypeDefault:
      return data.from_port == cudaGraphKernelNodePortDefault || completion ? status::success
                                                                            : status::invalid_value;
    case cudaGraphDependencyTypeProgrammatic:
      return (completion || data.from_port == cudaGraphKernelNodePortProgrammatic) &&
                     to == cudaGraphNodeTypeKernel
                 ? status::success
                 : status::invalid_value;
    default:
      return status::invalid_value;
  }
}

void set_edge(cudaGraphNode_t from, cudaGraphNode_t to, const cudaGraphEdgeData& data) {
  if (!plain(data)) to->edge_data[from] = data;
}

// What is asked of the edges between `from` and `to`: to be there already, or not yet.
enum class edge { present, absent };

status check_pairs(const CUgraph_st* graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                   const cudaGraphEdgeData* edges, std::size_t count, edge wanted) {
  if (!graphs().alive(graph)) return status::invalid_value;
  if (count != 0 && (from == nullptr || to == nullptr)) return status::invalid_value;
  for (std::size_t i = 0; i < count; ++i) {
    if (!belongs(graph, from[i]) || !belongs(graph, to[i])) return status::invalid_value;
    if (from[i] == to[i]) return status::invalid_value;
    if (connected(from[i], to[i]) != (wanted == edge::present)) return status::invalid_value;
    const cudaGraphEdgeData data = edges != nullptr ? edges[i] : cudaGraphEdgeData{};
    const status s = check_edge(data, from[i]->recipe.type, to[i]->recipe.type);
    if (s != status::success) return s;
    // An edge with other data is another edge; without data any is meant: graphs_nodes.tsv
    // edge.remove.nodata
    const cudaGraphEdgeData there = data_of(from[i], to[i]);
    if (wanted == edge::present && edges != nullptr &&
        (data.from_port != there.from_port || data.type != there.type)) {
      return status::invalid_value;
    }
  }
  return status::success;
}

cudaGraphNode_t append_node(CUgraph_st& graph, node_recipe recipe,
                            const std::vector<cudaGraphNode_t>& before) {
  cudaGraphNode_t node = nodes().create();
  if (node == nullptr) return nullptr;
  node->graph = &graph;
  node->order = graph.next_order++;
  node->recipe = std::move(recipe);
  for (cudaGraphNode_t earlier : before) connect(earlier, node);
  for (cudaGraph_t inner : inner_graphs(node->recipe)) inner->owner = node;
  graph.nodes.push_back(node);
  return node;
}

// A recipe of its own for a clone's node: with clones of the graphs inside. False when there is no
// room.
bool copy_inner_graphs(node_recipe& recipe) {
  const auto own = [](cudaGraph_t& graph) {
    const bool inseparable = graph->inseparable;
    graph = clone_graph(*graph);
    if (graph != nullptr) graph->inseparable = inseparable;
    return graph != nullptr;
  };
  if (auto* child = std::get_if<child_node>(&recipe.detail)) return own(child->graph);
  if (auto* conditional = std::get_if<conditional_node>(&recipe.detail)) {
    for (std::size_t i = 0; i < conditional->bodies.size(); ++i) {
      if (own(conditional->bodies[i])) continue;
      conditional->bodies.resize(i);  // the rest is the original's
      return false;
    }
  }
  return true;
}

CUgraph_st* clone_graph(const CUgraph_st& graph) {
  CUgraph_st* clone = create_graph();
  if (clone == nullptr) return nullptr;
  clone->cloned_from = const_cast<CUgraph_st*>(&graph);
  clone->conditions = graph.conditions;
  std::unordered_map<const CUgraphNode_st*, cudaGraphNode_t> twin;
  for (cudaGraphNode_t node : graph.nodes) {
    node_recipe recipe = node->recipe;
    const bool copied = copy_inner_graphs(recipe);
    cudaGraphNode_t copy = copied ? append_node(*clone, recipe, {}) : nullptr;
    if (copy == nullptr) {
      destroy_inner_graphs(recipe);
      destroy_graph(*clone);
      return nullptr;
    }
    copy->cloned_from = node;
    copy->enabled = node->enabled;
    twin[node] = copy;
  }
  for (cudaGraphNode_t node : graph.nodes) {
    for (cudaGraphNode_t earlier : node->before) {
      connect(twin[earlier], twin[node]);
      set_edge(twin[earlier], twin[node], data_of(earlier, node));
    }
  }
  for (const auto& [object, count] : graph.objects) retain(*clone, object, count);
  return clone;
}

result<std::vector<cudaGraphNode_t>> in_order(const CUgraph_st& graph) {
  std::unordered_map<cudaGraphNode_t, std::size_t> missing;
  std::vector<cudaGraphNode_t> ready;
  for (cudaGraphNode_t node : graph.nodes) {
    missing[node] = node->before.size();
    if (node->before.empty()) ready.push_back(node);
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    for (cudaGraphNode_t later : ready[next]->after) {
      if (--missing[later] == 0) ready.push_back(later);
    }
  }
  if (ready.size() != graph.nodes.size()) return status::invalid_value;
  return ready;
}

SB_API cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t* out, unsigned flags) {
  return entry(call_kind::light, [&]() -> status {
    if (out == nullptr || flags != 0) return status::invalid_value;
    CUgraph_st* graph = create_graph();
    if (graph == nullptr) return status::memory_allocation;
    *out = graph;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph) {
  return entry(call_kind::light, [&]() -> status {
    if (!graphs().alive(graph) || graph->owner != nullptr) return status::invalid_value;
    const std::size_t count = count_nodes(*graph);
    destroy_graph(*graph);
    spend_on_nodes(count, &node_timing::destroy_ns);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphClone(cudaGraph_t* out, cudaGraph_t original) {
  return entry(call_kind::light, [&]() -> status {
    if (out == nullptr || !graphs().alive(original)) return status::invalid_value;
    // graphs_conditional.tsv cond.clone, cond.body.clone
    if (is_unique(*original) || is_body(*original)) return status::not_supported;
    CUgraph_st* clone = clone_graph(*original);
    if (clone == nullptr) return status::memory_allocation;
    spend_on_nodes(count_nodes(*clone), &node_timing::clone_ns);
    *out = clone;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphNodeFindInClone(cudaGraphNode_t* out,
                                                      cudaGraphNode_t original, cudaGraph_t clone) {
  return entry(call_kind::plain, [&]() -> status {
    if (out == nullptr || !nodes().alive(original) || !graphs().alive(clone)) {
      return status::invalid_value;
    }
    for (cudaGraphNode_t node : clone->nodes) {
      if (node->cloned_from == original && clone->cloned_from == original->graph) {
        *out = node;
        return status::success;
      }
    }
    return status::invalid_value;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphDestroyNode(cudaGraphNode_t node) {
  return entry(call_kind::light, [&]() -> status {
    if (!nodes().alive(node)) return status::invalid_value;
    if (owns_memory(*node->graph)) return status::not_supported;  // documented, not recorded
    for (cudaGraphNode_t earlier : node->before) std::erase(earlier->after, node);
    for (cudaGraphNode_t later : node->after) {
      std::erase(later->before, node);
      later->edge_data.erase(node);
    }
    std::erase(node->graph->nodes, node);
    destroy_node(*node);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t graph,
                                                      const cudaGraphNode_t* from,
                                                      const cudaGraphNode_t* to,
                                                      const cudaGraphEdgeData* edges,
                                                      size_t count) {
  return entry(call_kind::light, [&]() -> status {
    if (const status s = check_pairs(graph, from, to, edges, count, edge::absent);
        s != status::success)
      return s;
    // A cycle is noticed when the graph is instantiated; capture.tsv dep.cycle.*
    for (size_t i = 0; i < count; ++i) {
      connect(from[i], to[i]);
      if (edges != nullptr) set_edge(from[i], to[i], edges[i]);
    }
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t graph,
                                                         const cudaGraphNode_t* from,
                                                         const cudaGraphNode_t* to,
                                                         const cudaGraphEdgeData* edges,
                                                         size_t count) {
  return entry(call_kind::light, [&]() -> status {
    if (const status s = check_pairs(graph, from, to, edges, count, edge::present);
        s != status::success)
      return s;
    if (count != 0 && owns_memory(*graph)) return status::not_supported;  // as above
    for (size_t i = 0; i < count; ++i) disconnect(from[i], to[i]);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* out,
                                               size_t* count) {
  return entry(call_kind::plain, [&]() -> status {
    if (count == nullptr || !graphs().alive(graph)) return status::invalid_value;
    hand_out(graph->nodes, out, count);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* out,
                                                   size_t* count) {
  return entry(call_kind::plain, [&]() -> status {
    if (count == nullptr || !graphs().alive(graph)) return status::invalid_value;
    std::vector<cudaGraphNode_t> roots;
    for (cudaGraphNode_t node : graph->nodes) {
      if (node->before.empty()) roots.push_back(node);
    }
    // CUDA: the newest first, unlike all nodes; graph_answers.tsv graph.order.*
    std::reverse(roots.begin(), roots.end());
    hand_out(roots, out, count);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                               cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                                               size_t* count) {
  return entry(call_kind::plain, [&]() -> status {
    if (count == nullptr || !graphs().alive(graph)) return status::invalid_value;
    if ((from == nullptr) != (to == nullptr)) return status::invalid_value;
    // graphs_nodes.tsv list.edges.onlydata
    if (from == nullptr && edges != nullptr) return status::invalid_value;
    std::vector<cudaGraphNode_t> sources;
    std::vector<cudaGraphNode_t> targets;
    std::vector<cudaGraphEdgeData> data;
    for (cudaGraphNode_t node : graph->nodes) {
      for (cudaGraphNode_t later : node->after) {
        sources.push_back(node);
        targets.push_back(later);
        data.push_back(data_of(node, later));
      }
    }
    if (const status s = hand_out_data(data, from, edges, *count); s != status::success) return s;
    std::size_t length = *count;
    hand_out(sources, from, &length);
    hand_out(targets, to, count);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                          cudaGraphNode_t* out,
                                                          cudaGraphEdgeData* edges, size_t* count) {
  return as_call([&] {
    return list_neighbours(
        node, out, edges, count, [](const CUgraphNode_st& n) -> auto& { return n.before; },
        [&](cudaGraphNode_t earlier) { return data_of(earlier, node); });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                            cudaGraphNode_t* out,
                                                            cudaGraphEdgeData* edges,
                                                            size_t* count) {
  return as_call([&] {
    return list_neighbours(
        node, out, edges, count, [](const CUgraphNode_st& n) -> auto& { return n.after; },
        [&](cudaGraphNode_t later) { return data_of(node, later); });
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return entry(call_kind::plain, [&]() -> status {
    if (type == nullptr || !nodes().alive(node)) return status::invalid_value;
    *type = node->recipe.type;
    return status::success;
  });
}

}  // namespace sb::cudart
