// Memory of allocation nodes. Its address is known when the node is made and is the same in every
// launch. A launch makes it live, until it is freed: by a free node of the same graph, of another
// one, or by cudaFree or cudaFreeAsync. The node, its clones and executables hold the address;
// memory that is still live when the last of them goes stays until it is freed.
#pragma once

#include <vector>

#include "cudart/graph.hpp"

namespace sb::cudart {

// What a launch does to the memory: invalid_value when it allocates what is live already (unless
// that is to be freed first), or frees what is not.
enum class if_live : std::uint8_t { refuse, free_first };
status launch_graph_memory(const std::vector<void*>& allocated, const std::vector<void*>& freed,
                           if_live policy);

// A graph gets a node that allocates or frees.
// CUDA: memory is freed by the graph that allocates it, once, or by others; graphs.tsv
// mem.free.twice, mem.free.other.graph
status check_free_node(const CUgraph_st& graph, void* pointer);
void note_memory_node(const CUgraph_st& graph, const node_recipe& recipe);

// Frees live memory outside of a graph; false for what is not live memory of a graph.
bool take_graph_memory(void* pointer);

struct graph_memory_use {
  std::uint64_t used = 0, used_high = 0;          // graphs were launched with it, or it is live
  std::uint64_t reserved = 0, reserved_high = 0;  // that, and what was since the last trim
};
graph_memory_use graph_memory_of(device_id device);
void reset_graph_memory_high(device_id device);
void trim_graph_memory(device_id device);

}  // namespace sb::cudart
