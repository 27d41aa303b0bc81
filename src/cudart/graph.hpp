// Graphs: nodes, edges, executables.
//
// Thread safety: CUDA lets one thread at a time work on a graph; captures into one are guarded by
// capture_mutex(), executables by their own mutex.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "cudart/context.hpp"
#include "engine/operation.hpp"

namespace sb::cudart {

struct kernel_node {
  cudaKernelNodeParams params{};  // kernelParams is not kept: it points into the caller's frame
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
struct alloc_node {
  cudaMemAllocNodeParams params{};
};
struct free_node {
  void* pointer = nullptr;
};

using node_detail = std::variant<std::monostate, kernel_node, copy_node, fill_node, host_node,
                                 event_node, child_node, alloc_node, free_node>;

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

}  // namespace sb::cudart

struct CUgraphNode_st {
  CUgraph_st* graph = nullptr;
  std::uint64_t order = 0;  // of creation in the graph
  sb::cudart::node_recipe recipe;
  bool enabled = true;
  std::vector<cudaGraphNode_t> before;  // dependencies, as added
  std::vector<cudaGraphNode_t> after;   // dependents
  cudaGraphNode_t cloned_from = nullptr;
};

struct CUgraph_st {
  std::uint64_t unique_id = 0;
  std::uint64_t next_order = 0;
  std::vector<cudaGraphNode_t> nodes;  // owned, in the order of creation
  cudaGraphNode_t parent = nullptr;    // of a child graph: the node that owns it
  CUgraph_st* cloned_from = nullptr;
};

namespace sb::cudart {

using graph_table = handle_table<CUgraph_st, std::size_t{1} << 20>;
using node_table = handle_table<CUgraphNode_st, std::size_t{1} << 22>;
graph_table& graphs();
node_table& nodes();

CUgraph_st* create_graph();  // null when there is no room
void destroy_graph(CUgraph_st& graph);
// Edges between nodes are plain ones here: invalid_value for edge data that says otherwise.
status check_edges(const cudaGraphEdgeData* edges, std::size_t count);
// Appends a node; the dependencies are nodes of the same graph.
cudaGraphNode_t append_node(CUgraph_st& graph, node_recipe recipe,
                            const std::vector<cudaGraphNode_t>& before);

}  // namespace sb::cudart
