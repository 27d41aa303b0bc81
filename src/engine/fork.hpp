// A child of fork has none of the engine's threads, and their locks may be held for ever.
//
// CUDA: after the parent has used a device, every call in the child is refused with
// cudaErrorInitializationError (h200/fork.tsv), but for what never changes. A child forked before
// that starts an engine of its own.
#pragma once

#include <atomic>

namespace sb::engine {

namespace detail {
extern std::atomic<bool> engine_is_the_parents;
}

// Asked at every call: a load of a flag that never changes in the process that made the engine.
inline bool forked_away() { return detail::engine_is_the_parents.load(std::memory_order_relaxed); }

// From now on children of this process are without an engine.
void watch_forks();

}  // namespace sb::engine
