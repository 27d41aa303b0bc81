// A trace in memory as a file: for what was not recorded by the writer while it ran.
#pragma once

#include <string>

#include "base/outcome.hpp"
#include "trace/block_file.hpp"
#include "trace/trace.hpp"

namespace sb::trace {

// The bytes of the file. Reading it gives the same trace, except that `names` has the names of
// calls, threads and so on behind the others.
outcome<std::uint64_t> store_trace(const trace& what, const std::string& path,
                                   existing_file policy = existing_file::refuse);

}  // namespace sb::trace
