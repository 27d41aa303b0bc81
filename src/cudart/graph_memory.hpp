// Memory of allocation nodes: the address is known when the node is made and stays the same for all
// launches; the memory lives as long as the graph and the executables made from it.
#pragma once

#include <cuda_runtime_api.h>

#include "base/status.hpp"
#include "cudart/graph.hpp"

namespace sb::cudart {

// Fills params.dptr.
result<node_recipe> alloc_recipe(cudaMemAllocNodeParams& params, device_id device);
// invalid_value for what is not memory of an allocation node, or has a free node already.
result<node_recipe> free_recipe(void* pointer, device_id device);
// cudaFreeAsync outside of the graph, for memory that its graph does not free.
status free_graph_memory(void* pointer);

}  // namespace sb::cudart
