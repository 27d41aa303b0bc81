// Which core a thread runs on.
#pragma once

namespace sb::engine {

// Moves the calling thread to another of the cores that it may run on, where there is one. It may
// run on all of them again when this returns.
void leave_core();

}  // namespace sb::engine
