// Graphs: nodes, edges, executables.
//
// Thread safety: CUDA lets one thread at a time work on a graph; captures into one are guarded by
// capture_mutex(), executables by their own mutex.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "cudart/context.hpp"
#include "engine/operation.hpp"
#include "model/graph_timing.hpp"

namespace sb::cudart {

struct kernel_node {
  cudaKernelNodeParams params{};  // kernelParams is not kept: it points into the caller's frame
  std::vector<cudaLaunchAttribute> attributes;
  std::vector<void*> argument_pointers;  // into the operation's parameters, for those who ask
};
struct copy_node {
  cudaMemcpy3DParms params{};
};
struct fill_node {
  cudaMemsetParams params{};
};
struct host_node {
  cudaHostNodeParams params{};
};
struct event_node {
  cudaEvent_t event = nullptr;
  std::shared_ptr<engine::event_state> state;
};
struct child_node {
  cudaGraph_t graph = nullptr;  // owned by the node
};
// What a conditional handle stands for: the handle is the address of `value`, where kernels store.
struct condition {
  engine::condition_value value{0};  // first
  unsigned at_launch = 0;
  unsigned flags = 0;
  std::uint32_t number = 0;  // among those of the outermost graph
};
struct conditional_node {
  std::shared_ptr<condition> handle;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<cudaGraph_t> bodies;  // owned by the node
};
struct alloc_node {
  cudaMemAllocNodeParams params{};
};
struct free_node {
  void* pointer = nullptr;
};

using node_detail = std::variant<std::monostate, kernel_node, copy_node, fill_node, host_node,
                                 event_node, child_node, conditional_node, alloc_node, free_node>;

// What a node is and does.
struct node_recipe {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  node_detail detail;
  engine::operation what;  // what the engine runs; a marker for nodes that only keep order
  device_id device;        // where
  std::int8_t priority = 0;
  // Lives as long as the graph or an executable made from it: memory of an allocation node.
  std::shared_ptr<void> keeps;
};

// The recipe of a plain operation: type and parameters follow from it.
node_recipe recipe_of(engine::operation what, const CUstream_st& stream);
node_recipe host_recipe(const cudaHostNodeParams& params, device_id device);
node_recipe event_recipe(cudaGraphNodeType type, CUevent_st& event, device_id device);
// Recipes of explicit nodes; they check their parameters.
result<node_recipe> kernel_recipe(const cudaKernelNodeParams& params, device_id device);
result<node_recipe> copy_recipe(const cudaMemcpy3DParms& params, device_id device);
result<node_recipe> fill_recipe(const cudaMemsetParams& params, device_id device);
// Holds a clone, or the graph itself.
result<node_recipe> child_recipe(cudaGraph_t graph, cudaGraphChildGraphNodeOwnership ownership =
                                                        cudaGraphChildGraphOwnershipClone);
result<node_recipe> conditional_recipe(cudaConditionalNodeParams& params, CUgraph_st& graph,
                                       device_id device);
result<node_recipe> alloc_recipe(cudaMemAllocNodeParams& params);
result<node_recipe> free_recipe(void* pointer, device_id device);
result<node_recipe> recipe_from(cudaGraphNodeParams& params, device_id device);

// Parameters of a copy of plain bytes, and of one to or from a symbol (checked).
cudaMemcpy3DParms plain_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
result<node_recipe> to_symbol_recipe(const void* symbol, const void* from, std::size_t bytes,
                                     std::size_t offset, cudaMemcpyKind kind, device_id device);
result<node_recipe> from_symbol_recipe(void* to, const void* symbol, std::size_t bytes,
                                       std::size_t offset, cudaMemcpyKind kind, device_id device);

}  // namespace sb::cudart

struct CUgraphNode_st {
  CUgraph_st* graph = nullptr;
  std::uint64_t order = 0;  // of creation in the graph
  sb::cudart::node_recipe recipe;
  bool enabled = true;                  // in an executable
  std::vector<cudaGraphNode_t> before;  // dependencies, as added
  std::vector<cudaGraphNode_t> after;   // dependents
  // What was said of the edges that are not plain, by the node before. They are kept for those who
  // ask; a launch takes all edges for full dependencies, which is within what they promise.
  std::map<cudaGraphNode_t, cudaGraphEdgeData> edge_data;
  cudaGraphNode_t cloned_from = nullptr;
};

struct CUgraph_st {
  std::uint64_t number = 0;  // of all graphs, for those who draw them
  std::uint64_t next_order = 0;
  std::vector<cudaGraphNode_t> nodes;  // owned, in the order of creation
  CUgraphNode_st* owner = nullptr;     // of a child graph or a body: goes with its node
  // A body, or a child graph that was moved there: only its node's graph is instantiated.
  bool inseparable = false;
  CUgraph_st* cloned_from = nullptr;
  std::vector<std::shared_ptr<sb::cudart::condition>> conditions;  // made for this graph
  std::uint32_t next_condition = 0;                                // of an outermost graph
  std::weak_ptr<void> instance;  // of a graph that may have only one executable at a time
  std::map<cudaUserObject_t, unsigned> objects;  // references held
};

