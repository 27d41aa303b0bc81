#include "recorded_run.hpp"

#include <unistd.h>

#include "progress.hpp"

namespace sb::tools {
namespace {

std::uint64_t memory_of_this_machine() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
             : 0;
}

}  // namespace

outcome<trace::trace> read_run(const std::string& path) {
  return trace::read_trace(path, progress_bar());
}

analysis::explanation explain_run(const trace::trace& run) {
  return analysis::explain(run, {.host_memory = memory_of_this_machine()});
}

}  // namespace sb::tools
