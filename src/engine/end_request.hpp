// The wish of whoever started the program that it end: `streambed run --timeout`, when its time is
// over. A program cannot be told by a signal, which may be its own.
//
// STREAMBED_END_REQUEST names an open pipe. It is never read, so that every process that has it
// sees what comes.
#pragma once

#include <functional>

namespace sb::engine {

// Calls `end` on a thread of its own when it is asked for. Does nothing where nobody can ask.
void watch_for_end_request(std::function<void()> end);

}  // namespace sb::engine