struct CUgraphExec_st {
  std::mutex mutex;             // guards everything
  CUgraph_st* graph = nullptr;  // a clone of its own, where setters work
  unsigned long long flags = 0;
  bool stale = true;  // `steps` are older than `graph`
  struct step {
    cudaGraphNode_t node = nullptr;  // of `graph` or a child graph in it
    std::vector<std::uint32_t> after;
  };
  std::vector<step> steps;   // in an order that respects the edges, child graphs unfolded
  bool moves_memory = true;  // a step of them allocates, frees or copies
  bool works = true;         // a step of them is no empty node
  bool uploaded = false;     // or launched
  sb::graph_nodes nodes;     // of them
  std::shared_ptr<const std::vector<sb::engine::condition_default>> defaults;
  std::shared_ptr<void> instance;  // see CUgraph_st::instance
  sb::command_id newest_launch, newest_upload;
};

namespace sb::cudart {

using graph_table = handle_table<CUgraph_st, std::size_t{1} << 20>;
using node_table = handle_table<CUgraphNode_st, std::size_t{1} << 22>;
using exec_table = handle_table<CUgraphExec_st, std::size_t{1} << 20>;
graph_table& graphs();
node_table& nodes();
exec_table& execs();

CUgraph_st* create_graph();  // null when there is no room
void destroy_graph(CUgraph_st& graph);
CUgraph_st* clone_graph(const CUgraph_st& graph);
// invalid_value for edge data that is not plain.
status check_plain(const cudaGraphEdgeData* edges, std::size_t count);
// Whether an edge between nodes of these kinds may have the data.
status check_edge(const cudaGraphEdgeData& data, cudaGraphNodeType from, cudaGraphNodeType to);
// Appends a node; the dependencies are nodes of the same graph. Null when there is no room.
cudaGraphNode_t append_node(CUgraph_st& graph, node_recipe recipe,
                            const std::vector<cudaGraphNode_t>& before);
void set_edge(cudaGraphNode_t from, cudaGraphNode_t to, const cudaGraphEdgeData& data);
// The nodes in an order that respects the edges, by creation among equals; nothing when there is a
// cycle.
result<std::vector<cudaGraphNode_t>> in_order(const CUgraph_st& graph);

// How many there are, with those of graphs inside; and what they cost in modelled time, each.
std::size_t count_nodes(const CUgraph_st& graph);
void spend_on_nodes(std::size_t count, double node_timing::* each);

// Graphs inside of a node: a child graph, the bodies of a conditional node.
std::vector<cudaGraph_t> inner_graphs(const node_recipe& recipe);
void destroy_inner_graphs(const node_recipe& recipe);
// Whether a node of this type is in the graph, or in a graph inside of it.
bool contains(const CUgraph_st& graph, cudaGraphNodeType type);
// CUDA: nodes and edges of a graph with such nodes stay.
inline bool owns_memory(const CUgraph_st& graph) {
  return contains(graph, cudaGraphNodeTypeMemAlloc) || contains(graph, cudaGraphNodeTypeMemFree);
}
// CUDA: a graph with such nodes is not cloned and has one executable at a time.
inline bool is_unique(const CUgraph_st& graph) {
  return owns_memory(graph) || contains(graph, cudaGraphNodeTypeConditional);
}
// The body of a conditional node: neither cloned nor put elsewhere nor instantiated alone.
inline bool is_body(const CUgraph_st& graph) {
  return graph.owner != nullptr && graph.owner->recipe.type == cudaGraphNodeTypeConditional;
}
// The first node, in it or in a graph inside of it, that a body cannot have.
cudaGraphNode_t forbidden_in_bodies(const CUgraph_st& graph);
bool has_unused_condition(const CUgraph_st& graph);
// The places of an executable's conditions, until it is gone.
std::shared_ptr<void> condition_places(const CUgraph_st& graph);

// How another graph differs from the one of an executable: where, and from which dependency on.
struct graph_difference {
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
  cudaGraphNode_t node = nullptr;
  cudaGraphNode_t from = nullptr;
};
graph_difference compare(const CUgraph_st& mine, const CUgraph_st& theirs, bool own_priority);
// Takes over what the nodes of an equally shaped graph do.
void take_over(CUgraph_st& mine, const CUgraph_st& theirs);
// Whether a node of an executable may become this.
status check_change(const node_recipe& before, const node_recipe& now);

// Gives a node what the recipe says, when it is of the same kind. Attributes stay.
status replace_recipe(CUgraphNode_st& node, node_recipe recipe);
// The node's copy in an executable, for setters; invalid_value when it is not of it.
result<cudaGraphNode_t> find_in_exec(CUgraphExec_st& exec, cudaGraphNode_t node);

void retain(CUgraph_st& graph, cudaUserObject_t object, unsigned count);
void release_objects(CUgraph_st& graph);

}  // namespace sb::cudart
