// Memory of allocation nodes that nothing frees yet: only the graph, or cudaFreeAsync after a
// launch, may free it, once.
#pragma once

#include "cudart/graph.hpp"

namespace sb::cudart {

// Notes the memory of an allocation node; forgotten when the recipe's memory goes.
void note_graph_memory(node_recipe& recipe, void* pointer);
// True once for every noted pointer: who gets it frees it.
bool take_graph_memory(void* pointer);

}  // namespace sb::cudart
