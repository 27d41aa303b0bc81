// A kernel as one function that runs a whole block: void(params, self).
//
// A kernel whose threads never meet is one loop over its threads. Barriers divide it into regions
// (regions.hpp), each with a loop of its own; what the branches between them decide is decided
// once for the block.
#pragma once

#include "compiler/pass/kernel_discovery.hpp"
#include "compiler/pass/resumed_threads.hpp"

namespace sb::pass {

// Replaces the kernel's body, if it is to run in loop mode. False, and nothing has changed in what
// the body means, when it meets at places where its threads cannot be shown to come together.
bool build_block_function(kernel& kernel);
// The same for a kernel that some threads leave before the others meet (leaving_threads.hpp). Where
// it is false the body is of no more use.
bool build_for_leaving_threads(kernel& kernel);
// And for one whose threads come to different barriers (resumed_threads.hpp): in blocks of whole
// warps only, if they are to be `aligned`.
bool build_for_resumed_threads(kernel& kernel, resumed_from begin, bool aligned);
// And for one whose lanes come to warp operations one by one: the engine has to know them.
bool build_for_resumed_lanes(kernel& kernel, resumed_from begin);

}  // namespace sb::pass
